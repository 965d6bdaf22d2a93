"""Compiled functions work wherever their machine code cannot be kept."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("numba")

from rankwise import _jit as jit

SOURCE = """
from rankwise._jit import kernel

@kernel
def double(x):
    return x + x

print(double(21))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "doubling.py").write_text(SOURCE)
    return tmp_path


def start(folder: Path, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", "import doubling"],
        cwd=folder,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def assert_works(process: subprocess.Popen[str]) -> None:
    out, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    assert out == "42\n"


def kept(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.nb[ic]"))


def test_machine_code_is_kept_and_shared_by_processes_that_start_together(folder):
    cache = folder / "cache"
    several = [start(folder, NUMBA_CACHE_DIR=str(cache)) for _ in range(3)]
    for process in several:
        assert_works(process)
    assert len(kept(cache)) == 2
    for path in kept(cache):  # as after a crash of the machine
        path.write_bytes(b"broken")
    assert_works(start(folder, NUMBA_CACHE_DIR=str(cache)))


def test_a_cache_that_cannot_be_written_is_done_without(folder):
    (folder / "file").write_text("no folder")
    no_folder = str(folder / "file" / "cache")
    (folder / "__pycache__").write_text("no folder")  # next to the source, as in a wheel of root
    assert_works(start(folder, NUMBA_CACHE_DIR=no_folder))
    assert_works(start(folder, HOME=no_folder, XDG_CACHE_HOME=no_folder))
    assert kept(folder) == []


def test_a_cache_that_is_full_is_done_without(monkeypatch):
    from numba.core.caching import FunctionCache

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(FunctionCache, "save_overload", full)
    assert jit.kernel(lambda x: x + 1)(41) == 42


def test_a_numba_that_cannot_be_imported_is_done_without(monkeypatch, tmp_path):
    (tmp_path / "numba.py").write_text("raise ImportError('needs an older numpy')")
    jit._works.cache_clear()
    monkeypatch.delitem(sys.modules, "numba")
    monkeypatch.syspath_prepend(tmp_path)
    try:
        with pytest.warns(RuntimeWarning, match="older numpy.*RANKWISE_COMPILED=0"):
            assert not jit.is_available()
    finally:
        jit._works.cache_clear()


@pytest.mark.parametrize("name", ["RANKWISE_COMPILED", "NUMBA_DISABLE_JIT"])
def test_switches(monkeypatch, name):
    assert jit.is_available()
    monkeypatch.setenv(name, "01"[name == "NUMBA_DISABLE_JIT"])
    assert not jit.is_available()
