"""Why the metric matters: the worked examples of three papers under every metric."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from rankwise.report import Figure, Section, Table
from reproductions.frame import Report, Setting, Study
from reproductions.why_the_metric_matters import tables, words
from reproductions.why_the_metric_matters.compare import (
    contradictions,
    order_of,
    pairs_of,
    shown_order,
)
from reproductions.why_the_metric_matters.example import Example
from reproductions.why_the_metric_matters.examples import FIGURE_1
from reproductions.why_the_metric_matters.figures import (
    draw_areas,
    draw_choices,
    draw_contradictions,
    draw_lists,
)
from reproductions.why_the_metric_matters.measure import Measured, Plan, measure
from reproductions.why_the_metric_matters.metrics import LOOKS_AT
from reproductions.why_the_metric_matters.numbers import Check, checks, exact


@dataclass(frozen=True)
class _Reading:
    """What the values say, computed once."""

    plan: Plan
    found: Measured

    @cached_property
    def values(self) -> list[dict[str, dict[str, float]]]:
        """The values of each example."""
        return [self.found.of(example) for example in self.plan.examples]

    @cached_property
    def counts(self) -> dict[tuple[str, str], int]:
        """How often each two families contradict each other."""
        return contradictions(self.plan.examples, self.found)

    @cached_property
    def pairs(self) -> int:
        """The number of pairs of rankings."""
        return sum(len(pairs_of(example)) for example in self.plan.examples)

    @cached_property
    def checks(self) -> list[Check]:
        """Every printed number beside ours."""
        both = zip(self.plan.examples, self.values, strict=True)
        return [check for example, values in both for check in checks(example, values)]

    @cached_property
    def overview(self) -> Table:
        """The choice of every metric in every example."""
        return tables.overview(self.plan.examples, self.values, list(LOOKS_AT))


def report(plan: Plan, found: Measured, setting: Setting) -> Report:
    """Make the tables, figures and words of the report."""
    reading = _Reading(plan, found)
    figures = {
        "figure": draw_contradictions(reading.counts, reading.pairs),
        "areas": draw_areas(found.areas),
    }
    sections = [_in_short(reading, setting)]
    for number, example in enumerate(plan.examples, start=1):
        values = reading.values[number - 1]
        lists, choices = draw_lists(example), draw_choices(example, values)
        figures |= {f"lists_{number}": lists, f"choices_{number}": choices}
        sections += _example(reading, number, lists, choices)
    sections += [
        Section(
            "Which metrics contradict each other",
            [
                words.most_opposed(reading.counts, reading.pairs),
                *words.most_alone(reading.counts),
                words.identical(reading.values, _families(reading)),
                words.open_words(found.open_gap, sum(len(e.rankings) for e in plan.examples)),
            ],
            [figures["figure"]],
        ),
        Section(
            "The metrics as areas",
            [
                "Figure 2.3 of the X-risk document, whose image is not in the text, drawn for "
                f"{plan.area_of.name} of the pAp@k paper.",
                words.area_words(found.areas),
            ],
            [figures["areas"]],
        ),
        Section(
            "What each metric looks at",
            tables=[Table(("metric", "looks at"), list(LOOKS_AT.items()))],
        ),
        Section(
            "Printed and exact numbers",
            [words.printed_words(reading.checks)],
            tables=[tables.printed_table(reading.checks)],
        ),
    ]
    return Report(
        title="Why the metric matters: the same scores under every metric",
        verdict=words.in_short(reading.counts, reading.pairs),
        rows=_rows(reading),
        summary=_summary(reading),
        sections=sections,
        figures=figures,
        table=reading.overview,
    )


def _in_short(reading: _Reading, setting: Setting) -> Section:
    examples = reading.plan.examples
    rankings = sum(len(example.rankings) for example in examples)
    families = {value.family for value in reading.found.values}
    return Section(
        "In short",
        [
            "A metric decides which model is the better one. Here are the worked examples of three "
            f"papers: {rankings} rankings in {len(examples)} examples, each under "
            f"{len(families)} metrics.",
            words.most_opposed(reading.counts, reading.pairs),
            words.printed_words(reading.checks),
            f"Seed {setting.seed}, which changes nothing: nothing here is random.",
        ],
        tables=[reading.overview],
    )


def _example(reading: _Reading, number: int, lists: Figure, choices: Figure) -> list[Section]:
    example, values = reading.plan.examples[number - 1], reading.values[number - 1]
    counts = f"{example.positives} positives, {example.negatives} negatives"
    rankings = "; ".join(f"{ranking.name}: {ranking.about}" for ranking in example.rankings)
    return [
        Section(
            f"{number}. {example.title}",
            [f"{example.source}. {counts}. {rankings}.", example.says],
            [lists],
        ),
        Section(
            f"{number}. What each metric prefers",
            [
                *words.first_choices(example, values),
                words.disagreement(example, values),
                *words.duels(example, values),
                words.claims_of(example, values),
                *_notes(reading, example),
            ],
            [choices],
            [tables.value_table(example, values)],
        ),
    ]


def _notes(reading: _Reading, example: Example) -> list[str]:
    notes = [example.note] if example.note else []
    if example.title == FIGURE_1.title:
        sizes = (reading.plan.smallest, reading.plan.largest)
        notes.append(words.solution_words(reading.found.solutions, sizes, example.rankings))
    left_out = [f"pAp@{k}" for k in example.ks if k > example.negatives]
    if left_out:
        notes.append(f"{left_out[0]} is left out: there are {example.negatives} negatives.")
    return notes


def _families(reading: _Reading) -> list[dict[str, str]]:
    """Return, for each example, the family of every metric."""
    return [
        {v.metric: v.family for v in reading.found.values if v.example == example.title}
        for example in reading.plan.examples
    ]


def _rows(reading: _Reading) -> list[dict[str, object]]:
    printed: dict[tuple[str, str, str], list[str]] = {}
    for check in reading.checks:
        key = (check.example.title, check.printed.ranking, check.printed.metric)
        printed.setdefault(key, []).append(check.printed.text)
    return [
        {
            "example": value.example,
            "ranking": value.ranking,
            "metric": value.metric,
            "value": value.value,
            "exact": str("" if exact(value.value) is None else exact(value.value)),
            "printed": ", ".join(printed.get((value.example, value.ranking, value.metric), [])),
        }
        for value in reading.found.values
    ]


def _summary(reading: _Reading) -> dict[str, object]:
    both = zip(reading.plan.examples, reading.values, strict=True)
    found = reading.found
    return {
        "orders": {
            example.title: {metric: shown_order(order_of(own)) for metric, own in values.items()}
            for example, values in both
        },
        "contradictions": {f"{a} and {b}": count for (a, b), count in reading.counts.items()},
        "printed": len(reading.checks),
        "printed_right": sum(check.right for check in reading.checks),
        "printed_otherwise": [
            f"{c.example.source}, {c.printed.metric} of {c.printed.ranking}: {c.verdict}"
            for c in reading.checks
            if not c.right
        ],
        "areas": {area.name: area.area for area in found.areas},
        "open_auc_minus_auroc": found.open_gap,
        "figure_1_lists": {
            name: [list(ranks) for _, ranks in lists] for name, lists in found.solutions.items()
        },
    }


study = Study(Plan, measure, report)
