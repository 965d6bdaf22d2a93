"""The report of the surrogates under label noise: means, paired differences, a figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import torch

from rankwise.report import Figure, Section, Table
from rankwise.theory import Mean, mean_of
from reproductions.drawing import canvas, plain, png
from reproductions.frame import Report, Setting, Study
from reproductions.label_noise.measure import PROBLEMS, SURROGATES, Fit, Plan, measure
from reproductions.sentences import difference, share, standing

SYMMETRIC = "sigmoid"
OTHERS = tuple(name for name in SURROGATES if name != SYMMETRIC)
_MARKERS = "os^Dvx"
_CLAIM = (
    "Let a share α of the labeled positives be negative and a share β of the labeled negatives be "
    "positive. Where ℓ(x) + ℓ(−x) = K, the AUC risk of the labels is (1 − α − β)·R + K(α + β)/2, "
    "with R the risk of the true classes (Charoenphakdee, Lee and Sugiyama 2019): both have the "
    "same minimum. The sigmoid is symmetric everywhere, the barrier hinge for |x| up to its "
    "margin; the other surrogates are not.",
    "The papers' data are others, and their numbers are not repeated here.",
)


def report(plan: Plan, fits: list[Fit], setting: Setting) -> Report:
    """Make the tables, the figure and the words of the report."""
    means, pairs, figure = mean_table(plan, fits), pair_table(plan, fits), _figure(plan, fits)
    return Report(
        title="When do symmetric surrogates help against wrong labels?",
        verdict=verdict(plan, fits),
        rows=[asdict(fit) for fit in fits],
        summary={
            "noises": plan.noises(),
            "apart": {
                problem: [
                    {name: asdict(apart(fits, problem, noise, name)) for name in OTHERS}
                    for noise in range(len(plan.noises()))
                ]
                for problem in PROBLEMS
            },
        },
        sections=[
            Section("Claim", _CLAIM),
            Section("Method", [_method(plan, setting)]),
            Section("Results", outcome(plan, fits), [figure], [means, pairs]),
        ],
        figures={"figure": figure},
        table=pairs,
    )


def verdict(plan: Plan, fits: list[Fit]) -> str:
    """Count where the sigmoid is higher and lower, with and without flipped labels."""
    said = []
    for noisy in (True, False):
        found = [
            standing(apart(fits, problem, noise, name))
            for problem in PROBLEMS
            for noise in _settings(plan, noisy=noisy)
            for name in OTHERS
        ]
        where = "With flipped labels" if noisy else "Without"
        said.append(
            f"{where} the test AUC of the sigmoid is higher than that of another surrogate in "
            f"{share(found.count('higher'), len(found))} comparisons, and lower in "
            f"{found.count('lower')}."
        )
    return " ".join(said)


def outcome(plan: Plan, fits: list[Fit]) -> list[str]:
    """Say for every problem what the sigmoid gains at the largest noise of both classes."""
    both = [min(pair) for pair in zip(plan.positives_flipped, plan.negatives_flipped, strict=True)]
    noise = both.index(max(both))
    return [
        f"{problem}, flipped {plan.noises()[noise]}: the sigmoid is "
        + "; ".join(
            f"{standing(mean)} against {name} ({difference(mean)})"
            for name, mean in ((name, apart(fits, problem, noise, name)) for name in OTHERS)
        )
        + "."
        for problem in PROBLEMS
    ]


def apart(fits: Sequence[Fit], problem: str, noise: int, other: str) -> Mean:
    """Return the mean over repeats of the AUC of the sigmoid less that of another surrogate."""
    ours, theirs = (_by_repeat(fits, problem, noise, name) for name in (SYMMETRIC, other))
    return mean_of([ours[repeat] - theirs[repeat] for repeat in ours])


def mean_table(plan: Plan, fits: list[Fit]) -> Table:
    """Return the mean test AUC of every surrogate."""
    rows = [
        (
            problem,
            name,
            *(
                f"{mean_of(list(_by_repeat(fits, problem, noise, loss).values())).value:.3f}"
                for loss in SURROGATES
            ),
        )
        for problem in PROBLEMS
        for noise, name in enumerate(plan.noises())
    ]
    note = "Mean test AUC over the repeats, by the true labels."
    return Table(("data", "flipped", *SURROGATES), rows, note)


def pair_table(plan: Plan, fits: list[Fit]) -> Table:
    """Return the paired differences of the sigmoid and every other surrogate."""
    rows = [
        (
            problem,
            name,
            *(difference(apart(fits, problem, noise, other)) for other in OTHERS),
        )
        for problem in PROBLEMS
        for noise, name in enumerate(plan.noises())
    ]
    note = "Test AUC of the sigmoid less that of the surrogate, ± half of the 95 % interval."
    return Table(("data", "flipped", *OTHERS), rows, note)


def _settings(plan: Plan, *, noisy: bool) -> list[int]:
    pairs = zip(plan.positives_flipped, plan.negatives_flipped, strict=True)
    return [number for number, pair in enumerate(pairs) if any(pair) == noisy]


def _by_repeat(fits: Sequence[Fit], problem: str, noise: int, loss: str) -> dict[int, float]:
    wanted = (problem, noise, loss)
    return {f.repeat: f.auc for f in fits if (f.problem, f.noise, f.loss) == wanted}


def _method(plan: Plan, setting: Setting) -> str:
    return (
        f"{setting} A linear scorer from 0, {plan.steps} full-batch steps of Adam at .05 on the "
        "pairwise loss, without weight decay. The generated data are two normal classes of "
        f"{plan.items:,} rows to train on and {plan.test_items:,} to test on; with outliers "
        f"{plan.outliers:.0%} of the training rows are noise ten times as wide. Breast cancer is "
        "the set of scikit-learn, half of it to train on. Features are standardized, labels of the "
        f"training rows are flipped at random; {plan.repeats} repeats, in each the same data and "
        "flips for every surrogate. Nothing was tuned."
    )


def _figure(plan: Plan, fits: list[Fit]) -> Figure:
    figure, axes = canvas(1, len(PROBLEMS), height=3.4)
    for place, problem in zip(axes[0], PROBLEMS, strict=True):
        for marker, name in zip(_MARKERS, SURROGATES, strict=True):
            settings = range(len(plan.noises()))
            values = [
                torch.tensor(list(_by_repeat(fits, problem, noise, name).values())).mean().item()
                for noise in settings
            ]
            place.plot(list(settings), values, marker=marker, markersize=4, lw=1, label=name)
        pairs = zip(plan.positives_flipped, plan.negatives_flipped, strict=True)
        place.set_xticks(list(settings), [f"{a:g} / {b:g}" for a, b in pairs])
        plain(place, title=problem, x="share flipped: positives / negatives", y="test AUC")
    axes[0, 0].legend(fontsize=7, frameon=False)
    described = "Test AUC of six surrogates by the shares of flipped labels, for three data sets."
    return Figure(png(figure), described, "Means over the repeats.")


study = Study(Plan, measure, report)
