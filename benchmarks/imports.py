"""``import rankwise`` against ``import torch``, each in a fresh process."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from functools import partial

from benchmarks.timing import Result, seconds_side_by_side


def _import(module: str) -> None:
    subprocess.run([sys.executable, "-c", f"import {module}"], check=True)


def against_torch() -> Iterator[Result]:
    for module in ("rankwise", "rankwise.metrics", "rankwise.objectives"):
        ours, torch = seconds_side_by_side([partial(_import, module), partial(_import, "torch")], 9)
        detail = {"ms": 1e3 * ours, "torch_ms": 1e3 * torch}
        yield Result(f"import {module}", ours / torch, "× import torch", "<= 1.1", detail)


ALL = [against_torch]
