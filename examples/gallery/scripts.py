"""The scripts in examples/: each trains, and returns its metric before and after."""

from __future__ import annotations

import importlib.util
import io
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

FOLDER = Path(__file__).parents[1]
SCRIPTS = sorted(FOLDER.glob("*.py"))


def load(path: Path) -> Any:
    """Return the module of a script."""
    spec = importlib.util.spec_from_file_location(f"example_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ValueError(f"path must be a Python file, got {path}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def draw(before: float, after: float) -> bytes:
    """Return the PNG of two bars: average precision on test data before and after training."""
    figure = Figure(figsize=(5.2, 1.3), layout="constrained")
    axes = figure.subplots()
    bars = axes.barh(["after", "before"], [after, before], color=["#00796b", "#b0b7bd"])
    axes.bar_label(bars, fmt="%.2f", padding=3, fontsize=9)
    axes.set(xlim=(0, 1.12), xticks=[0, 0.5, 1])
    axes.set_xlabel("average precision on test data", fontsize=9)
    axes.tick_params(labelsize=9)
    axes.spines[["top", "right"]].set_visible(False)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110, metadata={"Software": None})
    return buffer.getvalue()
