"""Which ranking a metric prefers, and where two metrics contradict each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from reproductions.why_the_metric_matters.example import Example
from reproductions.why_the_metric_matters.measure import Measured

_CLOSE = 1e-12

Order = tuple[tuple[str, ...], ...]
"""Names from the preferred one on; those in one group have the same value."""


def order_of(values: Mapping[str, float]) -> Order:
    """Sort rankings by a metric, equal ones together."""
    groups: list[list[str]] = []
    for name in sorted(values, key=lambda name: -values[name]):
        if groups and abs(values[groups[-1][0]] - values[name]) <= _CLOSE:
            groups[-1].append(name)
        else:
            groups.append([name])
    first = list(values)
    return tuple(tuple(sorted(group, key=first.index)) for group in groups)


def shown_order(order: Order) -> str:
    """Write an order as "a > b = c"."""
    return " > ".join(" = ".join(group) for group in order)


def holds(order: str, values: Mapping[str, float]) -> bool:
    """Whether a stated order is that of the values of the rankings it names."""
    stated = tuple(tuple(group.split(" = ")) for group in order.split(" > "))
    there = {name: values[name] for group in stated for name in group if name in values}
    return tuple(map(set, order_of(there))) == tuple(map(set, stated))


def preference(values: Mapping[str, float], one: str, other: str) -> int:
    """Return 1 if the metric prefers ``one``, −1 for ``other``, 0 if it has no preference."""
    if one not in values or other not in values or abs(values[one] - values[other]) <= _CLOSE:
        return 0
    return 1 if values[one] > values[other] else -1


def pairs_of(example: Example) -> list[tuple[str, str]]:
    """Return all pairs of rankings of an example that a metric chooses from."""
    return list(combinations(example.compared, 2))


def votes(values: Mapping[str, Mapping[str, float]], one: str, other: str) -> dict[int, list[str]]:
    """Return the metrics that prefer ``one`` (1), ``other`` (−1), or none (0) of two rankings."""
    found: dict[int, list[str]] = {1: [], -1: [], 0: []}
    for metric, own in values.items():
        if one in own and other in own:
            found[preference(own, one, other)].append(metric)
    return found


def opposed(
    values: Mapping[str, Mapping[str, float]], pairs: Sequence[tuple[str, str]]
) -> list[tuple[str, str]]:
    """Return the pairs of metrics that order at least one pair of rankings in opposite ways."""
    signs = {name: [preference(own, *pair) for pair in pairs] for name, own in values.items()}
    return [
        (one, other)
        for one, other in combinations(signs, 2)
        if any(a * b < 0 for a, b in zip(signs[one], signs[other], strict=True))
    ]


def contradictions(examples: Iterable[Example], found: Measured) -> dict[tuple[str, str], int]:
    """Count, for each two families, the pairs of rankings that they order in opposite ways.

    A family with several cuts is opposed where one of its cuts is.
    """
    families = list(dict.fromkeys(value.family for value in found.values))
    counts = dict.fromkeys(combinations(families, 2), 0)
    for example in examples:
        values = found.of(example)
        family = {v.metric: v.family for v in found.values if v.example == example.title}
        for pair in pairs_of(example):
            against = {
                frozenset((family[a], family[b]))
                for a, b in opposed(values, [pair])
                if family[a] != family[b]
            }
            for one, other in counts:
                counts[one, other] += frozenset((one, other)) in against
    return counts
