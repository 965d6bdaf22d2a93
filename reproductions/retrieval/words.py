"""What the page says in sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from rankwise.theory import mean_of
from reproductions.frame import Setting
from reproductions.retrieval.ablations import Effect
from reproductions.retrieval.cell import Cell
from reproductions.retrieval.plan import Budget, Plan
from reproductions.retrieval.tables import best_of, of_method, paired, with_interval
from reproductions.sentences import share, standing


def method(plan: Plan, setting: Setting) -> list[str]:
    """How everything was done."""
    quick = ", a quick run" if setting.quick else ""
    batch = f"{plan.classes} classes of {plan.per_class} images"
    return [
        f"Seed {setting.seed}{quick}. "
        + " ".join(f"{line}." for p in plan.problems for line in p.splits.describe().splitlines()),
        "No class is in two of the parts. Every test image asks all the other test images; mAP, "
        "R@1 (the share of queries whose first result is right) and R-precision are means over "
        "these queries, ties against the method.",
        "Pretrained: features of MobileNetV2 with ImageNet's weights, computed once of images "
        f"{plan.extractor_views.crop} pixels wide and standardized by the training images; a "
        f"linear head to {plan.dimension} numbers of length one is trained on them, from their "
        f"principal directions, with dropout {plan.dropout:g} of the features. "
        f"There are no views, and deep feature mixup mixes these features. "
        f"{_budget(plan.pretrained, batch)}",
        f"From scratch: the small network (width {plan.width}) on images, flipped where that "
        "makes sense, turned and cut at random; deep feature mixup before its last two stages. "
        f"{_budget(plan.scratch, batch)}",
        "Everything else is the same for all: on one seed the same first weights, the same "
        "batches, the same first steps by SupCon, the same optimizer (AdamW). Every method has "
        "two settings of its own number, the published one and another (SoDeep has none), and "
        "the same learning rates: with the first seed validation chooses among them (from "
        "scratch among its own rates, with the number that the heads chose), the other "
        "seeds repeat the choice, the network of the best validation is kept, and the test "
        "images are asked once.",
        "XBM is the contrastive loss against the embeddings of as many images as the training "
        "set has. AUROC is the pairwise loss with the one-sided Huber surrogate. StableAP scores "
        "every batch by the last parameters too, its (6). SOPRC and StableAP take cosines as "
        "they are (score_scale=1) with the annealed gain.",
    ]


def _budget(budget: Budget, batch: str) -> str:
    rates = ", ".join(f"{rate:g}" for rate in budget.rates)
    seeds = " and ".join(map(str, budget.seeds))
    falls = "" if budget.milestone is None else f", the last {1 - budget.milestone:.0%} at a tenth"
    return (
        f"{budget.steps} steps of {batch}, the first {budget.warm_start} by SupCon; rates {rates}"
        f"{falls}; {budget.precision}; {budget.validations} validations; seeds for the two data "
        f"sets: {seeds}."
    )


def untrained(found: Mapping[str, Mapping[str, Mapping[str, float]]], cells: Sequence[Cell]) -> str:
    """What features and heads are worth before training, and how many methods are above that."""
    said = []
    for name, raw in found.items():
        own = [c for c in cells if c.bench == (name, "pretrained")]
        methods = list(dict.fromkeys(c.method for c in own))
        means = [mean_of([c.map for c in of_method(own, m)]).value for m in methods]
        features, start = raw["features"], raw["start"]
        above = [sum(mean > part["map"] for mean in means) for part in (features, start)]
        said.append(
            f"{name}: the features themselves, by their cosines, have mAP {features['map']:.4f} "
            f"and R@1 {features['hit']:.4f}, {above[0]} of {len(methods)} methods are above it in "
            f"mAP; the head where all start has {start['map']:.4f} and {start['hit']:.4f}, "
            f"{above[1]} are above it"
        )
    return f"Before any training. {'. '.join(said)}."


def in_short(benches: dict[tuple[str, str], list[Cell]], ours: Sequence[str]) -> str:
    """Return the answer in one sentence."""
    gaps = []
    for cells in benches.values():
        others = {cell.method for cell in cells} - set(ours)
        means = {n: mean_of([c.map for c in of_method(cells, n)]).value for n in sorted(others)}
        other = max(means, key=lambda name: means[name])
        gaps.append(paired(cells, best_of(cells, ours), other))
    found = [standing(gap) for gap in gaps]
    return (
        "On images of classes it has never seen, the best of our losses finds more of the right "
        f"images than the best other loss in {share(found.count('higher'), len(found))} "
        f"tests, and fewer in {found.count('lower')}; elsewhere the difference may be chance."
    )


def conclusion(benches: dict[tuple[str, str], list[Cell]], ours: Sequence[str]) -> list[str]:
    """For each bench: who is first, and how the best of ours stands to the best of the others."""
    said = []
    for place, cells in benches.items():
        names = list(dict.fromkeys(cell.method for cell in cells))
        means = {n: mean_of([c.map for c in of_method(cells, n)]).value for n in names}
        first = max(names, key=lambda name: means[name])
        own = best_of(cells, ours)
        others = [name for name in names if name not in ours]
        other = max(others, key=lambda name: means[name])
        gap = paired(cells, own, other)
        text = f"{', '.join(place)}: {first} has the highest test mAP, {means[first]:.4f}. "
        text += f"The best of ours by validation is {own} with {means[own]:.4f}; its difference to "
        text += f"{other}, the highest of the others, is {with_interval(gap, sign=True)}"
        said.append(text + _weight(gap.value, gap.half_width()))
    return said


def effect_words(effects: Sequence[Effect]) -> str:
    """Where the test mAP of each loss is highest, by τ and by batch, and how it follows these."""
    said = []
    for place in dict.fromkeys(effect.place for effect in effects):
        parts = []
        for of, words in (("tau", "τ = {0:g}"), ("batch", "{0:g} images")):
            own = [effect for effect in effects if (effect.of, effect.place) == (of, place)]
            means = [mean_of([cell.map for cell in effect.cells]).value for effect in own]
            best = means.index(max(means))
            part = f"{words.format(own[best].value)} ({means[best]:.4f}, the lowest is "
            parts.append(f"{part}{min(means):.4f})")
        said.append(f"{', '.join(place)}: {' and '.join(parts)}")
    return f"The highest test mAP is at: {'; '.join(said)}."


def _weight(value: float, half: float) -> str:
    if math.isnan(half):
        return ", of one seed: nothing is known of its noise."
    if abs(value) <= half:
        return ", which is within the noise of the seeds."
    return ", beyond the noise of the seeds."
