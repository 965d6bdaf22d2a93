"""Entries of the table of names: objectives and metrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from rankwise._grammar import Value

FACTS = {
    "prior": "the share of positives in the data set, a number or one per list",
    "num_items": "the number of items of the data set",
    "num_lists": "the number of lists (queries, users or classes) of the data set",
}
"""Facts of the data set that an objective may need in addition to its options."""


@dataclass(frozen=True, eq=False)
class ObjectiveEntry:
    """An objective under its names; the class is loaded when it is used."""

    names: tuple[str, ...]  # the first is the one shown; that of the class is one by itself
    path: str  # "module:Class"
    metric: str | None  # a name of the metric it stands for; None: that of the objective inside
    use: str  # when to use it, in one short sentence
    paper: str
    cost: str = "n log n"
    memory: str = "–"  # what is remembered between batches: by list_ids or by item_ids
    at: str | None = None  # which argument of the constructor @k fills
    whole: bool = False  # it is first used without @k, and so shown
    fixed: Mapping[str, Value] = field(default_factory=dict)  # options that come with the name
    facts: tuple[str, ...] = ()  # of FACTS, those that are handed to the constructor
    needs: tuple[str, ...] = ()  # of these, those that must be known though it would do without
    when: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # options that want the facts
    made_by: Callable[..., Any] | None = None  # of an objective that is not part of rankwise
    names_metric: bool = True  # False: its metric is only the default
    listed: bool = True  # False: found by its name, but not shown among the names

    def facts_for(self, options: Mapping[str, Value]) -> tuple[str, ...]:
        """Return the facts that are passed with these options."""
        wanted = all(options.get(option) in words for option, words in self.when.items())
        return self.facts if wanted else ()

    @property
    def shown_metric(self) -> str:
        """The metric as a reader sees it."""
        if self.metric is None:
            return "as its objective"
        return f"{self.metric}@k" if self.at is not None and not self.whole else self.metric


@dataclass(frozen=True, eq=False)
class MetricEntry:
    """A metric under its names."""

    names: tuple[str, ...]  # the first is the one shown; that of the function is one by itself
    path: str  # "module:function"
    what: str  # what it is, in one short sentence
    options: tuple[str, ...] = ()  # its own, which its objectives share, in their order
    at: str | None = None  # which option @k fills
    whole: bool = False  # it is first used without @k, and so shown


def all_names(entry: ObjectiveEntry | MetricEntry) -> tuple[str, ...]:
    """Return the names, and last that of the class or function."""
    return (*entry.names, entry.path.partition(":")[2])


def shown_names(entry: ObjectiveEntry | MetricEntry) -> tuple[str, ...]:
    """Return the names as a reader sees them, the first with @k where it takes one."""
    first, *others = entry.names
    cut = () if entry.at is None else (f"{first}@k",)
    return (*(() if cut and not entry.whole else (first,)), *cut, *others)


def load(entry: ObjectiveEntry | MetricEntry) -> Callable[..., Any]:
    """Load the class or the function of an entry."""
    if isinstance(entry, ObjectiveEntry) and entry.made_by is not None:
        return entry.made_by
    found: Callable[..., Any] = imported(entry.path)
    return found


def imported(path: str) -> Any:
    """Import ``module:object``: the one plugin resolver of rankwise."""
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)
