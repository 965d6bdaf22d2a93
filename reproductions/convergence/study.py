"""The report: fitted exponents beside Theorem 4 of StableAP and Theorem 3 of SOPRC."""

from __future__ import annotations

import math
from dataclasses import asdict

from rankwise.report import Section, Table
from rankwise.theory import Mean
from reproductions.convergence.comparisons import comparisons, floors, limits
from reproductions.convergence.constants import RADII
from reproductions.convergence.estimates import DECAY
from reproductions.convergence.figures import fixed, momentum, rates, sweeps
from reproductions.convergence.fits import Fit, fits, means, points, select, variants
from reproductions.convergence.measure import measure
from reproductions.convergence.plan import BATCH, LARGE, MOMENTUM, RATIO, Measured, Plan
from reproductions.convergence.words import (
    best_words,
    compared_words,
    conclusions,
    floor_words,
    in_short,
    lemma_words,
    pl_words,
)
from reproductions.frame import Report, Setting, Study

_STABLE = (
    "StableAP, Theorem 4: with α = C_α/√T, β = min{1 − 1/√2, 1/√(3L_u), C_β/√T} and λ = C_λ/√T, "
    "the mean of ‖∇e(θ_k)‖² over T steps is O(T^(−1/2)). Remark 7: larger batches help until the "
    "variance is small. It needs unbiased gradients (Assumption 3); a batch's h is concave in a "
    "mean, so that its gradient has a bias that no T removes.",
)
_SOPRC = (
    "SOPRC, Theorem 3: with η_t = (2t+1)/(μ(t+1)²) and β = 1/n⁺ the risk is within "
    "O(n⁺/T + 1/N⁺) of the best. Its proof (Eq. 78) has twice this step. The theorem says nothing "
    "of a constant η or of C/t. The excess is over the stationary point of the gradient with v "
    "held, which the proof takes for ∇F.",
)
_FIXED = (
    "SOPRC, Proposition 1: on a fixed model v has the mean E[φ] + (1−β)^T(v₁ − E[φ]) and a "
    "variance of at most β/(2−β) of that of φ. μ̂ is such an average, too. Proposition 4: the "
    "estimate is off by O(√(log(6n⁺/δ)/n⁺) + 2√(log(6n⁺/δ)/n⁻)); the predicted exponent is that of "
    "this bound over the batches measured, δ = .05.",
)
_MOMENTUM = (
    "StableAP, Algorithm 1: s = 0 is meant as heavy ball, s = 1 as Nesterov's. It prints γ_k where "
    "Lemma 14 needs γˢ_k; as printed, s = 0 keeps no momentum. α/(1−β), the step of Lemma 12, is "
    "the same for all β.",
)


def report(plan: Plan, measured: Measured, setting: Setting) -> Report:
    """Make the tables, figures and words of the report."""
    found = fits(measured)
    figures = {
        "figure": rates(measured),
        "sweeps": sweeps(measured),
        "fixed": fixed(measured),
        "momentum": momentum(measured),
    }
    table = _fit_table(found)
    sections = [
        Section("Method", _method(plan, measured, setting)),
        Section("Summary", conclusions(measured, found), [], [table]),
        Section(
            "Theorem 4 of StableAP",
            [
                *_STABLE,
                *compared_words(measured, "T"),
                *best_words(measured, "λ", ("memory", "gradient")),
                *best_words(measured, "n⁺", ("gradient", "excess")),
                *lemma_words(measured),
            ],
            [figures["figure"], figures["sweeps"]],
            [_table(measured, name) for name in ("T", "n⁺", "λ", "β")],
        ),
        Section("Heavy ball and Nesterov", [*_MOMENTUM, *compared_words(measured, "s")],
                [figures["momentum"]], [_table(measured, "s")]),
        Section(
            "Theorem 3 of SOPRC",
            [*_SOPRC, *pl_words(measured), *best_words(measured, "β of v, SOPRC", ("memory",))],
            [],
            [
                *(_table(measured, n) for n in ("T, SOPRC", "n⁺, SOPRC", "β of v, SOPRC")),
                _constants_table(measured),
            ],
        ),
        Section("A fixed model", [*_FIXED, *floor_words(measured)], [figures["fixed"]],
                [_fixed_table(measured)]),
    ]  # fmt: skip
    return Report(
        title="Do StableAP and SOPRC converge at the rates of their theorems?",
        verdict=in_short(found),
        rows=[asdict(row) for row in measured.rows],
        summary={
            "fits": [asdict(fit) | {"verdict": fit.verdict} for fit in found],
            "comparisons": [asdict(each) for each in comparisons(measured)],
            "floors": [asdict(each) | {"ratio": each.ratio} for each in floors(measured)],
            "lemmas": [asdict(each) for each in limits(measured)],
            "constants": [asdict(each) for each in measured.constants],
            "fixed_model": [asdict(each) for each in measured.estimates],
        },
        sections=sections,
        figures=figures,
        table=table,
    )


def _method(plan: Plan, measured: Measured, setting: Setting) -> list[str]:
    return [
        f"{setting} {plan.repeats} data sets of {plan.n_positives} positives N(μ, 1) and "
        f"{RATIO * plan.n_positives} negatives N(0, 1) in {plan.width} dimensions, means "
        f"{plan.shift:g} apart; on each {plan.chains} trainings of a linear model from one start "
        f"of norm 1, averaged. Batches are drawn with replacement, {RATIO} negatives a positive, "
        f"n⁺ = {BATCH} where not said otherwise, or {LARGE}; T = {plan.steps} where not varied.",
        f"StableAP: a = 1, t = 2, τ = 1, C_α = {plan.rate_scale:g}, C_β = {plan.momentum_scale:g}, "
        f"C_λ = {plan.lambda_scale:g}; over s, β = {MOMENTUM:g}. SOPRC: τ = 1 and 0.1, "
        f"M = {plan.points}, constant η = {plan.rate:g}, C = {plan.inverse_scale:g}. Both with the "
        "fixed gain and scale. Risk, gradient, μ⁺ and v are computed on all data, at "
        f"{plan.looks} steps of a training. Weights and v are held in the gradient, as in both "
        "algorithms.",
        "Intervals are 95 %, over data sets; those of exponents by the jackknife. Exponents are of "
        "the means, fitted on logarithmic axes, for the mean of v over T on a half-logarithmic one "
        f"(log(1 − β) with β = {DECAY:g}). μ is the smallest ‖∇F‖²/(F − F*) at points "
        f"{', '.join(f'{r:g}' for r in RADII)} from the stationary one. N⁺ is not varied. In "
        "Lemmas 14 and 15 G² + κ² is the largest mean ‖g_k‖², φ_f the largest ‖x⁺‖, κ_μ² the "
        "largest variance of a batch's mean; μ̂ starts at the first of them, which adds κ_μ²/(λT).",
    ]


def _fit_table(found: list[Fit]) -> Table:
    rows = [
        (
            fit.source,
            f"{fit.quantity} in {fit.axis}",
            fit.variant,
            _pair(fit.slope, "+.2f"),
            "–" if math.isnan(fit.predicted) else f"{fit.kind} {fit.predicted:+.2f}",
            fit.verdict,
        )
        for fit in found
    ]
    header = ("claim", "quantity", "variant", "fitted exponent", "predicted", "verdict")
    return Table(header, rows, "Exponents, ± half of the 95 % interval.")


def _table(measured: Measured, experiment: str) -> Table:
    rows = []
    fields = ("gradient", "gradient_end", "excess", "memory")
    for variant in variants(measured, experiment):
        lines = select(measured, experiment, variant)
        columns = [means([(r.x, r.repeat, getattr(r, field)) for r in lines]) for field in fields]
        rows += [
            (variant, f"{x:g}", *(_pair(column[x], ".1e") for column in columns))
            for x in columns[0]
        ]
    name = experiment.partition(",")[0]
    loss = "SOPRC" if experiment.endswith("SOPRC") else "StableAP"
    memory = "squared error of v" if loss == "SOPRC" else "(μ̂ − μ⁺)²"
    header = ("variant", name, "‖∇‖²", "‖∇‖² at the end", "excess risk", memory)
    return Table(header, rows, f"{loss} against {name}, ± half of the interval.")


def _constants_table(measured: Measured) -> Table:
    rows = [
        (
            each.repeat + 1,
            f"{each.mu:.3f}",
            f"{each.lipschitz_u:.3f}",
            f"{each.ended:.0e}",
            f"{3 / (4 * each.mu):.2f}",
            f"{3 / (2 * each.mu):.2f}",
        )
        for each in measured.constants
    ]
    header = ("data set", "μ", "L_u", "‖∇‖² of the stationary point", "η₁", "η₁ of the proof")
    return Table(header, rows, "Constants of the data sets.")


def _fixed_table(measured: Measured) -> Table:
    rows = [
        (claim, f"{x:.3g}", _pair(mean, ".2e"))
        for claim in dict.fromkeys(each.claim for each in measured.estimates)
        for x, mean in means(points(measured, claim)).items()
    ]
    return Table(("quantity", "β/(2−β), T or n⁺", "mean"), rows, "A fixed model.")


def _pair(mean: Mean, form: str) -> str:
    return f"{mean.value:{form}} ± {mean.half_width():{form.replace('+', '')}}"


study = Study(Plan, measure, report)
