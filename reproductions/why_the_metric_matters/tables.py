"""The tables of the report."""

from __future__ import annotations

from collections.abc import Sequence

from rankwise.report import Table
from reproductions.why_the_metric_matters.compare import order_of, shown_order
from reproductions.why_the_metric_matters.example import Example
from reproductions.why_the_metric_matters.numbers import Check, shown
from reproductions.why_the_metric_matters.words import Values, chosen_by, short


def overview(
    examples: Sequence[Example], all_values: Sequence[Values], families: Sequence[str]
) -> Table:
    """Return what every metric prefers in every example, with the first k of the paper."""
    rows = [
        (
            family,
            *(
                _choice(example, values, family)
                for example, values in zip(examples, all_values, strict=True)
            ),
        )
        for family in families
    ]
    titles = " ".join(f"{number}: {example.title}" for number, example in enumerate(examples, 1))
    header = ("metric", *(str(number) for number in range(1, len(examples) + 1)))
    key = "What each metric prefers. Two names: both alike; =: no preference; k: the paper's first."
    return Table(header, rows, f"{key} {titles}")


def _choice(example: Example, values: Values, family: str) -> str:
    start = family.replace("@k", f"@{example.ks[0]}")
    for metric, own in values.items():
        choice = chosen_by(example, own)
        if short(metric) == start and choice is not None:
            return " ".join(choice) or "="
    return "–"


def value_table(example: Example, values: Values) -> Table:
    """Return the exact values, and the order that each metric puts the rankings in."""
    names = [ranking.name for ranking in example.rankings]
    rows = [
        (
            metric,
            *(shown(own.get(name)) for name in names),
            shown_order(order_of(own)) if len(own) > 1 else "–",
        )
        for metric, own in values.items()
    ]
    caption = "Exact values: fractions, or five decimals where a value is not a simple fraction."
    return Table(("metric", *names, "order"), rows, caption)


def printed_table(checks: Sequence[Check]) -> Table:
    """Return every printed number beside the exact one."""
    rows = [
        (
            f"{c.example.paper}: {c.printed.metric} of {c.printed.ranking}",
            c.printed.text,
            shown(c.value),
            c.verdict,
        )
        for c in checks
    ]
    return Table(("number", "printed", "exact", "verdict"), rows)
