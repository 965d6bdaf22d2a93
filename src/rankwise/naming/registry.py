"""Objectives that are not part of rankwise, by name: registered, installed, or imported.

A name in a file must not run code: ``module:object`` is imported only where a person typed it, or
allowed it for files.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from typing import Any

from rankwise._grammar import IMPORTED, canonical
from rankwise.naming.entry import FACTS, ObjectiveEntry, imported

PLUGINS = "rankwise.objectives"
"""Entry points of this group are objectives of other packages, by name."""

DEFAULT_METRIC = "ap"
"""The metric of an objective that does not name one in its attribute ``metric``."""

OBJECT = "-object"
"""End of the name that a saved model has for an objective that was passed as an object."""

_IMPORTABLE = re.compile(rf"(?<![\w.])(?=({IMPORTED}))")


@dataclass
class Registry:
    """The objectives of one process beyond those of rankwise, by canonical name."""

    entries: dict[str, ObjectiveEntry] = field(default_factory=dict)
    typed: set[str] = field(default_factory=set)  # module:object that a person has typed
    trusts_files: bool = False
    _plugins_read: bool = False

    def add(self, entry: ObjectiveEntry) -> None:
        """Add an entry under its name, in place of an earlier one of that name."""
        self.entries[_key(entry.names[0])] = entry

    def remove(self, name: str) -> None:
        """Forget a name."""
        self.entries.pop(_key(name), None)

    def find(self, name: str) -> ObjectiveEntry | None:
        """Return the entry of a name: registered, of an installed package, or imported."""
        if ":" in name:
            return self._imported(name)
        if _key(name) not in self.entries and not self._plugins_read:
            self._read_plugins()
        return self.entries.get(_key(name))

    def all(self) -> tuple[ObjectiveEntry, ...]:
        """Return all entries but passed objects, those of installed packages included."""
        if not self._plugins_read:
            self._read_plugins()
        return tuple(entry for entry in self.entries.values() if entry.listed)

    def trust(self, texts: Iterable[object]) -> None:
        """Allow every ``module:object`` in texts that a person has typed."""
        for text in texts:
            if isinstance(text, str):
                self.typed.update(_IMPORTABLE.findall(text))

    def _read_plugins(self) -> None:
        self._plugins_read = True
        for point in entry_points(group=PLUGINS):
            if _key(point.name) not in self.entries:
                where = f'entry point "{point.name}" of {getattr(point.dist, "name", "a package")}'
                self.add(entry_of(point.name, _found(point.value, where)))

    def _imported(self, name: str) -> ObjectiveEntry:
        known = self.entries.get(_key(name))
        if known is not None:
            return known
        if not (self.trusts_files or name in self.typed):
            raise ValueError(
                f'objective "{name}" runs the code of module {name.partition(":")[0]}; a file or a '
                "saved run may do that only with --trust. In Python, import it and call "
                'rankwise.register("my_loss", …)'
            )
        if "" not in sys.path:  # the script rankwise does not look into the working directory
            sys.path.insert(0, "")
        entry = entry_of(name, _found(name, f'objective "{name}"'))
        self.add(entry)
        return entry


REGISTRY = Registry()
"""The registry of this process."""


def entry_of(
    name: str, made_by: Callable[..., Any], *, metric: str | None = None, use: str = ""
) -> ObjectiveEntry:
    """Return the entry of a class or function; its parameters decide which facts it gets."""
    parameters = inspect.signature(made_by).parameters
    metric = metric if metric is not None else getattr(made_by, "metric", None)
    module, called = (getattr(made_by, part, "") for part in ("__module__", "__qualname__"))
    return ObjectiveEntry(
        (name,),
        f"{module}:{called}",
        metric if isinstance(metric, str) else DEFAULT_METRIC,
        use,
        "–",
        cost="–",
        memory="by item" if "num_items" in parameters else "–",
        at="k" if "k" in parameters else None,
        facts=tuple(fact for fact in FACTS if fact in parameters),
        made_by=made_by,
        names_metric=isinstance(metric, str),
    )


def _key(name: str) -> str:
    return name if ":" in name else canonical(name)  # Python tells letter cases apart


def _found(path: str, where: str) -> Callable[..., Any]:
    """Import ``module:object``: a class, a function that makes objectives, or an objective."""
    try:
        found: object = imported(path)
    except Exception as error:  # the module may raise anything
        why = f"{type(error).__name__}: {error}"
        raise ValueError(
            f"{where} cannot be imported from {path}: {why}; check the spelling, and that the "
            "module is in the working directory or installed"
        ) from error
    if "torch" in sys.modules and not inspect.isclass(found):  # else it is no objective
        from torch import nn  # noqa: PLC0415  (names alone do without torch)

        from rankwise.naming.copies import Copies  # noqa: PLC0415

        if isinstance(found, nn.Module):
            return Copies(found)
    if not callable(found):
        raise ValueError(
            f"{where} must be a class, a function or an objective, got {type(found).__name__}"
        )
    return found
