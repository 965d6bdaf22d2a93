"""The figures of the site. Everything in them is computed by rankwise or read from results."""

from importlib import import_module
from pathlib import Path

from docs.figures.frame import FIGURES, svg

__all__ = ["FIGURES", "FOLDER", "load_all", "svg"]

FOLDER = Path(__file__).parents[1] / "images"
_MODULES = (
    "engine",
    "surrogates",
    "saturation",
    "sampling",
    "memory",
    "metrics",
    "calibration",
    "speed",
    "guides",
    "vision",
)


def load_all() -> list[str]:
    """Import every module with figures, and return the names of the figures."""
    for module in _MODULES:
        import_module(f"docs.figures.{module}")
    return list(FIGURES)
