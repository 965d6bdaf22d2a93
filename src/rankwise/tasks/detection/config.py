"""Settings from files of yaml, and the files that ship with the package."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rankwise.tasks.detection.settings import Settings
from rankwise.tasks.retrieval.config import read_as
from rankwise.tasks.retrieval.config import shipped as _shipped

__all__ = ["CONFIGS", "read_settings", "shipped"]

CONFIGS = Path(__file__).parent / "configs"


def shipped() -> tuple[str, ...]:
    """Names of the configurations that ship with the package."""
    return _shipped(CONFIGS)


def read_settings(source: Path | str, changes: Sequence[str] = ()) -> Settings:
    """Settings of a file of yaml, or of a name that ships; ``changes``: section.name=value."""
    return read_as(Settings, CONFIGS, source, changes)
