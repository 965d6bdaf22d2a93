"""The report: the claims, what was done, what came out, where it differs."""

from __future__ import annotations

from dataclasses import asdict

from rankwise.report import Section, Table
from rankwise.theory import Mean
from reproductions.frame import Report, Setting, Study
from reproductions.stability.figures import bounded_differences, twin_distances
from reproductions.stability.losses import RATE, TAU
from reproductions.stability.measure import Measured, Plan, measure
from reproductions.stability.words import changes, conclusion, growth, in_short

_DIFFERENCES = (
    "StableAP, Definition 1 and Lemma 1: replacing one example changes the StableAP loss by at "
    "most O(1/n), as it does for cross-entropy, while for the AP loss with a surrogate in its "
    "denominator the bound is O(1) and does not fall with n. Both are orders "
    "without constants; the numbers here are ours.",
    "What is searched is a lower bound of the supremum: lists made to be fragile, one example "
    "moved to an end of the range. Where all positives score the same and one negative jumps over "
    "them, every term of plain AP has the same small denominator.",
    "StableAP's 1/n is asymptotic: h = √(ε² + x/(1+x)) is a square root until x falls below ε², so "
    "the slope goes from 0 over −½ to −1, and its constant has the factors ρ, w̃ and B.",
)

_STABILITY = (
    "SOPRC, Definition 1 and Theorem 2: models trained on S and on S with one example drawn anew "
    "stay within ε⁺ = O((T n⁺)^c/N⁺) for a positive and ε⁻ = O((T n⁻)^c/N⁻) for a negative, "
    "0 < c < 1. That is an order for SOPRC with learning rates falling as 1/t; the rate is "
    "constant here, the numbers are ours, and the other losses are shown for comparison.",
    "Losses differ in the size of their gradients, so distances are also given relative to the "
    "way the model has come from its start: a loss that hardly moves has a small absolute "
    "distance for that reason alone.",
)


def report(plan: Plan, measured: Measured, setting: Setting) -> Report:
    """Make the tables, figures and words of the report."""
    figures = {"figure": bounded_differences(measured), "twins": twin_distances(measured)}
    table = _slopes(measured)
    sections = [
        Section("Method", _method(measured, setting)),
        Section("Summary", [conclusion(measured)], [], [table]),
        Section(
            "How far one example moves the loss",
            [*_DIFFERENCES, *changes(measured)],
            [figures["figure"]],
        ),
        Section(
            "How far one example moves the trained model",
            [*_STABILITY, growth(measured)],
            [figures["twins"]],
        ),
        Section("All numbers", [], [], [_difference_table(measured), _twin_table(measured)]),
    ]
    slopes = {name: asdict(measured.slopes(name)) for name in measured.differences}
    return Report(
        title="How far does one example move the loss, and the trained model?",
        verdict=in_short(measured),
        rows=_rows(measured),
        summary={
            "training": asdict(measured.training),
            "slopes": slopes,
        },
        sections=sections,
        figures=figures,
        table=table,
    )


def _method(measured: Measured, setting: Setting) -> list[str]:
    plan, t = measured.plan, measured.training
    return [
        f"{setting} All losses with the printed gain (no annealing) and scores as they are.",
        f"Bounded differences: lists of {plan.sizes[0]:,} to {plan.sizes[-1]:,} scores in [−1, 1], "
        f"the share {RATE:g} positive; {plan.draws} random lists with a random replacement, and "
        "four fragile lists with six extreme ones each. StableAP, SOPRC and plain AP with Huber "
        f"width τ = {TAU:g}; StableAP with the mean of the list itself and ε = .1; SOPRC with "
        "M = 100 and a fresh v, started by the list; SmoothAP with τ = .01.",
        f"Twins: linear models of {t.width} features, classes N(±{t.shift / 2:g}, 1) along one "
        f"direction, {t.negatives_per_positive} negatives to a positive, batches of "
        f"{t.batch_positives} + {t.batch_negatives}, SGD with rate {t.learning_rate:g} from a "
        f"start of {t.warm_up} steps of cross-entropy on other data; {plan.repeats} data sets, in "
        f"each {t.twins} replaced positives and {t.twins} replaced negatives, same start and same "
        "batches. τ = 1 for StableAP, SOPRC and plain AP, .1 for SmoothAP; StableAP and SOPRC have "
        "the data set's prior, plain AP and SmoothAP the batch's.",
    ]


def _slopes(measured: Measured) -> Table:
    header = ("loss", "worst in n", "at the end", "random lists", "ε⁺ in N⁺", "ε⁻ in N⁺")
    rows = []
    for name in measured.differences:
        s = measured.slopes(name)
        values = (s.worst, s.worst_at_end, s.typical, s.positive, s.negative)
        rows.append((name, *(f"{value:+.2f}" for value in values)))
    caption = "Log–log slopes: −1 is O(1/n), 0 is O(1). At the end: between the two largest n."
    return Table(header, rows, caption)


def _difference_table(measured: Measured) -> Table:
    rows = [
        (name, f"{d.n:,}", f"{d.worst:.2g}", d.where, _with_error(d.typical))
        for name, differences in measured.differences.items()
        for d in differences
    ]
    header = ("loss", "n", "largest change", "found in", "random, mean ± standard error")
    return Table(header, rows, "Bounded differences.")


def _twin_table(measured: Measured) -> Table:
    rows = [
        (
            name,
            s.n_positives,
            s.steps,
            *map(
                _with_error,
                (s.positive, s.negative, s.relative_positive, s.relative_negative),
            ),
        )
        for name, stabilities in measured.stabilities.items()
        for s in stabilities
    ]
    header = ("loss", "N⁺", "steps", "ε⁺", "ε⁻", "ε⁺ / way", "ε⁻ / way")
    return Table(header, rows, "Twin distances, ± one standard error over the data sets.")


def _with_error(mean: Mean) -> str:
    return f"{mean.value:.1e} ± {mean.standard_error:.0e}"


def _rows(measured: Measured) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for name, differences in measured.differences.items():
        for d in differences:
            row = {"part": "bounded difference", "loss": name, "n": d.n, "worst": d.worst}
            rows.append(row | {"where": d.where} | _mean("typical", d.typical))
    for name, stabilities in measured.stabilities.items():
        for s in stabilities:
            row = {"part": "twins", "loss": name, "n_positives": s.n_positives, "steps": s.steps}
            for field in ("positive", "negative", "relative_positive", "relative_negative"):
                row |= _mean(field, getattr(s, field))
            rows.append(row)
    return rows


def _mean(name: str, mean: Mean) -> dict[str, object]:
    return {name: mean.value, f"{name}_error": mean.standard_error, f"{name}_count": mean.n}


study = Study(Plan, measure, report)
