"""Settings from files of yaml, and the files that ship with the package."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rankwise.tasks.classification.settings import Settings
from rankwise.tasks.retrieval import config as retrieval

__all__ = ["CONFIGS", "read_settings", "shipped", "with_changes"]

CONFIGS = Path(__file__).parent / "configs"


def shipped() -> tuple[str, ...]:
    """Names of the configurations that ship with the package."""
    return retrieval.shipped(CONFIGS)


def read_settings(source: Path | str, changes: Sequence[str] = ()) -> Settings:
    """Settings of a file of yaml, or of a name that ships with the package.

    A file with ``base: other.yaml`` says only what is different there. ``changes`` are
    ``section.name=value``, the value written as in yaml.
    """
    return retrieval.read_as(Settings, CONFIGS, source, changes)


def with_changes(tree: Mapping[str, Any], changes: Sequence[str] = ()) -> Settings:
    """Settings of sections with their values, some of them changed by ``section.name=value``."""
    return retrieval.changed(Settings, tree, changes)
