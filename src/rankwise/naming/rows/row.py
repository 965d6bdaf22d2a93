"""How a row of the table is written."""

from __future__ import annotations

from typing import Any

from rankwise.naming.entry import ObjectiveEntry

__all__ = ["row"]


def row(  # noqa: PLR0917  (a row of a table is read by its columns)
    module: str, cls: str, names: str, metric: str | None, use: str, paper: str, **more: Any
) -> ObjectiveEntry:
    """An entry for a class of a module, its names in one string."""
    path = f"rankwise.{module}:{cls}"
    return ObjectiveEntry(tuple(names.split()), path, metric, use, paper, **more)
