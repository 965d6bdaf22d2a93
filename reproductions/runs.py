"""Runs of a long study, each kept as soon as it is done: a killed study goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rankwise.data import DataError
from rankwise.report import write_json

__all__ = ["Runs"]


class Runs:
    """Results by name in ``folder``/``runs.json``; None: kept in memory only.

    ``asked`` is what they depend on beside their names (data, steps, versions). Results of
    something else are an error and not silently mixed with those of today. Two processes may work
    in one folder, each on runs of its own: what is written is what is there and one's own.
    """

    def __init__(self, folder: Path | None, asked: dict[str, Any]) -> None:
        self.path = None if folder is None else folder / "runs.json"
        self.known: dict[str, Any] = {}
        self.asked: dict[str, Any] = json.loads(json.dumps(asked))
        self._read()

    def get(self, name: str, make: Callable[[], Any]) -> Any:
        """The result of that name, made (and written down) if there is none; plain JSON."""
        if name not in self.known:
            self._read()
        if name not in self.known:
            self.known[name] = json.loads(json.dumps(make()))
            if self.path is not None:
                self._read()
                write_json(self.path, {"asked": self.asked, "runs": self.known})
        return self.known[name]

    def _read(self) -> None:
        """Take in what is there, of this process or of another on the same folder."""
        if self.path is None or not self.path.exists():
            return
        try:
            before = json.loads(self.path.read_text())
            asked, known = before["asked"], dict(before["runs"])
        except (ValueError, TypeError, KeyError) as error:
            raise DataError(
                f"{self.path}: is no file of runs ({error!r}); remove it to start anew"
            ) from None
        if asked != self.asked:
            raise DataError(
                f"out must be a new folder or that of the same study: {self.path} has "
                f"{asked}, asked is {self.asked}"
            )
        self.known = known | self.known
