"""Run tests on mutants: they are collected once, and every mutant is a fork of that process."""

from __future__ import annotations

import gc
import json
import math
import os
import resource
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import CodeType, FunctionType

import pytest
from _pytest.runner import runtestprotocol
from tests.mutation.mutators import mutated
from tests.mutation.own_tests import ROOT, module_name

SLOWER, LEAST = 4.0, 10.0  # a mutant may take 10 s of the processor and 4 times that of no mutant
_WAITING = 900.0  # seconds after which a mutant that waits for something is ended
_OPTIONS = [
    "-q", "-p", "no:cacheprovider", "--import-mode=importlib", "-o", "addopts=", "-m", "not full",
]  # fmt: skip


@dataclass(frozen=True)
class Task:
    """The n-th mutant of a file; tests with one of the ``words`` in their name are run."""

    path: Path
    number: int
    words: tuple[str, ...] = ()


def run(files: Sequence[Path], tasks: Sequence[Task], results: Path) -> list[str]:
    """Run test files on mutants, in a process of their own; return what became of each.

    ``passed``, ``failed`` and ``time`` are results of the tests. ``none`` means that no test was
    chosen, ``left out`` that the change cannot be made in a running process.
    """
    results.unlink(missing_ok=True)
    child = os.fork()
    if child == 0:
        os._exit(_session(files, tasks, results))
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    found: list[str] = json.loads(results.read_text()) if results.exists() else []
    if status or len(found) != len(tasks):
        names = ", ".join(str(path.relative_to(ROOT)) for path in files)
        raise RuntimeError(f"{names}: the tests do not pass without a mutant")
    return found


def _session(files: Sequence[Path], tasks: Sequence[Task], results: Path) -> int:
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    os.chdir(ROOT)
    sys.dont_write_bytecode = True
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = str(results.parent / "hypothesis")
    options = [*_OPTIONS, f"--basetemp={results.parent / 'tmp'}", *map(str, files)]
    return int(pytest.main(options, plugins=[_Loop(tasks, results)]))


class _Loop:
    """The loop over the tests, once for every mutant."""

    def __init__(self, tasks: Sequence[Task], results: Path) -> None:
        self.tasks, self.results = tasks, results
        self._usual: dict[tuple[str, ...], float] = {}

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        found = [self._result(session.items, task) for task in self.tasks]
        self.results.write_text(json.dumps(found))
        return True

    def _result(self, items: list[pytest.Item], task: Task) -> str:
        chosen = [
            item for item in items
            if "compile" not in item.name  # which takes minutes
            and (not task.words or any(word in item.name for word in task.words))
        ]  # fmt: skip
        if not chosen:
            return "none"
        if task.words not in self._usual:
            code, seconds = _forked(chosen, [], math.inf)
            if code:
                raise RuntimeError("the tests do not pass without a mutant")
            self._usual[task.words] = seconds
        swaps = list(_swaps(task))
        if not swaps:
            return "left out"
        code, _ = _forked(chosen, swaps, LEAST + SLOWER * self._usual[task.words])
        if code in (-signal.SIGXCPU, -signal.SIGKILL):
            return "time"
        return "failed" if code else "passed"


def _swaps(task: Task) -> Iterator[tuple[FunctionType, CodeType]]:
    """Yield the functions that a mutant changes, with their new code."""
    path = str(task.path)
    import_module(module_name(task.path))  # a lazy name is not loaded before a test uses it
    tree = mutated(task.path.read_text("utf-8"), task.number)
    changed = {_key(code): code for code in _codes(compile(tree, path, "exec", dont_inherit=True))}
    for held in gc.get_objects():
        if type(held) is FunctionType and held.__code__.co_filename == path:
            new = changed.get(_key(held.__code__))
            if new is None or len(new.co_freevars) != len(held.__code__.co_freevars):
                continue
            if new != held.__code__:
                yield held, new


def _key(code: CodeType) -> tuple[str, int]:
    return code.co_qualname, code.co_firstlineno


def _codes(code: CodeType) -> Iterator[CodeType]:
    for held in code.co_consts:
        if isinstance(held, CodeType):
            yield held
            yield from _codes(held)


def _forked(
    items: list[pytest.Item], swaps: list[tuple[FunctionType, CodeType]], seconds: float
) -> tuple[int, float]:
    """Run tests to the first that fails; return the exit code and the time of the processor."""
    child = os.fork()
    if child == 0:
        os.setsid()  # so that what the tests start ends with them
        if seconds < math.inf:  # of the processor: what else runs on the machine does not count
            limit = math.ceil(seconds)
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
        for function, code in swaps:
            function.__code__ = code
        gc.freeze()  # else it looks at all that was imported, and copies the memory of it
        code = 1
        with suppress(BaseException):
            code = int(any(map(_fails, items, [*items[1:], None])))
        os._exit(code)
    until, ended = time.monotonic() + _WAITING, 0
    while not ended:
        if time.monotonic() > until:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.02)
        ended, status, used = os.wait4(child, os.WNOHANG)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime


def _fails(item: pytest.Item, following: pytest.Item | None) -> bool:
    return any(report.failed for report in runtestprotocol(item, nextitem=following, log=False))
