"""Sentences on the outcome, each made of the numbers of the run."""

from __future__ import annotations

from rankwise.theory import Mean
from reproductions.convergence.comparisons import NAMES, comparisons, floors, limits
from reproductions.convergence.fits import Fit, means, select, variants
from reproductions.convergence.plan import BATCH, Measured
from reproductions.sentences import share, standing


def in_short(found: list[Fit]) -> str:
    """Return the answer in one sentence."""
    expected, good = _predicted(found)
    agreed = share(len(good), len(expected))
    return f"Training settles as fast as the papers predict in {agreed} measured cases."


def _predicted(found: list[Fit]) -> tuple[list[Fit], list[Fit]]:
    """Return the fits that a paper predicts, and those of them that agree."""
    expected = [fit for fit in found if fit.verdict != "no prediction"]
    return expected, [fit for fit in expected if fit.verdict.startswith("agrees")]


def conclusions(measured: Measured, found: list[Fit]) -> list[str]:
    """Return the summary."""
    expected, good = _predicted(found)
    said = [f"Of the exponents that a paper predicts, {share(len(good), len(expected))} agree."]
    said += [
        f"{fit.source}, {fit.quantity} in {fit.axis} ({fit.variant}): {slope_words(fit)}, "
        f"{fit.verdict}."
        for fit in expected
        if not fit.verdict.startswith("agrees")
    ]
    return [*said, *floor_words(measured)]


def slope_words(fit: Fit) -> str:
    """Write a fitted exponent beside the predicted one."""
    return (
        f"fitted {fit.slope.value:+.2f} ± {fit.slope.half_width():.2f}, "
        f"predicted {fit.kind} {fit.predicted:+.2f}"
    )


def floor_words(measured: Measured) -> list[str]:
    """Return what the bias of a batch's gradient leaves of ‖∇‖², however long the training."""
    said = []
    for floor in floors(measured):
        known = floor.bias.value > floor.bias.half_width()
        verb = "is above" if known else "is not known to differ from"
        expected = (
            f"{floor.loss}, n⁺ = {BATCH}: the squared bias of a batch's gradient at the stationary "
            f"point is {_plus(floor.bias)} and {verb} 0; after {max(measured.plan.horizons)} steps "
            f"‖∇‖² is {_plus(floor.gradient)}"
        )
        said.append(expected + (f", {floor.ratio:.1f} times the squared bias." if known else "."))
    return said


def compared_words(measured: Measured, part: str) -> list[str]:
    """Return the differences of one part of the report."""
    return [
        f"{each.between}: {each.quantity} differs by {_signed(each.difference)}, "
        f"{standing(each.difference)}."
        for each in comparisons(measured)
        if each.part == part
    ]


def best_words(measured: Measured, experiment: str, fields: tuple[str, ...]) -> list[str]:
    """Return where a quantity is smallest and largest over the values of an experiment."""
    said, axis = [], experiment.partition(",")[0]
    for field in fields:
        for variant in variants(measured, experiment):
            rows = select(measured, experiment, variant)
            by_place = means([(r.x, r.repeat, getattr(r, field)) for r in rows])
            best, worst = (pick(by_place, key=lambda x: by_place[x].value) for pick in (min, max))
            name = "squared error of v" if "SOPRC" in experiment else NAMES[field]
            said.append(
                f"Over {axis}, {variant}: {name} is smallest at {best:g}, "
                f"{_plus(by_place[best])}, and largest at {worst:g}, {_plus(by_place[worst])}."
            )
    return said


def lemma_words(measured: Measured) -> list[str]:
    """Return the bounds of Lemmas 14 and 15 beside what was measured."""
    return [
        f"{each.lemma}: above the bound in {share(each.violations, each.means)} means; "
        f"measured/bound is {each.smallest:.1e} to {each.largest:.1e}."
        for each in limits(measured)
    ]


def pl_words(measured: Measured) -> list[str]:
    """Return the constant of the PL condition and the first step that it makes."""
    values = [each.mu for each in measured.constants]
    mu, lower = min(values), sum(each.lower > 0 for each in measured.constants)
    first = 3 / (4 * mu)
    return [
        f"The smallest ratio of the PL condition is μ = {mu:.3f} to {max(values):.3f} by data set; "
        f"in {share(lower, len(values))} data sets a point looked at has less risk than the "
        f"stationary one. The smallest μ is used: the first step is η₁ = {first:.2f} as printed, "
        f"{2 * first:.2f} in the proof."
    ]


def _plus(mean: Mean) -> str:
    return f"{mean.value:.1e} ± {mean.half_width():.0e}"


def _signed(mean: Mean) -> str:
    return f"{mean.value:+.1e} ± {mean.half_width():.0e}"
