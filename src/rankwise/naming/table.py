"""The table of names, and how a name is found in it."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import TypeVar

from rankwise.naming.aliases import ALIASES, alias_of, split_cut
from rankwise.naming.entry import MetricEntry, ObjectiveEntry, all_names
from rankwise.naming.grammar import parse
from rankwise.naming.rows import BASELINES, METRICS, OBJECTIVES
from rankwise.naming.spec import Spec, canonical

__all__ = [
    "BASELINES",
    "ENTRIES",
    "METRICS",
    "OBJECTIVES",
    "find_metric",
    "find_objective",
    "nearest",
    "read",
    "resolve",
]

_Entry = TypeVar("_Entry", ObjectiveEntry, MetricEntry)

ENTRIES = (*OBJECTIVES, *BASELINES)
"""Every objective, the baselines behind them."""


def _by_name(entries: tuple[_Entry, ...]) -> Mapping[str, _Entry]:
    """Entries by what their names are compared by; the class's own name belongs to the first."""
    names: dict[str, _Entry] = {}
    for entry in entries:
        for name in all_names(entry):
            names.setdefault(canonical(name), entry)
    return MappingProxyType(names)


_OBJECTIVES, _METRICS = _by_name(ENTRIES), _by_name(METRICS)


def read(text: str) -> Spec:
    """A name with its options, an alias under the name that rankwise has for it."""
    return resolve(parse(text))


def resolve(spec: Spec) -> Spec:
    """The same under the name of the tables where it is an alias, or ends in a cut: ``P_5``."""
    alias = alias_of(spec)
    if alias is not None:
        return alias.applied(spec)
    cut = None if _is_known(spec) else split_cut(spec)
    if cut is None:
        return spec
    found = resolve(cut)
    return found if _is_known(found) else spec


def _is_known(spec: Spec) -> bool:
    return canonical(spec.name) in _OBJECTIVES or canonical(spec.name) in _METRICS


def find_objective(spec: Spec) -> ObjectiveEntry:
    """The entry of an objective; a ValueError suggests the nearest name there is."""
    form = canonical(resolve(spec).name)
    entry = _OBJECTIVES.get(form)
    if entry is not None:
        return entry
    if form in _METRICS:
        raise ValueError(
            f'"{spec.name}" is a metric without an objective of its own; '
            "`rankwise objectives` lists the objectives with their metrics"
        )
    raise ValueError(_unknown("objective", spec.name, _OBJECTIVES, "rankwise objectives"))


def find_metric(spec: Spec) -> MetricEntry:
    """The entry of a metric; a ValueError suggests the nearest name there is."""
    entry = _METRICS.get(canonical(resolve(spec).name))
    if entry is not None:
        return entry
    objective = _OBJECTIVES.get(canonical(spec.name))
    if objective is not None and objective.metric is not None:
        raise ValueError(f'"{spec.name}" is an objective; its metric is "{objective.metric}"')
    raise ValueError(_unknown("metric", spec.name, _METRICS, "rankwise objectives --metrics"))


def nearest(word: str, known: tuple[str, ...]) -> str | None:
    """The known word that begins with this one, or else is most like it, if any is."""
    # Of two spellings of one name the first, which is the table's own.
    form, by_form = canonical(word), {canonical(name): name for name in reversed(known)}
    begins = [other for other in by_form if len(form) > 1 and other.startswith(form)]
    found = sorted(begins, key=len) or get_close_matches(form, by_form, n=1, cutoff=0.5)
    return by_form[found[0]] if found else None


def _unknown(kind: str, name: str, entries: Mapping[str, _Entry], command: str) -> str:
    base, at, _ = name.partition("@")
    entry = entries.get(canonical(resolve(Spec(base)).name))
    if at and entry is not None and entry.at is not None:  # "ndcg@k"
        return f'"{name}" needs a number after @: write "{base}@10"'
    own: list[str] = [known for entry in entries.values() for known in all_names(entry)]
    aliases: list[str] = [alias.example for alias in ALIASES if canonical(alias.name) in entries]
    near = nearest(base, (*own, *aliases))
    hint = f'did you mean "{near}"? ' if near else ""
    return f'no {kind} is called "{name}": {hint}`{command}` lists them all'
