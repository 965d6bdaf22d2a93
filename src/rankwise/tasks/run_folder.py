"""Whose run a folder holds: no command writes over that of another."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from rankwise.tasks.usage import UsageError

__all__ = ["command_of", "require_free"]

_CONFIGS = ("config.json", "config.yaml")
_MARKS = (*_CONFIGS, "checkpoint.pt", "results.json", "study.db")
_IMAGES = {"data", "network", "views", "objective", "optimiser", "training"}


def require_free(out: Path, command: str, *, resume: bool) -> None:
    """Raise unless ``rankwise command`` may write into ``out``: a new run, or on with its own.

    A folder in which the command has got no further than writing down its settings is as good as a
    new one.
    """
    found = [name for name in _MARKS if (out / name).exists()]
    if not found:
        return
    held = command_of(out)
    if held != command:
        what = "what is no run" if held is None else f"a run of rankwise {held}, not"
        raise UsageError(
            f"{out} holds {what} of rankwise {command} ({', '.join(found)}); "
            "pass another folder with --out"
        )
    if not resume and any(name not in _CONFIGS for name in found):
        raise UsageError(
            f"{out} already holds a run; pass --resume to continue it, or another folder with --out"
        )


def command_of(folder: Path) -> str | None:
    """The command whose run is in a folder, finished or not; None where no single one is."""
    readers = {"config.json": _of_json, "config.yaml": _of_yaml}
    there = [name for name in _CONFIGS if (folder / name).exists()]
    if len(there) == 1:
        try:
            return readers[there[0]]((folder / there[0]).read_text())
        except (OSError, ValueError):
            return None
    # The one command that writes its settings last, when all else is done.
    begun = any((folder / name).exists() for name in ("checkpoint.pt", "model.ranker"))
    return "rank" if begun and not there else None


def _of_json(text: str) -> str | None:
    tree: Any = json.loads(text)
    if not isinstance(tree, dict):
        return None
    if "command" in tree:
        return str(tree["command"]).removeprefix("rankwise ")
    if {"temperature", "gamma"} <= tree.keys():
        return "contrast"
    if "settings" in tree and "data" in tree:
        return "rank" if isinstance(tree["data"], dict) else "recommend"  # several files, or one
    return None


def _of_yaml(text: str) -> str | None:
    sections = set(re.findall(r"^(\w+):", text, flags=re.MULTILINE))
    if not sections >= _IMAGES:
        return None
    for section, command in (("found", "detect"), ("memory", "retrieval"), ("batches", "classify")):
        if section in sections:
            return command
    return None
