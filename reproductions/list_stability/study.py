"""The report: Theorem 2 with its exponents, the inequalities of StableAP, the checks of losses."""

from __future__ import annotations

import math
from dataclasses import asdict

from rankwise.report import Section, Table
from rankwise.theory import Mean, mean_of
from reproductions.frame import Report, Setting, Study
from reproductions.list_stability.figures import bound, exponents
from reproductions.list_stability.fits import Fit, exponent, fits
from reproductions.list_stability.lemma import limits
from reproductions.list_stability.measure import (
    BATCH,
    WIDTH,
    Measured,
    Plan,
    Twin,
    measure,
)
from reproductions.list_stability.words import conclusions, in_short, lemma_words, theorem_words
from reproductions.stability.losses import RATE

_DEFINITION = (
    "SOPRC, Definition 1: ε⁺ and ε⁻ are the mean distances ‖A(S) − A(S⁽ⁱ⁾)‖ of models trained on S "
    "and on S with example i drawn anew, a positive or a negative. Theorem 2: with η_t = C/t, "
    "β = 1/n⁺ and T ≤ N⁺, ε⁺ = O((Tn⁺)^(λ/(λ+1))/N⁺) and ε⁻ = O((Tn⁻)^(λ/(λ+1))/N⁻), "
    "λ = LC(1 + √(1 + β − β²)).",
    "The theorem is an upper bound: an exponent of T or n may be smaller, that of N must be −1 or "
    "less. L of Lemma 1 is the largest of L_w, L_v/n⁺, C_φB, G/2 and (1−π)B_ℓ/π. The entry Lη/N⁺ "
    "of its recurrence needs G in place of the printed G/2. Here every exponent is compared with "
    "the smallest L measured, the strictest reading.",
)
_INEQUALITIES = (
    "StableAP, Lemma 3: 1 ≤ mean w(r_i) ≤ q/2. Lemma 8: the risk with the weights w is at most q "
    "times that with w̃. Theorem 1: 1 − AP ≤ mean h̃(ρℓ_i/r_i) ≤ (q/2)·h(ρ·mean w(r_i)ℓ_i), for a "
    "surrogate ℓ ≥ ℓ₀₁. The document prints h with the exponent −1/2; its proof needs +1/2.",
)
_CHECKS = (
    "`rankwise.theory.check(loss)` measures the constants of any loss and says which claims hold. "
    "Constants are the largest values found, so lower bounds. Open: the change falls with n, but "
    "not yet as 1/n.",
)


def report(plan: Plan, measured: Measured, setting: Setting) -> Report:
    """Make the tables, figures and words of the report."""
    found = fits(measured)
    figures = {"figure": exponents(measured), "bound": bound(measured)}
    table = _fit_table(found)
    sections = [
        Section("Method", _method(plan, measured, setting)),
        Section("Summary", conclusions(measured, found)),
        Section(
            "How far one example moves the model",
            [*_DEFINITION, *theorem_words(measured, found)],
            [figures["figure"]],
            [table, _lambda_table(measured)],
        ),
        Section("Lemma 1", lemma_words(measured), [figures["bound"]], [_lemma_table(measured)]),
        Section("Inequalities of StableAP", _INEQUALITIES, [], [_tested_table(measured)]),
        Section("Any loss", _CHECKS, [], [_check_table(measured), _verdict_table(measured)]),
        Section("All numbers", [], [], [_twin_table(measured)]),
    ]
    return Report(
        title="Does one example move a model as far as Theorem 2 of SOPRC allows?",
        verdict=in_short(found),
        rows=[asdict(twin) for twin in measured.twins],
        summary={
            "constants": asdict(measured.constants),
            "fits": [asdict(fit) | {"verdict": fit.verdict} for fit in found],
            "lemma_1": [asdict(limit) for limit in limits(measured)],
            "inequalities": [asdict(each) for each in measured.tested],
            "checks": [asdict(each) for each in measured.checks],
        },
        sections=sections,
        figures=figures,
        table=table,
    )


def _method(plan: Plan, measured: Measured, setting: Setting) -> list[str]:
    t = plan.training(plan.scales[0], *BATCH)
    return [
        f"{setting} Twins: linear models of {t.width} features, classes N(±{t.shift / 2:g}, 1) "
        f"along one direction, {t.negatives_per_positive} negatives to a positive, η_t = C/t with "
        f"C = {_list(plan.scales)}, β = 1/n⁺, from a start of {t.warm_up} steps of cross-entropy "
        f"on other data; {plan.repeats} data sets, in each {plan.twins} replaced positives and "
        f"{plan.twins} replaced negatives, same start and same batches. T = {_list(plan.steps)}, "
        f"N⁺ = {_list(plan.n_positives)}, n⁺ = {_list(plan.batch_positives)}, "
        f"n⁻ = {_list(plan.batch_negatives)}, where not varied T = {max(plan.steps)}, "
        f"N⁺ = {min(plan.n_positives)}, n⁺ = {BATCH[0]} and n⁻ = {BATCH[1]}. SOPRC, StableAP and "
        "plain AP have τ = 1 and the printed gain. Intervals are 95 %, by the jackknife over the "
        "data sets.",
        f"Inequalities: {plan.draws:,} lists of 1 to 40 positives and negatives for each "
        "surrogate, scores uniform in [−1, 1], half of the lists with ties, ε from 0.01 to 1.",
        f"Checks: lists of {plan.sizes[0]:,} to {plan.sizes[-1]:,} scores in [−1, 1], the share "
        f"{RATE:g} positive, losses as in the study `stability`, and the gap between the highest "
        "negative and the mean of the positives, which one example moves.",
    ]


def _list(values: tuple[int, ...] | tuple[float, ...]) -> str:
    return ", ".join(f"{value:g}" for value in values)


def _fit_table(found: list[Fit]) -> Table:
    rows = [
        (
            f"{fit.loss}, C = {fit.scale:g}",
            f"{'ε' if fit.distance[0] == 'ε' else '‖v − v⁽ⁱ⁾‖'}{fit.distance[1]} in {_axis(fit)}",
            f"{fit.slope.value:+.2f} ± {fit.slope.half_width():.2f}",
            "–" if math.isnan(fit.predicted) else f"{fit.predicted:+.2f}",
            fit.verdict,
        )
        for fit in found
    ]
    header = ("loss", "distance", "fitted exponent", "Theorem 2, at most", "fitted is")
    return Table(header, rows, "Exponents of the distances of twin models, ± half of the interval.")


def _axis(fit: Fit) -> str:
    return fit.axis if fit.axis == "T" else fit.axis + fit.distance[1]


def _lambda_table(measured: Measured) -> Table:
    c = measured.constants
    rows = []
    for name, value in (
        ("L_w at distance 0.1", c.measured.smoothness_far),
        ("L_w at smaller distances, too", c.measured.smoothness),
        ("L of Lemma 1, without L_v", c.printed),
    ):
        powers = [f"{exponent(measured, scale, value):.3f}" for scale in measured.plan.scales]
        rows.append((name, f"{value:.3g}", *powers))
    for name, value in (
        ("B, largest loss", c.measured.value),
        ("G, largest gradient", c.measured.gradient),
        (f"C_φ times B, scores up to {WIDTH / 2:g}", c.interpolation * WIDTH / 2),
        ("(1−π)B_ℓ/π", c.largest_error),
    ):
        rows.append((name, f"{value:.3g}", *("" for _ in measured.plan.scales)))
    header = ("constant of SOPRC", "found", *(f"λ/(λ+1), C = {c:g}" for c in measured.plan.scales))
    return Table(header, rows, "Constants, and the exponent of Theorem 2 that each L gives.")


def _tested_table(measured: Measured) -> Table:
    rows = [
        (t.claim, t.surrogate, "yes" if t.assumed else "no", f"{t.lists:,}", f"{t.violations:,}",
         f"{t.tightest:.3f}")
        for t in measured.tested
    ]  # fmt: skip
    header = ("claim", "surrogate", "ℓ ≥ ℓ₀₁", "lists", "violations", "largest left/right")
    return Table(header, rows, "Both sides over random lists.")


def _check_table(measured: Measured) -> Table:
    rows = []
    for name, each in zip(_names(measured), measured.checks, strict=True):
        c, last, twins = each.constants, each.differences[-1], each.stabilities[-1]
        values = (c.value, c.gradient, c.smoothness, last.worst, each.factor)
        epsilons = f"{twins.positive.value:.1e}", f"{twins.negative.value:.1e}"
        rows.append((name, *(f"{value:.3g}" for value in values), *epsilons))
    n, total = measured.plan.sizes[-1], measured.checks[0].stabilities[-1].n_positives
    header = ("loss", "B", "G", "L", f"c at n = {n:,}", "a", "ε⁺", "ε⁻")
    return Table(header, rows, f"Constants found; ε for N⁺ = {total}, constant rate.")


def _verdict_table(measured: Measured) -> Table:
    rows = [
        (name, verdict.claim, verdict.word, verdict.found)
        for name, each in zip(_names(measured), measured.checks, strict=True)
        for verdict in each.verdicts
    ]
    return Table(("loss", "claim", "verdict", "found"), rows, "Verdicts.")


def _names(measured: Measured) -> list[str]:
    return [each.objective for each in measured.checks]


def _lemma_table(measured: Measured) -> Table:
    rows = [
        (
            f"{each.scale:g}",
            each.steps,
            f"{each.distance:.1e}",
            f"{each.bound:.1e}",
            f"{each.memory_distance:.1e}",
            f"{each.memory_bound:.1e}",
            f"{each.way:.2f}",
        )
        for each in limits(measured)
    ]
    header = ("C", "T", "ε⁺", "Lemma 1", "‖v − v⁽ⁱ⁾‖", "Lemma 1", "way of the model")
    return Table(header, rows, f"SOPRC, N⁺ = {min(measured.plan.n_positives)}.")


def _twin_table(measured: Measured) -> Table:
    fields = ("positive", "negative", "memory_positive", "memory_negative")
    groups: dict[tuple[object, ...], list[Twin]] = {}
    for t in measured.twins:
        key = (t.loss, t.scale, t.n_positives, t.batch_positives, t.batch_negatives, t.steps)
        groups.setdefault(key, []).append(t)
    rows = [
        (*key, *(_with_error(mean_of([getattr(t, field) for t in group])) for field in fields))
        for key, group in groups.items()
    ]
    header = ("loss", "C", "N⁺", "n⁺", "n⁻", "T", "ε⁺", "ε⁻", "‖v − v⁽ⁱ⁾‖⁺", "‖v − v⁽ⁱ⁾‖⁻")
    return Table(header, rows, "Means ± one standard error over the data sets.")


def _with_error(mean: Mean) -> str:
    return "–" if math.isnan(mean.value) else f"{mean.value:.1e} ± {mean.standard_error:.0e}"


study = Study(Plan, measure, report)
