"""A real browser for tests: Debian's chromium without a window, told what to do over a pipe.

Chromium's own protocol needs no driver and no package beside it: messages of JSON on file
descriptors 3 and 4, each ended by a zero byte.

``python -m tests.report.comparison.browser PAGE FOLDER`` takes pictures of a page, to look at.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--remote-debugging-pipe",
)
# Puts the pipes where chromium looks for them, and becomes chromium.
_START = "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); " + (
    "os.execv(sys.argv[3], sys.argv[3:])"
)
PATIENCE = 60.0  # seconds for one answer: a busy machine starts a browser slowly


class Browser:
    """One page in one browser; ``errors`` collects what its console complains about."""

    def __init__(self) -> None:
        if CHROMIUM is None:
            raise RuntimeError("there is no chromium on the PATH")
        self.profile = tempfile.mkdtemp(prefix="rankwise-browser-")
        orders, self._write = os.pipe()
        self._read, answers = os.pipe()
        # Above ten: the descriptors they are copied to are not among them.
        inherited = [fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in (orders, answers)]
        command = [CHROMIUM, *FLAGS, f"--user-data-dir={self.profile}", "about:blank"]
        self.process = subprocess.Popen(
            [sys.executable, "-c", _START, *map(str, inherited), *command],
            pass_fds=inherited,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for fd in (orders, answers, *inherited):
            os.close(fd)
        self._number, self._rest, self.session = 0, b"", ""
        self.errors: list[str] = []
        self.requests: list[str] = []
        pages = self.send("Target.getTargets")["targetInfos"]
        target = next(page["targetId"] for page in pages if page["type"] == "page")
        attached = self.send("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.session = ""
            self.send("Browser.close")
            self.process.wait(20)
        except (OSError, RuntimeError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self._read)
        os.close(self._write)
        shutil.rmtree(self.profile, ignore_errors=True)

    def open(self, path: Path) -> None:
        """Load a page from disk, and wait until it is there."""
        self.send("Page.navigate", url=path.resolve().as_uri())
        self.wait("document.readyState === 'complete' && location.protocol === 'file:'")

    def look(self, width: int, height: int, *, dark: bool = False, phone: bool = False) -> None:
        """The size of the screen, and the colours that its owner prefers."""
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=2 if phone else 1,
            mobile=phone,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        answer = self.send("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait(self, script: str) -> None:
        """Until an expression is true."""
        end = time.monotonic() + PATIENCE
        while not self.run(script):
            if time.monotonic() > end:
                raise RuntimeError(f"waited in vain for {script}")
            time.sleep(0.02)

    def text(self, selector: str) -> str:
        """What an element says."""
        return str(self.run(f"document.querySelector({json.dumps(selector)}).textContent"))

    def place(self, selector: str, *, x: float = 0.5, y: float = 0.5) -> tuple[float, float]:
        """Where an element is on the screen, once it is scrolled to."""
        box = self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); "
            "e.scrollIntoView({block: 'center', inline: 'center', behavior: 'instant'}); "
            "const b = e.getBoundingClientRect(); return [b.x, b.y, b.width, b.height]; })()"
        )
        return box[0] + x * box[2], box[1] + y * box[3]

    def click(self, selector: str) -> None:
        """Press and release the mouse in the middle of an element."""
        x, y = self.place(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def hover(self, selector: str, *, x: float = 0.5, y: float = 0.5) -> None:
        """Move the mouse over an element."""
        across, down = self.place(selector, x=x, y=y)
        self.send("Input.dispatchMouseEvent", type="mouseMoved", x=across, y=down)

    def press(self, key: str, *, times: int = 1) -> None:
        """A key, on whatever has the focus."""
        codes = {"ArrowLeft": 37, "ArrowRight": 39, "Home": 36, "End": 35, "Enter": 13, "Tab": 9}
        for _ in range(times):
            for kind in ("keyDown", "keyUp"):
                text = {"text": "\r"} if key == "Enter" and kind == "keyDown" else {}
                self.send(
                    "Input.dispatchKeyEvent",
                    type=kind,
                    key=key,
                    code=key,
                    windowsVirtualKeyCode=codes[key],
                    **text,
                )

    def picture(self, path: Path, *, whole: bool = True) -> None:
        """The page as PNG, to its end or as far as the screen shows."""
        shot = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shot["data"]))

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        """One order, and its answer; what happens meanwhile is noted."""
        self._number += 1
        order: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if self.session:
            order["sessionId"] = self.session
        os.write(self._write, json.dumps(order).encode() + b"\0")
        while True:
            message = self._message()
            if message.get("id") == self._number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return dict(message["result"])
            self._note(message)

    def _message(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._read], [], [], PATIENCE)
            part = os.read(self._read, 1 << 20) if ready else b""
            if not part:
                raise RuntimeError("chromium does not answer")
            self._rest += part
        message, _, self._rest = self._rest.partition(b"\0")
        return dict(json.loads(message))

    def _note(self, message: dict[str, Any]) -> None:
        method, params = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(params["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
            self.errors.append(json.dumps(params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.errors.append(params["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])


def _pictures(page: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with Browser() as browser:
        for name, width, height, phone in (
            ("desktop", 1280, 900, False),
            ("phone", 390, 844, True),
        ):
            for dark in (False, True):
                browser.look(width, height, dark=dark, phone=phone)
                browser.open(page)
                colours = "dark" if dark else "light"
                browser.picture(folder / f"{name}-{colours}.png")
        if browser.errors:
            raise SystemExit("\n".join(browser.errors))


if __name__ == "__main__":
    _pictures(Path(sys.argv[1]), Path(sys.argv[2]))
