"""The report: the claims, what was done, the gaps with their slopes, and the bounds beside them."""

from __future__ import annotations

import math
from dataclasses import asdict

from rankwise.report import Section, Table
from rankwise.theory import Mean, mean_of
from reproductions.frame import Report, Setting, Study
from reproductions.generalization import twins as twin_settings
from reproductions.generalization import words
from reproductions.generalization.analysis import (
    BOUNDS,
    DELTA,
    QUANTITIES,
    Bounded,
    Paired,
    against_plain_ap,
    bounded,
    examples_needed,
    predicted,
    slope,
)
from reproductions.generalization.figures import bounds, gaps
from reproductions.generalization.losses import AP_LOSSES, EPSILON, METRICS, PRIOR, SMOOTH_TAU, TAU
from reproductions.generalization.measure import Measured, measure
from reproductions.generalization.plan import AXES, LIST_NEGATIVES, LIST_POSITIVES, Plan
from reproductions.generalization.problems import Gaussian, Problem

_CLAIMS = (
    "SOPRC, Theorems 1 and 4: the expected gap is at most G(n⁺ε⁺ + n⁻ε⁻), with ε of order 1/N at a "
    "fixed number of steps (Theorem 2), and the excess risk of order N^(−(λ+1)/(2λ+1)), between "
    "1/N and 1/√N. StableAP, Lemma 9 and Theorems 2 and 3: with high probability the gap is of "
    "order √(1/n⁺ + 1/n⁻) for all scorers of a class at once. pAp@k, Theorem 2: likewise, with "
    "logarithms and the factors 1/γ. SOPRC and StableAP claim to generalize better than AP losses "
    "whose changes are not bounded so.",
)


def report(plan: Plan, measured: Measured, setting: Setting) -> Report:
    """Make the tables, figures and words of the report."""
    known, table = measured.problems
    found = bounded(measured)
    others = [loss for loss in AP_LOSSES if loss != "plain AP"]
    paired = against_plain_ap(measured, others)
    figures = {
        "figure": gaps(measured, known),
        "table": gaps(measured, table),
        "bounds": bounds(measured, found),
    }
    slopes = [_slopes(measured, problem) for problem in measured.problems]
    stable = words.of_stable_ap(found, plan.repeats)
    pairs = [words.of_pairs(paired, p.name, loss) for p in measured.problems for loss in others]
    sections = [
        Section("What the papers claim", _CLAIMS),
        Section("Method", _method(measured, setting)),
        Section("Summary", [words.of_slopes(measured, known, "lists"), *pairs[:2], stable[0]]),
        Section(
            f"The gap on {known.name}",
            [
                *(words.of_slopes(measured, known, axis) for axis in AXES),
                words.of_limits(measured.cells),
            ],
            [figures["figure"]],
            [slopes[0]],
        ),
        Section(
            f"The gap on {table.name}",
            [words.of_slopes(measured, table, axis) for axis in AXES],
            [figures["table"]],
            [slopes[1]],
        ),
        Section("The same metric: is the gap of a stable loss smaller?", pairs, [],
                [_paired_table(paired)]),
        Section("The bounds", [*stable, words.of_pap(found)], [figures["bounds"]],
                [_bound_table(found)]),
        Section("SOPRC's Theorem 1", words.of_twins(measured.twins), [], [_twin_table(measured)]),
        Section("All numbers", [], [], [_cell_table(measured)]),
    ]  # fmt: skip
    return Report(
        title="How fast does the gap of training and test risk fall?",
        verdict=words.in_short(paired),
        rows=_rows(measured, found),
        sections=sections,
        figures=figures,
        table=slopes[0],
        summary={
            "problems": [problem.name for problem in measured.problems],
            "bounds": [asdict(each) for each in found],
            "limit_offsets": [words.limit_offset(c) for c in measured.cells if c.limit],
            "pap_constant": words.pap_constant(found),
            "examples_needed": examples_needed(),
            "range": BOUNDS.range,
            "q": BOUNDS.q,
            "lemma_9_in_ranges": [each.lemma_9 / BOUNDS.range for each in found],
            "theorem_2": [each.theorem_2.total for each in found],
            "theorem_3": [each.theorem_3.total for each in found],
            "predicted": {axis: asdict(predicted(plan, axis, known.features)) for axis in AXES},
        },
    )


def _method(measured: Measured, setting: Setting) -> list[str]:
    plan, (known, table) = measured.plan, measured.problems
    t, shift = twin_settings, Gaussian().shift
    return [
        f"{setting} Scores are tanh(w·x) with ‖w‖ ≤ {plan.radius:g}. Every model minimizes its "
        f"training risk by {plan.steps} steps of Adam over the whole sample, from the difference "
        f"of the class means. {plan.repeats} independent samples of every size, the same for all "
        "losses; intervals are 95 %, by Student's distribution, over the samples. One in twenty "
        "such intervals misses the truth by chance.",
        f"Problems: {known.name}, {known.features} features, means {shift:g} apart, where w·x is "
        f"normal in closed form; and {table.name}, {table.features} features, whose rows are the "
        "population: samples are drawn with replacement.",
        f"Sizes: {min(plan.lists)} to {max(plan.lists)} lists of {LIST_POSITIVES} positives and "
        f"{LIST_NEGATIVES} negatives; or one list of {min(plan.sizes)} to {max(plan.sizes)} "
        f"positives with {plan.other} negatives; or of as many negatives with {plan.other} "
        "positives.",
        "The gap is the risk of fresh lists of the same length, of about "
        f"{plan.fresh:,} scores for each model, less the training risk. The expected gap is the "
        "mean over samples of the gap less that of the mean of the other samples' models, which "
        "is 0 in expectation: less noise, the same mean. Slopes are of the log of the mean on the "
        "log of the size; their intervals follow from the errors of the means.",
        f"Losses: printed gain, scores as they are; π = {PRIOR:g} for SOPRC and StableAP; Huber "
        f"width {TAU:g} for SOPRC, StableAP, plain AP and AUC; ε = {EPSILON:g}; SmoothAP with "
        f"τ = {SMOOTH_TAU:g}; pAp@k with k a tenth of the negatives.",
        f"The complexity of StableAP's Definition 2 is that of the same linear scorers on one "
        f"sample, {plan.signs} draws of the signs, the supremum by gradient ascent: a lower bound, "
        "so that a vacuous bound stays vacuous.",
        f"Theorem 1 of SOPRC: SGD with rate {t.LEARNING_RATE:g}, {t.STEPS} steps, batches of "
        f"{t.BATCH_POSITIVES} + {t.BATCH_NEGATIVES}, {t.NEGATIVES} negatives to a positive, "
        f"{t.TWINS} replaced positives and negatives of every data set; G is the largest norm of a "
        "gradient in training. Theorem 4 gives a rate without a constant.",
    ]


def _slopes(measured: Measured, problem: Problem) -> Table:
    quantities = [
        q for q in QUANTITIES if slope(measured, problem.name, "lists", "AUC", q) is not None
    ]
    header = ("loss", *(f"{quantity}, {axis}" for quantity in quantities for axis in AXES))
    rows: list[tuple[str, ...]] = [
        (
            loss,
            *(
                _with_half(slope(measured, problem.name, axis, loss, quantity))
                for quantity in quantities
                for axis in AXES
            ),
        )
        for loss in METRICS
    ]
    rates = [predicted(measured.plan, axis, problem.features) for axis in AXES]
    for name, field in (("1/N⁺ + 1/N⁻", "fast"), ("SOPRC, Theorem 4, λ = 1", "middle"),
                        ("√(1/n⁺ + 1/n⁻)", "slow"), ("pAp@k, Theorem 2", "pap")):  # fmt: skip
        found = [getattr(rate, field) for rate in rates]
        values = ["–" if math.isnan(value) else f"{value:+.2f}" for value in found]
        rows.append((name, *(values * len(quantities))))
    return Table(header, rows, f"Log–log slopes on {problem.name}; below, those of the rates.")


def _with_half(mean: Mean | None, form: str = "+.2f") -> str:
    return "–" if mean is None else f"{mean.value:{form}} ± {mean.half_width():{form.lstrip('+')}}"


def _paired_table(paired: list[Paired]) -> Table:
    rows = [
        (p.problem, p.axis, p.size, p.loss, _with_half(p.gap, "+.4f"), _with_half(p.test, "+.4f"))
        for p in paired
    ]
    header = ("problem", "axis", "size", "loss", "gap less plain AP's", "test less plain AP's")
    return Table(header, rows, "1 − AP, differences on the same samples with 95 % intervals.")


def _bound_table(found: list[Bounded]) -> Table:
    header = ("n⁺", "n⁻", "gap", "complexity", "Lemma 9", "1 − AP", "Theorem 2", "Theorem 3",
              "pAp@k, rate")  # fmt: skip
    rows = [
        (
            b.n_positives,
            b.n_negatives,
            _with_half(b.gap, "+.3f"),
            f"{b.complexity.value:.2f}",
            f"{b.lemma_9:,.0f}",
            f"{b.risk.value:.3f}",
            f"{b.theorem_2.total:,.0f}",
            f"{b.theorem_3.total:.1e}",
            f"{b.pap_rate:.2f}",
        )
        for b in found
    ]
    return Table(header, rows, f"StableAP's bounds at δ = {DELTA:g}; ranges are below 1.")


def _twin_table(measured: Measured) -> Table:
    rows = [
        (
            t.loss,
            t.n_positives,
            _with_half(mean_of(t.positive), ".3f"),
            _with_half(mean_of(t.negative), ".3f"),
            f"{t.gradient:.2f}",
            _with_half(mean_of(t.centered), "+.3f"),
            f"{t.bound:.2f}",
            f"{words.range_of(t.loss):.2f}",
        )
        for t in measured.twins
    ]
    header = ("loss", "N⁺", "ε⁺", "ε⁻", "G", "expected gap", "bound", "range of the loss")
    return Table(header, rows, "Stability, the gap of the same models, and G(n⁺ε⁺ + n⁻ε⁻).")


def _cell_table(measured: Measured) -> Table:
    header = ("problem", "axis", "size", "loss", "training", "test", "expected gap", "mean |gap|")
    rows = [
        (c.problem, c.axis, c.size, c.loss, f"{mean_of(c.train).value:.3f}",
         f"{mean_of(c.test).value:.3f}", _with_half(mean_of(c.centered), "+.4f"),
         _with_half(mean_of([abs(gap) for gap in c.gaps]), ".4f"))
        for c in measured.cells
    ]  # fmt: skip
    return Table(header, rows, "Risks and gaps, with 95 % intervals over the samples.")


def _rows(measured: Measured, found: list[Bounded]) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for c in measured.cells:
        row: dict[str, object] = {"part": "gap", "problem": c.problem, "axis": c.axis}
        row |= {"size": c.size, "loss": c.loss, "samples": len(c.train)}
        values = {"train": c.train, "test": c.test, "gap": c.gaps, "expected_gap": c.centered}
        values |= {"metric_gap": c.metric_gaps, "excess": c.excess, "limit": c.limit}
        for name, each in values.items():
            if each:
                row |= {name: mean_of(each).value, f"{name}_error": mean_of(each).standard_error}
        rows.append(row)
    for t in measured.twins:
        row = {"part": "twins", "axis": "positives", "size": t.n_positives, "loss": t.loss}
        gap = mean_of(t.centered)
        rows.append(row | {"expected_gap": gap.value, "expected_gap_error": gap.standard_error,
                           "bound": t.bound})  # fmt: skip
    for b in found:
        row = {"part": "bound", "axis": b.axis, "size": b.size, "loss": "StableAP"}
        rows.append(row | {"gap": b.gap.value, "bound": b.lemma_9})
    return rows


study = Study(Plan, measure, report)
