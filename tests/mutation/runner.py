"""Run the tests of a module on a mutant of it, in a forked process."""

from __future__ import annotations

import ast
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import signal
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import CodeType

import pytest
from tests.mutation.own_tests import ROOT, SOURCE, Selection

SLOWER = 4.0  # a mutant that takes that many times as long as the module itself is noticed
LEAST = 20.0  # seconds that a mutant is given in any case: a kernel is compiled again
_OPTIONS = [
    "-x", "-q", "-p", "no:cacheprovider", "--import-mode=importlib", "-o", "addopts=",
    "-m", "not full", "--no-header", "--tb=no",
]  # fmt: skip
_KEPT = ("rankwise", "tests", "_pytest", "pytest", "__main__", "polars")


@dataclass(frozen=True)
class Verdict:
    """How the tests ended: ``passed``, ``failed``, ``time`` or ``none`` where there are none."""

    result: str
    seconds: float


class _MutatedLoader(importlib.machinery.SourceFileLoader):
    def __init__(self, name: str, path: Path, tree: ast.Module) -> None:
        super().__init__(name, str(path))
        self.tree = tree

    def get_code(self, fullname: str) -> CodeType:
        return compile(self.tree, self.path, "exec", dont_inherit=True)


class _Finder(importlib.abc.MetaPathFinder):
    """Find one module of the library, with a change in it."""

    def __init__(self, path: Path, tree: ast.Module) -> None:
        self.name = ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts)
        self.loader = _MutatedLoader(self.name, path, tree)

    def find_spec(self, fullname, path, target=None):
        if fullname != self.name:
            return None
        return importlib.util.spec_from_file_location(
            fullname, self.loader.path, loader=self.loader
        )


def run(
    selection: Selection,
    path: Path | None = None,
    tree: ast.Module | None = None,
    *,
    seconds: float = 600.0,
    listed: Path | None = None,
) -> Verdict:
    """Run tests with the tree in place of a module, for a limited time.

    The names of the modules that the tests import are written to ``listed``.
    """
    assert not any(name.split(".")[0] == "rankwise" for name in sys.modules)
    with tempfile.TemporaryDirectory(prefix="rankwise-mutant") as folder:
        began = time.monotonic()
        child = os.fork()
        if child == 0:
            os.setsid()  # so that what the tests start ends with them
            os._exit(_work(selection, path, tree, Path(folder), listed))
        status = _waited(child, began + seconds)
        took = time.monotonic() - began
    if status is None:
        return Verdict("time", took)
    code = os.waitstatus_to_exitcode(status)
    return Verdict({0: "passed", pytest.ExitCode.NO_TESTS_COLLECTED: "none"}.get(code, "failed"), took)


def _work(
    selection: Selection, path: Path | None, tree: ast.Module | None, folder: Path, listed: Path | None
) -> int:
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    os.chdir(ROOT)
    sys.dont_write_bytecode = True
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = str(folder)
    if path is not None and tree is not None:
        sys.meta_path.insert(0, _Finder(path, tree))
        if "@kernel" in path.read_text("utf-8"):  # else the machine code of the source is taken
            os.environ["NUMBA_CACHE_DIR"] = str(folder / "numba")
    try:
        code = int(pytest.main([*_OPTIONS, f"--basetemp={folder}/tmp", *selection.arguments()]))
    except BaseException:
        return 99
    if listed is not None:
        listed.write_text(json.dumps(list(sys.modules)))
    return code


def _waited(child: int, until: float) -> int | None:
    """Return the status of a process and end all that it started; None if its time was over."""
    status = None
    while time.monotonic() < until:
        found, ended = os.waitpid(child, os.WNOHANG)
        if found:
            status = ended
            break
        time.sleep(0.02)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    if status is None:
        os.waitpid(child, 0)
    return status


def warm(listed: Path) -> None:
    """Import what tests import, apart from the library, so that the children need not."""
    for name in json.loads(listed.read_text()):
        if name not in sys.modules and name.split(".")[0] not in _KEPT:
            with suppress(Exception):  # some are not files
                importlib.import_module(name)
