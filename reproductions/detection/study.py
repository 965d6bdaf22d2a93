"""The report: the table, the differences, and images with boxes."""

from __future__ import annotations

import math

from rankwise.report import Figure, Section, Table
from rankwise.tasks.detection.report import image_figure
from rankwise.theory import Mean, mean_of
from rankwise.vision.gallery import spaced
from reproductions.detection.measure import Cell, measure, shown_detections
from reproductions.detection.plan import OURS, Plan
from reproductions.detection.published import COLUMNS, PUBLISHED
from reproductions.drawing import COLORS, canvas, plain, png
from reproductions.frame import Report, Setting, Study
from reproductions.sentences import standing

_KEYS = ("ap", "ap50", "ap75", "small", "medium", "large")
_BEST = "StableAP"
_WHY = (
    "A dense detector scores every anchor for every class, and almost all of them are background. "
    "The paper ranks them: its Table 5 has the same detector under focal loss, under losses driven "
    "by the errors of a ranking (AP loss, aLRP), under DR loss, and under StableAP, which is first "
    "on MS COCO. COCO cannot be had here. This is the same comparison on blood cells, small enough "
    "for a processor; it can say what happens on them and not what would on COCO.",
)


def report(plan: Plan, found: tuple[list[Cell], dict[str, float]], setting: Setting) -> Report:
    """Make the tables, figures and words of the report."""
    cells, times = found
    table = _table(plan, cells)
    chart, images = _chart(plan, cells), _images(plan, cells)
    return Report(
        title="Does ranking its anchors make a better detector? (StableAP, Table 5, on BCCD)",
        verdict=_verdict(plan, cells),
        rows=[_row(cell) for cell in cells],
        summary=_summary(plan, setting, cells, times),
        sections=[
            Section("Why", _WHY),
            Section("Method", _method(plan, setting)),
            Section("Results", [_READ], [chart], [table, _classes(plan, cells)]),
            Section("How far ahead", [_DUEL], [], [_duel(plan, cells)]),
            Section("What they find", [_SEE], images),
            Section("What a loss costs", [_COST], [], [_costs(plan, times)]),
            Section("What the paper prints", [_PAPER], [], [_published()]),
        ],
        figures={"figure": chart, **{f"image_{i}": image for i, image in enumerate(images)}},
        table=table,
    )


def _verdict(plan: Plan, cells: list[Cell]) -> str:
    means = {
        head.name: mean_of([100 * (cell.test["ap"] or 0.0) for cell in _of(cells, head.name)])
        for head in plan.heads
    }
    best, *others = sorted(means, key=lambda name: -means[name].value)
    said = f"The detector trained with {best} finds objects best (AP {means[best].value:.1f} %)"
    if not others:
        return f"{said}."
    ahead = [
        (a.test["ap"] or 0.0) - (b.test["ap"] or 0.0)
        for a, b in zip(_of(cells, best), _of(cells, others[0]), strict=True)
    ]
    chance = "" if standing(mean_of(ahead)) == "higher" else "; the difference may be chance"
    return f"{said}, the next with {others[0]} ({means[others[0]].value:.1f} %){chance}."


_READ = (
    "COCO's numbers by pycocotools on the test images, in per cent: AP is the mean over IoU .5 "
    "to .95 and over the classes; S, M and L are objects below 32², to 96² and above."
)
_DUEL = (
    "Points of AP that one loss has more than each other, over the same seeds: mean ± half of "
    "the 95 % interval (Student). The seeds share images and backbone, so the interval is about "
    "starts and orders of training and not about other images."
)
_SEE = (
    "Test images at even distances, not chosen: true boxes, and those that each detector of the "
    "first seed gives a score above that where its F1 on the validation images is highest, class "
    "by class."
)
_COST = (
    "Processor time of the loss alone, forward and backward with the assignment of anchors and "
    "GIoU, on the same batch of untrained scores by one thread; the median."
)
_PAPER = (
    "MS COCO test-dev, ResNet-50, 100 epochs: another data set and another network, set here only "
    "for the order. SOPRC is not in that table."
)


def _method(plan: Plan, setting: Setting) -> list[str]:
    s, parts = plan.settings, plan.splits
    choices = "; ".join(map(str, plan.choices))
    frozen = "as it is: only the pyramid and the head learn" if s.network.frozen else "from scratch"
    return [
        f"{setting} {parts.train.describe()}. "
        f"{parts.validation.describe()}. {parts.test.describe()}.",
        *parts.issues.lines(),
        f"Images of {s.augmentations.width}×{s.augmentations.height} pixels, mirrored at random; "
        f"{s.network.backbone} {frozen}. One square anchor of {s.network.anchor_scale:g} strides "
        f"at every place of the levels {', '.join(map(str, s.network.levels))}; ATSS; GIoU with "
        f"weight {s.objective.box_weight:g} (aLRP balances itself); the {s.objective.bias_form} of "
        f"the positives' scores held near 0 with weight {s.objective.bias_weight:g} for losses "
        f"that do not feel a shift; the best {s.selection.candidates:,}, then NMS at "
        f"{s.selection.max_iou:g}, then the best {s.selection.maximum}.",
        f"{s.training.steps} steps of SGD with momentum (s = {s.optimizer.s:g}) on batches of "
        f"{s.training.batch} images, gradients no longer than {s.training.clip}; the rate rises "
        f"over {s.training.warm_up} steps and falls tenfold after "
        f"{' and '.join(map(str, s.optimizer.milestones)) or 'none'}. Same start, same images in "
        f"the same order for every loss of a seed. Each loss has these rates to choose from by AP "
        f"of the validation images with the first seed: {choices}. {plan.seeds} seeds of the "
        "chosen one are reported.",
        "The paper describes the list both ways: anchors of all classes pooled into one list, and "
        "one list for each class. The whole form of this study runs both for the two objectives of "
        "the papers. With a list for each class the scores of two classes are not comparable (a "
        "constant on one class changes nothing in training), so the best boxes are then taken of "
        "each class apart; COCO's AP never compares them.",
        "Eq. 6: the mean of the positives follows the batches with the scores by the previous "
        "parameters. As printed: h((1/n) Σ w̃ℓ) + 2 Σ (1 − GIoU) + .001 (Σ s)², with sums. Two "
        "stages: the loss ranks anchors as objects or background; the best "
        f"{s.network.proposals} boxes of an image after NMS at 0.7, and in training the true ones, "
        "are regions, pooled by RoIAlign; a head of two layers gives their classes by "
        "cross-entropy (twice: by the same loss) and their boxes by GIoU.",
    ]


def _of(cells: list[Cell], head: str) -> list[Cell]:
    own = [cell for cell in cells if cell.head == head and cell.chosen]
    return sorted(own, key=lambda cell: cell.seed)


def _mean(cells: list[Cell], head: str, key: str) -> Mean:
    values = [cell.test[key] for cell in _of(cells, head)]
    return mean_of([math.nan if value is None else 100 * value for value in values])


def _shown(mean: Mean, signed: str = "") -> str:
    if math.isnan(mean.value):
        return "–"
    value = format(mean.value, f"{signed}.1f")
    return value if mean.n < 2 else f"{value} ± {mean.half_width():.1f}"


def _table(plan: Plan, cells: list[Cell]) -> Table:
    rows = []
    for head in plan.heads:
        own = _of(cells, head.name)
        means = [_mean(cells, head.name, key) for key in _KEYS]
        paper = PUBLISHED.get(head.name)
        rows.append(
            (
                head.name,
                *map(_shown, means),
                own[0].choice.short,
                "–" if paper is None else f"{paper[0]:.1f}",
            )
        )
    over = (
        f"mean over {plan.seeds} seeds ± half of the 95 % interval"
        if plan.seeds > 1
        else "one seed"
    )
    images = plan.splits.test
    caption = (
        f"Per cent, {over}; {len(images)} test images, {int(images.counts.sum())} objects. "
        "warm: a quarter of the steps by focal loss first. The last column is the paper's AP on "
        "MS COCO, another data set."
    )
    return Table(("loss", *COLUMNS, "rate", "on COCO"), rows, caption)


def _classes(plan: Plan, cells: list[Cell]) -> Table:
    names = plan.splits.test.classes
    rows = []
    for head in plan.heads:
        own = _of(cells, head.name)
        found = []
        for name in names:
            values = [cell.test["by_class"][name] for cell in own]
            found.append(mean_of([math.nan if v is None else 100 * v for v in values]))
        rows.append((head.name, *map(_shown, found)))
    return Table(("loss", *names), rows, "AP of each class.")


def _duel(plan: Plan, cells: list[Cell]) -> Table:
    names = [head.name for head in plan.heads]
    best = _BEST if _BEST in names else names[-1]
    ours = [cell.test for cell in _of(cells, best)]
    rows = []
    for head in plan.heads:
        if head.name == best:
            continue
        theirs = [cell.test for cell in _of(cells, head.name)]
        row = [head.name]
        for key in ("ap", "ap50", "ap75"):
            apart = [
                100 * (a[key] - b[key]) if None not in (a[key], b[key]) else math.nan
                for a, b in zip(ours, theirs, strict=True)
            ]
            row.append(_shown(mean_of(apart), "+"))
        rows.append(tuple(row))
    return Table((f"{best} minus", "AP", "AP50", "AP75"), rows, "Points.")


def _costs(plan: Plan, times: dict[str, float]) -> Table:
    least = times[plan.heads[0].name]
    rows = [
        (head.name, f"{times[head.name]:.2f}", f"{times[head.name] / least:.2f}")
        for head in plan.heads
    ]
    return Table(("loss", "milliseconds", f"÷ {plan.heads[0].name}"), rows)


def _published() -> Table:
    rows = [(name, *(f"{value:.1f}" for value in row)) for name, row in PUBLISHED.items()]
    return Table(("loss", *COLUMNS), rows, "Per cent, as printed.")


def _row(cell: Cell) -> dict[str, object]:
    return {
        "loss": cell.head,
        "rate": cell.choice.rate,
        "warm_start": cell.choice.warm,
        "seed": cell.seed,
        "chosen": cell.chosen,
        "validation_ap": cell.validation,
        **{key: cell.test[key] for key in _KEYS},
        **{f"ap_{name}": value for name, value in cell.test["by_class"].items()},
    }


def _summary(
    plan: Plan, setting: Setting, cells: list[Cell], times: dict[str, float]
) -> dict[str, object]:
    def plain_mean(mean: Mean) -> dict[str, float | None]:
        half = mean.half_width()
        return {
            "mean": None if math.isnan(mean.value) else mean.value,
            "half_width": None if math.isnan(half) else half,
        }

    return {
        "seeds": plan.seeds,
        "steps": plan.settings.training.steps,
        "choices": list(map(str, plan.choices)),
        "chosen": {head.name: str(_of(cells, head.name)[0].choice) for head in plan.heads},
        "test": {
            head.name: {key: plain_mean(_mean(cells, head.name, key)) for key in _KEYS}
            for head in plan.heads
        },
        "milliseconds": times,
        "published_on_coco": {name: list(row) for name, row in PUBLISHED.items()},
    }


def _chart(plan: Plan, cells: list[Cell]) -> Figure:
    figure, axes = canvas(1, 2, height=3.4)
    names = [head.name for head in plan.heads]
    for place, key, title in zip(axes[0], ("ap", "ap50"), ("AP", "AP50"), strict=True):
        for line, name in enumerate(reversed(names)):
            color = COLORS[2] if name in OURS else COLORS[1]
            values = [100 * (cell.test[key] or 0.0) for cell in _of(cells, name)]
            place.plot(values, [line] * len(values), "o", color=color, markersize=4, alpha=0.6)
            mean = sum(values) / len(values)
            place.plot([mean, mean], [line - 0.3, line + 0.3], color=color, linewidth=2)
        plain(place, title=title, x="per cent on the test images")
        place.set_yticks(range(len(names)), list(reversed(names)))
    axes[0, 1].set_yticklabels([])
    said = "; ".join(f"{name} {_mean(cells, name, 'ap').value:.1f}" for name in names)
    caption = "Points: seeds; bars: their mean. Green: the objectives of the papers."
    return Figure(png(figure), f"AP and AP50 of every loss. AP: {said}.", caption)


def _images(plan: Plan, cells: list[Cell]) -> list[Figure]:
    first = {head.name: shown_detections(_of(cells, head.name)[0]) for head in plan.heads}
    return [
        image_figure(plan.splits.test, row, {name: boxes[i] for name, boxes in first.items()})
        for i, row in enumerate(spaced(len(plan.splits.test), plan.shown))
    ]


study = Study(Plan, measure, report)
