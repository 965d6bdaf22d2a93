"""MATLAB files, read by a process of its own.

SciPy's reader follows whatever sizes a damaged file gives: the process ends, or takes all memory.
Only Cars-196 has such files, three of them, so a process for each costs a second in all.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

from rankwise.data.errors import DataError, parsing
from rankwise.errors import short_repr
from rankwise.extras import require

_MEMORY = 1 << 31  # bytes of the process
_SECONDS = 60
_LONGEST = 1 << 28  # bytes of what it answers


def read_matlab(file: Path, variable: str) -> Any:
    """Return a variable as lists, dicts, strings and numbers.

    Raises:
        DataError: The file cannot be read, or does not have the variable.
    """
    require("rankwise.data.images", "scipy")
    with parsing(file, "a MATLAB file"):
        with file.open("rb"):
            pass  # a file that is missing is reported as any other
        command = [sys.executable, "-m", __name__, str(file), variable]
        found = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False)
        if found.returncode < 0:
            raise ValueError("its reader did not survive it; the file is damaged")
        if found.returncode or len(found.stdout) > _LONGEST:
            lines = found.stderr.decode(errors="replace").strip().splitlines() or [
                "it is too large"
            ]
            raise ValueError(lines[-1])
        held = json.loads(found.stdout)
    if held is None:
        raise DataError(f"{file}: holds no variable {short_repr(variable)}")
    return held


def _plain(value: Any) -> Any:
    """Return a value of SciPy as JSON has it."""
    if isinstance(value, dict):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    return value if isinstance(value, (str, int, float, type(None))) else str(value)


def _main() -> None:
    from scipy.io import loadmat  # noqa: PLC0415  (in this process alone)

    file, variable = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    found = loadmat(file, variable_names=[variable], simplify_cells=True)
    print(json.dumps(_plain(found[variable]) if variable in found else None))


if __name__ == "__main__":
    _main()
