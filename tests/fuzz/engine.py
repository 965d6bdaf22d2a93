"""Run mutated files through the readers, in forked processes that may die, hang or grow."""

from __future__ import annotations

import gc
import hashlib
import json
import mmap
import os
import re
import select
import signal
import struct
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from shutil import rmtree

from tests.fuzz.mutations import mutated, resealed
from tests.fuzz.targets import TARGETS

from rankwise.errors import UsageError

HANG = 30.0  # seconds of the processor for one input
_WAIT = 10 * HANG  # seconds by the clock: a busy machine may give a process little time
MEMORY = 1 << 30  # bytes that one process may take beyond what it began with
_BATCH = 400  # inputs of a process, so that what one leaves behind is not found by all others
_SLOW = 40  # inputs of every other reader for one of a reader that is slow
_RESEALED = 0.6  # share of inputs with the SHA-256 of what they are, where a file has one
_LONGEST = 5000  # letters of a message
_STATE = struct.Struct("dd")  # when an input was begun: the clock, and the time of the processor
_LOOK = 100  # milliseconds between two looks at a process

Input = tuple[str, bytes]


@dataclass
class Outcome:
    """Counts by reader and result, and the inputs that failed with what they did."""

    counts: dict[str, Counter[str]] = field(default_factory=dict)
    failures: list[tuple[str, str, bytes]] = field(default_factory=list)

    def add(self, name: str, result: str) -> None:
        self.counts.setdefault(name, Counter())[result] += 1

    def fail(self, result: str, why: str, one: Input) -> None:
        self.add(one[0], result)
        self.failures.append((one[0], f"{result}: {why}", one[1]))


class Seeds:
    """Valid files of every reader, made by processes of their own, and the folders around them."""

    def __init__(self, folder: Path, names: Sequence[str]) -> None:
        self.folder, self.names = folder, list(names)
        _forked(self._make, "the valid files could not be made")
        self.held = {
            name: [path.read_bytes() for path in sorted((folder / "seeds" / name).iterdir())]
            for name in self.names
        }
        _forked(self._read, "a valid file could not be read")

    def _read(self) -> None:
        """Raise where a valid file is refused: its reader would then be tried by nothing."""
        for name, held in self.held.items():
            for number, content in enumerate(held):
                if (found := read_one(self.folder, (name, content))) != "read":
                    raise ValueError(f"the valid file {number} of {name}: {found}")

    def _make(self) -> None:
        for name in self.names:
            target, made = TARGETS[name], self.folder / "made" / name
            made.mkdir(parents=True)
            place = self.folder / "seeds" / name
            place.mkdir(parents=True)
            for number, content in enumerate(target.seeds(made)):
                (place / f"{number:02d}").write_bytes(content)
            (self.folder / "run" / name).mkdir(parents=True)
            target.around(self.folder / "run" / name)

    def inputs(self, seed: int, start: int, stop: int) -> Iterator[Input]:
        """Yield inputs by number: unchanged seeds first, then every reader in turn."""
        plain = [(name, content) for name in self.names for content in self.held[name]]
        yield from plain[start:stop]
        quick = [name for name in self.names if not TARGETS[name].slow]
        slow = [name for name in self.names if TARGETS[name].slow]
        turns = [*quick * (_SLOW if slow else 1), *slow]
        for number in range(max(start, len(plain)), stop):
            name, random = turns[number % len(turns)], Random(f"{seed} {number}")
            held = self.held[name]
            content = mutated(random, random.choice(held), held)
            yield name, resealed(content) if random.random() < _RESEALED else content


def _forked(function: Callable[[], None], failed: str) -> None:
    child = os.fork()
    if child == 0:
        try:
            function()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        raise RuntimeError(failed)


def read_one(folder: Path, one: Input) -> str:
    """Return ``read`` or ``refused``, or what else was raised."""
    name, content = one
    path = folder / "run" / name / TARGETS[name].name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_bytes(content)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            TARGETS[name].read(folder / "run" / name)
    except UsageError as error:
        message = str(error)
        if len(message) > _LONGEST or "\n" in message:
            return f"a message of {len(message)} letters"
        return "refused"
    except BaseException as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(where.filename).name}:{where.lineno}"
        return f"{type(error).__name__} {str(error)[:200]} ({place})"
    return "read"


def run(folder: Path, inputs: Sequence[Input], outcome: Outcome) -> None:
    """Read all inputs, in processes that are replaced where one dies."""
    start = 0
    while start < len(inputs):
        start = _batch(folder, inputs, start, outcome)


def _batch(folder: Path, inputs: Sequence[Input], start: int, outcome: Outcome) -> int:
    """Read up to a batch of inputs in one process; return the first that is left."""
    stop, shared = min(len(inputs), start + _BATCH), mmap.mmap(-1, _STATE.size)
    results = folder / "results"
    results.unlink(missing_ok=True)
    shared[:] = _STATE.pack(time.monotonic(), 0.0)
    child = os.fork()
    if child == 0:
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        gc.freeze()  # else it looks at all that was imported, and copies the memory of it
        with results.open("a") as file:
            for number in range(start, stop):
                shared[:] = _STATE.pack(time.monotonic(), time.process_time())
                file.write(json.dumps([number, read_one(folder, inputs[number])]) + "\n")
                file.flush()
        os._exit(0)
    ended = _watched(child, shared)
    done = (
        [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
    )
    for number, result in done:
        if result in ("read", "refused"):
            outcome.add(inputs[number][0], result)
        else:
            outcome.fail("raw", result, inputs[number])
    number = start + len(done)
    if ended and number < stop:
        result, _, why = ended.partition(" ")
        again = Outcome()
        if result == "hang" and (start, stop) != (number, number + 1):
            # A process that gets no time from a busy machine looks the same, so it is asked twice.
            _batch(folder, inputs[number : number + 1], 0, again)
        if result == "hang" and again.counts and not again.failures:
            outcome.add(inputs[number][0], "stall")
        else:
            outcome.fail(result, why, inputs[number])
        number += 1
    return number


def _watched(child: int, shared: mmap.mmap) -> str:
    """Wait for a process; return what ended it, or nothing."""
    allowed, handle = _peak(child) + MEMORY, os.pidfd_open(child)
    ready = select.poll()
    ready.register(handle, select.POLLIN)
    try:
        while not ready.poll(_LOOK):
            began, used_then = _STATE.unpack(shared[:])
            waited, ended = time.monotonic() - began, ""
            if waited > HANG and (waited > _WAIT or _seconds(child) - used_then > HANG):
                ended = f"hang of {waited:.0f} s"
            elif (used := _peak(child)) > allowed:
                ended = f"memory of {used:,} bytes"
            if ended:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                return ended
    except KeyboardInterrupt:
        os.kill(child, signal.SIGKILL)
        raise
    finally:
        os.close(handle)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code < 0:
        return f"death by signal {-code}"
    return f"death with code {code}" if code else ""


def _seconds(process: int) -> float:
    """Return the time of the processor that a process has had."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:  # it has ended
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _peak(process: int) -> int:
    """Return the most memory that a process has had, so that none is missed between two looks."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:  # it has ended
        return 0
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(found[1]) << 10 if found else 0


def stored(corpus: Path) -> list[Input]:
    """Return the inputs that failed once: files called by their reader and a hash."""
    return [
        (path.name.rpartition("-")[0], path.read_bytes()) for path in sorted(corpus.glob("*-*"))
    ]


def store(corpus: Path, one: Input) -> Path:
    """Keep an input that failed."""
    path = corpus / f"{one[0]}-{hashlib.sha256(one[1]).hexdigest()[:12]}"
    path.write_bytes(one[1])
    return path


def cleared(folder: Path) -> Path:
    """Return an empty folder."""
    rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder
