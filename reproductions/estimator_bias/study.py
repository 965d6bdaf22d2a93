"""The report: the claim, what was done, what came out, where it differs."""

from __future__ import annotations

from dataclasses import asdict

from rankwise.report import Section, Table
from rankwise.theory import Bias, InterpolationError
from reproductions.estimator_bias.figures import estimates, interpolation
from reproductions.estimator_bias.measure import (
    PRIOR,
    RATES,
    Measured,
    Plan,
    Verdict,
    measure,
    verdicts,
)
from reproductions.estimator_bias.words import claim_words, conclusion, levels, restored
from reproductions.frame import Report, Setting, Study

_CLAIM = (
    "Proposition 2 of SOPRC: with batches whose share of positives π₀ is not the data set's π, the "
    "expected batch AP loss is the true risk 1 − AUPRC times a factor that moves with π₀, while "
    "the estimate with the prior and the quantile vector v tends to the true risk for every π₀.",
    "The paper prints the factor as 1 + (π₀ − π)H with H > 0, and says the AP loss grows with π₀. "
    "Its own Eq. 34, worked out, gives 1 + (π − π₀)H: fewer positives, larger loss. That sign is "
    "what is checked here.",
    "The paper gives its results as figures without numbers, and no batch size, β or M; the "
    "comparison is therefore with its claims in words.",
)

_INTERPOLATION = (
    "Proposition 3 bounds the error of straight lines through exact quantiles by ‖p''‖∞/(8(n⁺)²). "
    "For normal and beta scores p'' is unbounded at the ends, so the bound says something only "
    "inside; it is taken between the quantiles .1 and .9 here.",
    "φ as in Algorithm 2 averages two chords, which bends a second time: its bound is twice as "
    "large, p''/(4(n⁺)²), of the same order.",
    "The proposition assumes that the expected scores of a batch sit at exact quantiles. Where "
    "they do not, E[φ], the vector v gathers around, is off by the order 1/n⁺ instead of 1/(n⁺)², "
    "and a small M adds its own step of 1/M.",
)


def report(plan: Plan, measured: Measured, setting: Setting) -> Report:
    """Make the tables, figures and words of the report."""
    checked = verdicts(measured.biases)
    table = _claims(checked)
    figures = {"figure": estimates(measured), "interpolation": interpolation(measured)}
    sections = [
        Section("Claim", _CLAIM),
        Section("Method", _method(plan, setting)),
        Section("Results", [conclusion(measured, checked)], [figures["figure"]], [table]),
        Section(
            "How well φ restores the quantiles",
            [*_INTERPOLATION, restored(measured)],
            [figures["interpolation"]],
            [_errors(measured)],
        ),
        Section("All numbers", [], [], [_details(measured)]),
    ]
    return Report(
        title="Does the sampling rate of a batch bias the estimate of AUPRC?",
        verdict=claim_words(checked),
        rows=_rows(measured),
        summary={
            "prior": PRIOR,
            "rates": RATES,
            "verdicts": [asdict(v) | {"holds": v.holds} for v in checked],
            "levels": levels(measured, checked),
        },
        sections=sections,
        figures=figures,
        table=table,
    )


def _method(plan: Plan, setting: Setting) -> list[str]:
    return [
        f"Three populations of {plan.population:,} scores, π = {PRIOR}: binormal N(1, 1) against "
        "N(0, 1), bibeta B(5, 2) against B(2, 5), uniform U(.5, 1.5) against U(0, 1). From each, "
        f"batches of {_and(plan.sizes)} scores with a share π₀ of {_and(RATES)} positives, "
        f"without replacement; {plan.draws} draws for each, seed {setting.seed}"
        f"{', a quick run' if setting.quick else ''}. The scores are fixed, nothing is trained.",
        "Three estimates of the risk, with the 0–1 loss everywhere: batch AP is 1 − AP of the "
        "batch; prior only has the prior π but the batch's own true positive rate; SOPRC has the "
        "prior and the true positive rate from v (β = .05, M = 1 000).",
        f"The draws come in {min(plan.chains, plan.draws)} independent chains, each with its own v "
        f"and {plan.burn_in} batches before the first one counts. Standard errors and 95 % "
        "intervals are those of the means of the chains (Student's t), since estimates with the "
        "same v depend on each other.",
    ]


def _claims(checked: list[Verdict]) -> Table:
    header = (
        "law",
        "batch",
        "true risk",
        f"AP bias, {min(RATES):g}",
        f"AP bias, {max(RATES):g}",
        "prior only",
        "SOPRC",
        "ratio",
        "±",
        "holds",
    )
    rows = [
        (
            v.law,
            v.size,
            f"{v.truth:.3f}",
            f"{v.batch_ap[0]:+.3f}",
            f"{v.batch_ap[1]:+.3f}",
            f"{v.largest['prior only']:.3f}",
            f"{v.largest['SOPRC']:.3f}",
            f"{v.ratio:.3f}",
            f"{v.error:.3f}",
            v.holds,
        )
        for v in checked
    ]
    return Table(
        header,
        rows,
        "Bias of batch AP at the lowest and at the highest sampling rate; largest |bias| of the "
        "other two; largest ratio of the biases at one rate (± one standard error), to be at most "
        ".2.",
    )


def _errors(measured: Measured) -> Table:
    rows = [
        (
            name,
            e.n,
            e.points,
            *(f"{x:.2g}" for x in (e.bound, e.chords, e.phi, e.expected, e.single)),
        )
        for name, errors in measured.by_count.items()
        for e in errors
    ]
    header = ("law", "n⁺", "M", "bound", "chords", "φ", "E[φ]", "one batch")
    return Table(header, rows, "Bound, chords, φ: largest between .1 and .9. Others: mean error.")


def _details(measured: Measured) -> Table:
    header = ("law", "batch", "π₀", "estimator", "mean", "bias ± 95 %", "sd of a draw")
    rows = [
        (
            name,
            b.size,
            f"{b.rate:g}",
            b.estimator,
            f"{b.estimate.value:.4f}",
            f"{b.bias:+.4f} ± {b.estimate.half_width():.4f}",
            f"{b.spread:.4f}",
        )
        for name, biases in measured.biases.items()
        for b in biases
    ]
    return Table(header, rows)


def _rows(measured: Measured) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for name, biases in measured.biases.items():
        rows += [{"part": "bias", "law": name} | _bias_row(b) for b in biases]
    for part in (measured.by_count, measured.by_points):
        for name, errors in part.items():
            rows += [{"part": "interpolation", "law": name} | _error_row(e) for e in errors]
    return rows


def _bias_row(b: Bias) -> dict[str, object]:
    return {
        "estimator": b.estimator,
        "rate": b.rate,
        "size": b.size,
        "draws": b.draws,
        "truth": b.truth,
        "mean": b.estimate.value,
        "bias": b.bias,
        "standard_error": b.estimate.standard_error,
        "half_width_95": b.estimate.half_width(),
        "spread": b.spread,
    }


def _error_row(e: InterpolationError) -> dict[str, object]:
    return asdict(e)


def _and(values: tuple[float, ...]) -> str:
    words = [f"{value:,}" if isinstance(value, int) else f"{value:g}" for value in values]
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else words[0]


study = Study(Plan, measure, report)
