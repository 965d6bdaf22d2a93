"""What the report says; every outcome is read from the values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from reproductions.sentences import listed, share
from reproductions.why_the_metric_matters.areas import Area
from reproductions.why_the_metric_matters.compare import (
    holds,
    opposed,
    order_of,
    pairs_of,
    shown_order,
    votes,
)
from reproductions.why_the_metric_matters.example import Example, Ranking
from reproductions.why_the_metric_matters.numbers import Check, shown

Values = Mapping[str, Mapping[str, float]]
Solutions = Mapping[str, Sequence[tuple[int, tuple[int, ...]]]]


def short(metric: str) -> str:
    """Return the name of a metric without its cut, which is the same in all of an example."""
    return metric.split(" (", maxsplit=1)[0]


def chosen_by(example: Example, own: Mapping[str, float]) -> tuple[str, ...] | None:
    """Return what a metric prefers: () for no preference, None where it is not defined for all."""
    if any(name not in own for name in example.compared):
        return None
    order = order_of({name: own[name] for name in example.compared})
    return order[0] if len(order) > 1 else ()


def first_choices(example: Example, values: Values) -> list[str]:
    """Say which metrics prefer which ranking."""
    choices: dict[tuple[str, ...], list[str]] = {}
    for metric, own in values.items():
        choice = chosen_by(example, own)
        if choice is not None:
            choices.setdefault(choice, []).append(short(metric))
    level = choices.pop((), [])
    said = [
        f"{listed(choice)} {'is' if len(choice) == 1 else 'are'} preferred by {listed(metrics)}."
        for choice, metrics in sorted(choices.items())
    ]
    if level:
        said.append(f"No preference: {listed(level)}.")
    return said


def disagreement(example: Example, values: Values) -> str:
    """Say how many metrics contradict each other, and which have exactly reversed orders."""
    pairs = pairs_of(example)
    against = opposed(values, pairs)
    total = len(values) * (len(values) - 1) // 2
    if not against:
        return f"None of the {total} pairs of metrics contradict each other here."
    orders = {metric: order_of(own) for metric, own in values.items()}
    reversed_ = [
        f"{short(one)} ({shown_order(orders[one])}) and {short(other)} "
        f"({shown_order(orders[other])})"
        for one, other in against
        if len(orders[one]) == len(example.rankings) and orders[one] == orders[other][::-1]
    ]
    said = (
        f"{len(against)} of the {total} pairs of metrics contradict each other: they order at "
        "least two rankings in opposite ways."
    )
    if reversed_:
        said += f" Exactly reversed: {listed(reversed_[:3])}"
        said += f", and {len(reversed_) - 3} more pairs." if len(reversed_) > 3 else "."
    return said


def claims_of(example: Example, values: Values) -> str:
    """Say which of the orders that the paper states the values have."""
    kept = [claim for claim in example.claims if holds(claim.order, values[claim.metric])]
    said = f"Of the orders that the document states, {share(len(kept), len(example.claims))} hold"
    said += f": {listed([f'{c.order} by {short(c.metric)}' for c in kept])}." if kept else "."
    for claim in example.claims:
        if claim not in kept:
            order = shown_order(order_of(values[claim.metric]))
            said += f" {short(claim.metric)}: stated is {claim.order}, computed {order}."
    return said


def duels(example: Example, values: Values) -> list[str]:
    """Say, for every two rankings on which metrics contradict each other, which prefer which."""
    said = []
    for one, other in pairs_of(example):
        found = votes(values, one, other)
        if found[1] and found[-1]:
            first, second = (listed([short(metric) for metric in found[s]]) for s in (1, -1))
            total = sum(len(metrics) for metrics in found.values())
            said.append(
                f"{one} or {other}? {one}: {first}. {other}: {second}. "
                f"No preference: {len(found[0])} of {total}."
            )
    return said


def in_short(counts: Mapping[tuple[str, str], int], pairs: int) -> str:
    """Return the answer in one sentence."""
    against = sum(count > 0 for count in counts.values())
    return (
        f"Which of two rankings is better depends on the metric: {share(against, len(counts))} "
        f"pairs of metrics contradict each other on at least one of the {pairs} pairs of rankings."
    )


def most_opposed(counts: Mapping[tuple[str, str], int], pairs: int) -> str:
    """Say how many families contradict each other, and which do so most often."""
    against = {pair: count for pair, count in counts.items() if count}
    said = (
        f"{share(len(against), len(counts))} pairs of metrics contradict each other on at least "
        f"one of the {pairs} pairs of rankings"
    ).capitalize()
    if not against:
        return f"{said}."
    most = max(against.values())
    named = [f"{a} against {b}" for (a, b), count in against.items() if count == most]
    return f"{said}; most often, on {most}: {listed(named)}."


def most_alone(counts: Mapping[tuple[str, str], int]) -> list[str]:
    """Say which families contradict the most others, if any do."""
    families = list(dict.fromkeys(name for pair in counts for name in pair))
    partners = {
        name: sum(1 for pair, count in counts.items() if name in pair and count)
        for name in families
    }
    most = max(partners.values())
    if not most:
        return []
    alone = [name for name, count in partners.items() if count == most]
    verb = "contradicts" if len(alone) == 1 else "contradict"
    return [f"{listed(alone)} {verb} {share(most, len(families) - 1)} others."]


def printed_words(checks: Sequence[Check]) -> str:
    """Say how many printed numbers are right, and name the others."""
    right = [check for check in checks if check.right]
    said = (
        f"{share(len(right), len(checks))} printed numbers are the exact value or its rounding"
    ).capitalize()
    wrong = [
        f"{check.example.source} prints {check.printed.metric} {check.printed.text} for "
        f"{check.printed.ranking}; exact is {shown(check.value)} = {check.value:.4f} "
        f"({check.verdict})"
        for check in checks
        if not check.right
    ]
    return f"{said}. {'; '.join(wrong)}." if wrong else f"{said}."


def solution_words(
    solutions: Solutions, sizes: tuple[int, int], rankings: Sequence[Ranking]
) -> str:
    """Say which lists have the numbers of Figure 1, and whether they are the ones used."""
    drawn = {each.name: [r for r, label in enumerate(each.labels, 1) if label] for each in rankings}
    said = (
        "The dots of the figure are lost in the text. Of all lists of "
        f"{sizes[0]} to {sizes[1]} items, these have the five printed numbers: "
    )
    parts = []
    for name, found in solutions.items():
        lists = [f"{{{', '.join(map(str, ranks))}}} of {items}" for items, ranks in found]
        used = any(list(ranks) == drawn.get(name) for _, ranks in found)
        parts.append(f"{name} {listed(lists)}{'' if used else ' (not the one drawn)'}")
    return said + "; ".join(parts) + "."


def area_words(areas: Sequence[Area]) -> str:
    """Say whether area and metric are the same numbers."""
    same = sum(area.agrees for area in areas)
    said = f"The filled area is the metric in {share(same, len(areas))} panels"
    other = [f"{a.name}: area {a.area:.4f}, metric {a.metric:.4f}" for a in areas if not a.agrees]
    return f"{said}: {'; '.join(other)}." if other else f"{said}."


def open_words(gap: float, rankings: int) -> str:
    """Say how OpenAUC, with one known class, stands to AUROC."""
    said = "OpenAUC, with the negatives as the one known class,"
    if gap <= 1e-12:
        return f"{said} equals AUROC on all {rankings} rankings and has no row of its own."
    return f"{said} differs from AUROC by up to {gap:.4f}."


def identical(values: Sequence[Values], families: Sequence[Mapping[str, str]]) -> str:
    """Say which families never order two rankings differently, not even by a tie."""
    names = list(dict.fromkeys(name for family in families for name in family.values()))
    same = []
    for one, other in combinations(names, 2):
        if all(
            _orders(own, family, one) == _orders(own, family, other)
            for own, family in zip(values, families, strict=True)
        ):
            same.append(f"{one} with {other}")
    return f"Always the same order: {listed(same)}."


def _orders(values: Values, family: Mapping[str, str], name: str) -> list[str]:
    return [shown_order(order_of(own)) for metric, own in values.items() if family[metric] == name]
