"""A real browser for tests: Debian's chromium without a window, driven by Playwright.

``python -m tests.report.browser PAGE FOLDER`` takes screenshots of a report, to look at.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

CHROMIUM = shutil.which("chromium")
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage")
PATIENCE = 60_000  # milliseconds for one answer: a busy machine starts a browser slowly


class Browser:
    """One page in one browser; ``errors`` collects what its console complains about."""

    page: Page

    def __init__(self) -> None:
        self.errors: list[str] = []
        self.requests: list[str] = []
        self._driver = sync_playwright().start()
        self._browser = self._driver.chromium.launch(
            executable_path=CHROMIUM, args=list(FLAGS), timeout=PATIENCE
        )
        self.fresh()

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self._browser.close()
        self._driver.stop()

    def fresh(self, *, phone: bool = False, bypass_csp: bool = False) -> None:
        """Another reader: a window without a page, who remembers nothing.

        ``bypass_csp`` lets scripts of a test run in spite of the policy of the page.
        """
        for context in self._browser.contexts:
            context.close()
        context = self._browser.new_context(
            is_mobile=phone, device_scale_factor=1 + phone, bypass_csp=bypass_csp
        )
        context.set_default_timeout(PATIENCE)
        self.page, self._phone = context.new_page(), phone
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", self._said)
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.errors.clear()
        self.requests.clear()
        self.look(1280, 900, phone=phone)

    def look(self, width: int, height: int, *, dark: bool = False, phone: bool = False) -> None:
        """The size of the screen, and the colors that its owner prefers."""
        if phone != self._phone:  # another device
            self.fresh(phone=phone)
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.emulate_media(color_scheme="dark" if dark else "light")
        self._dark = dark

    def _said(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.errors.append(message.text)

    def open(self, path: Path) -> None:
        """Load a page from disk, and wait until it is there."""
        self.page.goto(path.resolve().as_uri())

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        return self.page.evaluate(script)

    def wait(self, script: str) -> None:
        """Until an expression is true; asked from here: the page forbids evaluation."""
        for _ in range(PATIENCE // 20):
            if self.run(script):
                return
            self.page.wait_for_timeout(20)
        raise AssertionError(f"waited in vain for {script}")

    def value_with_stored(self, path: Path, name: str, kept: str, script: str) -> Any:
        """The value of an expression in a page that finds a value in the storage when it loads.

        It is put there in the process of that page: a busy browser brings what another page stored
        at a time of its own.
        """
        other = self.page.context.new_page()
        other.emulate_media(color_scheme="dark" if self._dark else "light")
        other.add_init_script(f"localStorage.setItem({name!r}, {kept!r})")
        other.goto(path.resolve().as_uri())
        try:
            return other.evaluate(script)
        finally:
            other.close()

    def text(self, selector: str) -> str:
        """What an element says."""
        return self.page.locator(selector).first.text_content() or ""

    def click(self, selector: str) -> None:
        """Press and release the mouse in the middle of an element."""
        self.page.locator(selector).first.click()

    def hover(self, selector: str, *, x: float = 0.5, y: float = 0.5) -> None:
        """Move the mouse over an element, to a place given by shares of its sides."""
        element = self.page.locator(selector).first
        element.scroll_into_view_if_needed()
        box = element.bounding_box()
        assert box is not None, f"{selector} is not to be seen"
        self.page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"])

    def press(self, key: str, *, times: int = 1) -> None:
        """A key, on whatever has the focus."""
        for _ in range(times):
            self.page.keyboard.press(key)

    def screenshot(self, path: Path, *, whole: bool = True) -> None:
        """The page as PNG, to its end or to that of the screen."""
        self.page.screenshot(path=path, full_page=whole)

    def too_wide(self) -> list[str]:
        """Elements that reach beyond the screen, except in boxes that scroll sideways."""
        found: list[str] = self.run("""(() => {
          const width = document.documentElement.clientWidth;
          return [...document.querySelectorAll("body *")]
            .filter((e) => e.getClientRects().length && !e.closest(".scroll, nav, pre, svg"))
            .filter((e) => e.getBoundingClientRect().right > width + 1)
            .map((e) => e.outerHTML.slice(0, 80));
        })()""")
        overflow = self.run("document.documentElement.scrollWidth - innerWidth")
        return [*found, *([f"the page, by {overflow} pixels"] if overflow > 0 else [])]


def _screenshots(page: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with Browser() as browser:
        for name, width, height in (("desktop", 1280, 900), ("phone", 390, 844)):
            for dark in (False, True):
                browser.look(width, height, dark=dark, phone=name == "phone")
                browser.open(page)
                browser.screenshot(folder / f"{name}-{'dark' if dark else 'light'}.png")
        if browser.errors:
            raise SystemExit("\n".join(browser.errors))


if __name__ == "__main__":
    _screenshots(Path(sys.argv[1]), Path(sys.argv[2]))
