"""Peak memory of a call, from the operating system's own books (Linux)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

__all__ = ["peak_bytes", "peak_bytes_of"]


def peak_bytes() -> int:
    """The most memory that this process has held.

    ``ru_maxrss`` is not it: a process begins with the maximum of the one that started it.
    """
    return _memory("VmHWM")


def peak_bytes_of(call: Callable[[], object]) -> int:
    """The most memory this process holds during ``call`` beyond what it held before."""
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts again from here
    before = _memory("VmRSS")
    call()
    return _memory("VmHWM") - before


def _memory(name: str) -> int:
    status = Path("/proc/self/status").read_text()
    return 1024 * next(int(line.split()[1]) for line in status.splitlines() if name in line)
