"""The report: who ranks rare classes best, by how much, and how that was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from rankwise.report import Figure, Section
from rankwise.theory import mean_of
from reproductions.drawing import COLORS, canvas, plain, png
from reproductions.frame import Report, Setting, Study
from reproductions.longtail.measure import Cell, Plan, Tuned, measure, split_of
from reproductions.longtail.methods import OURS
from reproductions.longtail.tables import (
    best_other,
    by_repeat,
    choices,
    differences,
    main_table,
    others,
)
from reproductions.sentences import listed

_DIFFERS = (
    "The paper makes several binary problems of each data set and splits them 8:1:1; it does not "
    "say which classes are positive, nor the imbalance factor, the batch, the steps, τ or ε. Here "
    "a problem is one class (of CIFAR-100: five) against all the others, the imbalance factor is "
    "100, and the images are those of the sets or subsets at hand.",
    "Fashion-MNIST is long-tailed in all three parts, as in the paper. The CIFAR subsets are too "
    "small for that: a tail of the test part would be one image. There only the training images "
    "are long-tailed, and all classes have as many images to validate and to test on.",
    "The paper trains a ResNet-18 by SGD; here a network of four convolutions by AdamW, whose rate "
    "depends less on the scale of a loss, with a tenth of the rate in the last quarter.",
    "“CIFAR-10, 2 %” is the protocol of LibAUC's notebook on average precision: the last five "
    "classes are positive, 2 % of the training images, and validation and test are left balanced.",
)


def report(plan: Plan, found: tuple[list[Tuned], list[Cell]], setting: Setting) -> Report:
    """Make the tables, figures and words of the report."""
    tuned, cells = found
    figure = _figure(cells, plan)
    table, duel = main_table(cells, plan), differences(cells, plan)
    return Report(
        title="Long-tailed classification: Table 6 at this machine's scale",
        verdict=_verdict(cells, plan),
        rows=cells,
        summary=_summary(cells, plan, setting),
        sections=[
            Section("Average precision", [_first(cells, plan)], [figure], [table]),
            Section("Differences", [], [], [duel]),
            Section("Method", _method(plan, setting)),
            Section("What validation chose", [], [], [choices(tuned)]),
            Section("Area under the ROC curve", [], [], [others(cells, plan)]),
            Section("Where ours differs from the paper", _DIFFERS),
        ],
        figures={"figure": figure},
        table=table,
    )


def _verdict(cells: Sequence[Cell], plan: Plan) -> str:
    led: dict[str, list[str]] = {}
    for data_set in plan.data_sets:
        means = {m.name: mean_of(by_repeat(cells, data_set, m.name)).value for m in plan.methods}
        led.setdefault(max(means, key=lambda name: means[name]), []).append(data_set)
    words = [f"{name} on {listed(sets)}" for name, sets in led.items()]
    if len(led) == 1:
        return f"One loss finds rare images best on every set, on average: {words[0]}."
    return f"Which loss finds rare images best depends on the data: on average {listed(words)}."


def _first(cells: Sequence[Cell], plan: Plan) -> str:
    words = []
    for data_set in plan.data_sets:
        means = {m.name: mean_of(by_repeat(cells, data_set, m.name)).value for m in plan.methods}
        ranked = sorted(means, key=lambda name: -means[name])
        words.append(f"{data_set}: {', '.join(ranked[:3])}")
    return f"The three highest means of test AP. {'; '.join(words)}."


def _method(plan: Plan, setting: Setting) -> list[str]:
    sizes = []
    for problem in plan.problems:
        parts = problem.open(split_of(setting.seed, 0))
        counts = [
            f"{int(part.target.sum())} of {len(part)}"
            for part in (parts.train, parts.validation, parts.test)
        ]
        sizes.append(f"{problem.data_set}, {problem.name}: {', '.join(counts)}")
    where = "each set"
    if plan.tuned_sets is not None and plan.tuned_sets < len(plan.data_sets):
        where = f"{', '.join(plan.data_sets[: plan.tuned_sets])}, for the other sets as well"
    several = "".join(
        f" ({problem.tunings} seeds on {name}, where positives are fewest)"
        for name in plan.data_sets[: plan.tuned_sets]
        if (problem := plan.first_of(name)).tunings > 1
    )
    rates = " and ".join(f"{rate:g}" for rate in plan.rates)
    return [
        f"{setting} Positives of images, to train, to validate and to test on, in the first "
        f"split. {'; '.join(sizes)}.",
        f"Every method has {plan.steps} steps of {plan.size} images, a network of four "
        f"convolutions with {plan.width} to {8 * plan.width} channels from scratch, flips and "
        f"cuts, and four settings to choose from: the rates {rates}, with a linear head and with "
        "one of cosines (times 30; LDAM, whose margins are of cosines, has batches with and "
        "without extra positives instead; StableAP, with the linear head, scores in units of their "
        "spread and the published sigmoid of the outputs). They are chosen by validation AP on the "
        f"first problem of {where}, with a seed and a split of their own{several}; then "
        f"{plan.repeats} trainings with other seeds, each on a split of its own, the same for "
        "every method. Extra positives: "
        f"{plan.positives} in each batch. Ranking losses (all but CE, CB-CE, Focal and LDAM) start "
        f"with {plan.warm_start} steps of cross-entropy. Validation is every {plan.every} steps.",
    ]


def _summary(cells: Sequence[Cell], plan: Plan, setting: Setting) -> dict[str, object]:
    return {
        "runs": plan.asked(setting.seed),
        "methods": [asdict(method) for method in plan.methods],
        "rates": list(plan.rates),
        "problems": [f"{problem.data_set}: {problem.name}" for problem in plan.problems],
        "repeats": plan.repeats,
        "test_ap": {
            data_set: {
                method.name: asdict(mean_of(by_repeat(cells, data_set, method.name)))
                for method in plan.methods
            }
            for data_set in plan.data_sets
        },
        "best_other": {name: best_other(cells, plan, name) for name in plan.data_sets},
    }


def _figure(cells: Sequence[Cell], plan: Plan) -> Figure:
    figure, axes = canvas(1, len(plan.data_sets), height=3.6)
    names = [method.name for method in plan.methods]
    for place, data_set in zip(axes[0], plan.data_sets, strict=True):
        for row, name in enumerate(names):
            values = [100 * value for value in by_repeat(cells, data_set, name)]
            color = COLORS[2] if name in OURS else COLORS[1]
            place.plot(values, [row] * len(values), "o", color=color, alpha=0.5, markersize=4)
            place.plot(mean_of(values).value, row, "|", color=color, markersize=16, mew=2)
        place.set_yticks(range(len(names)), names if place is axes[0][0] else [])
        place.invert_yaxis()
        plain(place, title=data_set, x="test AP, %")
    words = "Test AP of every training (dots) and its mean (bar) by method, one panel by data set."
    return Figure(png(figure), words, words)


study = Study(Plan, measure, report)
