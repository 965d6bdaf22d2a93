"""Run a training with a fault, resume it, and compare its files with an undisturbed run."""

from __future__ import annotations

import importlib
import json
import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.chaos.disk import PAGE, change, small_disk
from tests.chaos.faults import (
    FAILED,
    FREEING,
    LOST_WORKER,
    REFUSED,
    Faults,
    ended,
    has_ended,
    in_child,
    require_durable,
    workers_of,
)
from tests.chaos.scenarios import Contents, Scenario
from tests.chaos.states import Watch, digest_of, left_in, restore, state_of

from rankwise.commands.console import _sigterm_as_ctrl_c

_TWICE = 3  # one in so many states is resumed by a run that is killed, too


@dataclass
class Tally:
    """What was done to a command, and what came of it."""

    crash_points: int = 0  # operations at which a run was killed, or whose state was resumed
    states: int = 0  # different states that a kill leaves
    faults: int = 0  # writes that fail as on a full or read-only disk
    disks: int = 0  # small disks that were full or read-only
    kills: int = 0  # at random times, by SIGKILL or SIGTERM, of the run or its workers
    lost: int = 0  # runs that could not be resumed
    different: int = 0  # runs that ended with other bytes
    wrong: list[str] = field(default_factory=list)


class Bench:
    """A command, the files of its undisturbed run, and the number of its file operations."""

    def __init__(self, scenario: Scenario, folder: Path) -> None:
        self.scenario, self.folder, self.tally = scenario, folder, Tally()
        self._good: set[str] = set()  # digests of states that were resumed
        self.data, self.log = folder / "data", folder / "error.txt"
        self.data.mkdir(parents=True)
        self._warm()
        began = time.perf_counter()
        self.expected, self.trace = self._undisturbed("whole")
        self.seconds = time.perf_counter() - began
        again, _ = self._undisturbed("again")
        self._compare(again, "a second run")

    @property
    def operations(self) -> int:
        """File operations of the undisturbed run."""
        return len(self.trace)

    def _start(
        self,
        out: Path,
        *,
        resume: bool,
        faults: Faults | None = None,
        slow: float = 0.0,
        then: Callable[[], None] = lambda: None,
    ) -> int:
        def work() -> None:
            with _sigterm_as_ctrl_c():
                time.sleep(slow)
                self.scenario.work(self.data, out, resume)
                then()

        return in_child(work, faults, self.log)

    def _warm(self) -> None:
        """Import here what a run imports, so that the children need not."""
        listed = self.folder / "modules.json"

        def work() -> None:
            self.scenario.work(self.data, self.folder / "warm", False)
            listed.write_text(json.dumps(list(sys.modules)))

        if code := ended(in_child(work, log=self.log)):
            why = self.log.read_text() if self.log.exists() else ""
            raise RuntimeError(f"{self.scenario}: the undisturbed run ended with {code} {why}")
        for name in json.loads(listed.read_text()):
            if name not in sys.modules and not name.startswith(("__main__", "polars")):
                with suppress(Exception):  # some are no files, or of other names
                    importlib.import_module(name)

    def _undisturbed(self, name: str) -> tuple[Contents, list[tuple[str, str]]]:
        out, listed = self.folder / name, self.folder / "trace.json"
        faults = Faults(out)

        def work() -> None:
            self.scenario.work(self.data, out, False)
            listed.write_text(json.dumps(faults.trace))

        if code := ended(in_child(work, faults, self.log)):
            why = self.log.read_text() if self.log.exists() else ""
            raise RuntimeError(f"{self.scenario}: the undisturbed run ended with {code} {why}")
        trace = [(what, path) for what, path in json.loads(listed.read_text())]
        require_durable(trace)
        found = self.scenario.read(out)
        shutil.rmtree(out)
        return found, trace

    def crash_everywhere(self, every: int, rng: random.Random) -> None:
        """Resume what a kill before every operation leaves, and some of what a second one leaves.

        One undisturbed run keeps the states of its folder, and each is resumed once, however many
        operations leave it: a run knows nothing but its folder. Every n-th of them is taken.
        """
        out, first = self.folder / "crashed", self.folder / "states"
        self._run_watched(out, first, resume=False, what="the watched run")
        shutil.rmtree(out, ignore_errors=True)
        found = list(left_in(first))
        wanted = list({left.digest: left for left in found}.values())[::every]
        twice = rng.sample(range(len(wanted)), -(-len(wanted) // _TWICE))
        for number, left in enumerate(wanted):
            self.tally.crash_points += sum(other.digest == left.digest for other in found)
            what, place = f"killed at {left}", self.folder / "again"
            restore(left.state, out)
            self._good.add(left.digest)
            if number not in twice:
                self._resume(out, what)
                continue
            self._run_watched(out, place, resume=True, what=what)
            self._compare(self.scenario.read(out), what)
            shutil.rmtree(out)
            second = rng.choice(list(left_in(place)))
            self.tally.crash_points += 1
            restore(second.state, out)
            self._resume(out, f"{what}, then at {second} of the resumed run")
            shutil.rmtree(place)
        self.tally.states += len(wanted)
        shutil.rmtree(first)

    def _run_watched(self, out: Path, place: Path, *, resume: bool, what: str) -> None:
        """Run to the end, and keep every state of the folder in another one; remove nothing."""
        watch = Watch(out, place)
        if code := ended(self._start(out, resume=resume, faults=watch, then=watch.write)):
            self.tally.lost += resume
            self._note(f"{what}: ended with {code}")

    def crash(self, at: int, kind: str = "kill", then: int | None = None) -> None:
        """Have a fault at an operation, maybe a kill at one of the resumed run, then resume."""
        out = self.folder / "crashed"
        code = ended(self._start(out, resume=False, faults=Faults(out, at, kind)))
        killed = kind in ("kill", "half")
        self.tally.crash_points += killed
        self.tally.faults += not killed
        what = f"{kind} at operation {at} of {self.operations} {self.trace[at - 1][0]}"
        # A full disk stops nobody from removing a file.
        stops = kind != "full" or any(each not in FREEING for each, _ in self.trace[at - 1 :])
        if code != (-signal.SIGKILL if killed else FAILED * stops):
            self._note(f"{what}: ended with {code}")
        if then is not None:
            faults = Faults(out, then)
            if ended(self._start(out, resume=True, faults=faults)) == -signal.SIGKILL:
                self.tally.crash_points += 1
                what += f", killed at {then} of the resumed run"
        elif not killed and digest_of(state_of(out)) in self._good:
            shutil.rmtree(out, ignore_errors=True)  # this state has been resumed
            return
        self._resume(out, what)

    def kill(self, rng: random.Random, number: signal.Signals) -> None:
        """Kill a run at random times, at most three of them, then resume it."""
        out, kills = self.folder / "killed", rng.randint(1, 3)
        for _ in range(kills):
            child = self._start(out, resume=out.exists())
            time.sleep(rng.uniform(0, self.seconds))
            os.kill(child, number)
            code = ended(child)
            self.tally.kills += code != 0
            if code not in (0, -number, 130):
                self._note(f"{number.name}: ended with {code}")
        self._resume(out, f"{kills} times {number.name}")

    def kill_worker(self, rng: random.Random) -> None:
        """Kill a process that the run has started, then resume the run."""
        out = self.folder / "bereft"
        child, since = self._start(out, resume=False), time.monotonic()
        wanted = rng.uniform(0, self.seconds)
        while not (found := workers_of(child)) or time.monotonic() - since < wanted:
            if has_ended(child):
                break
            time.sleep(0.002)
        for worker in found[:1]:
            with suppress(ProcessLookupError):  # it has just ended by itself
                os.kill(worker, signal.SIGKILL)
        code = ended(child)
        self.tally.kills += code != 0
        if code not in (0, LOST_WORKER):
            self._note(f"killed worker: ended with {code}")
        self.log.unlink(missing_ok=True)
        self._resume(out, "killed worker")

    def fill(self, pages: int) -> None:
        """Run on a disk that is too small, then resume the run on one that is not."""
        disk = self.folder / "disk"
        with small_disk(disk, pages):
            code, what = ended(self._start(disk / "run", resume=False)), f"disk of {pages} pages"
            self.tally.disks += 1
            if code != FAILED:
                self._note(f"{what}: ended with {code}")
            change(disk, "size=1g")
            self._resume(disk / "run", what)

    def freeze(self, at: int) -> None:
        """Kill a run, try to resume it on a disk that is read-only, and then on one that is not."""
        disk, what = self.folder / "disk", f"read-only disk after operation {at}"
        with small_disk(disk, 1 << 18):
            ended(self._start(disk / "run", resume=False, faults=Faults(disk / "run", at)))
            change(disk, "ro")
            code = ended(self._start(disk / "run", resume=True))
            self.tally.disks += 1
            if code != FAILED:
                self._note(f"{what}: ended with {code}")
            change(disk, "rw")
            self._resume(disk / "run", what)

    @property
    def pages(self) -> int:
        """Pages of the files of the undisturbed run: a disk of fewer is too small."""
        return sum(-(-len(held) // PAGE) for held in self.expected.values())

    def together(self) -> None:
        """Start two processes in one folder: one of them is refused, the other one finishes."""
        out = self.folder / "shared"
        out.mkdir()
        children = [self._start(out, resume=True, slow=0.05 * n) for n in range(2)]
        codes = sorted(map(ended, children))
        # Where the first one has ended before the second one starts, both finish.
        if codes not in ([0, REFUSED], [0, 0]):
            self._note(f"two processes at once ended with {codes}")
        self._resume(out, "two processes at once")

    def _resume(self, out: Path, what: str) -> None:
        code = ended(self._start(out, resume=True))
        if code:
            self.tally.lost += 1
            self._note(f"{what}: could not be resumed ({code})")
        else:
            self._compare(self.scenario.read(out), what)
        shutil.rmtree(out, ignore_errors=True)

    def _compare(self, found: Contents, what: str) -> None:
        names = sorted(found.keys() | self.expected.keys())
        other = [name for name in names if found.get(name) != self.expected.get(name)]
        if other:
            self.tally.different += 1
            self._note(f"{what}: other {', '.join(other)}")

    def _note(self, what: str) -> None:
        why = f" [{self.log.read_text()}]" if self.log.exists() else ""
        self.log.unlink(missing_ok=True)
        self.tally.wrong.append(f"{self.scenario}: {what}{why}")
