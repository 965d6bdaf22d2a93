"""What the report says in sentences, all of it from the numbers of the run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rankwise.theory import Mean, mean_of
from reproductions.frame import Setting
from reproductions.retrieval.tables import best_of, of_method, paired, with_interval
from reproductions.retrieval_cost.measure import Cell, Measured
from reproductions.retrieval_cost.plan import Plan
from reproductions.retrieval_cost.problems import TEST, VALIDATION
from reproductions.retrieval_cost.tables import by_bench, complete
from reproductions.sentences import listed, share, standing


@dataclass(frozen=True)
class Duel:
    """The best of ours by validation against the best of the others by test."""

    bench: str
    own: str
    other: str
    gap: Mean

    @property
    def first(self) -> bool:
        """Whether ours is higher by more than the interval; of one seed nothing is known."""
        return self.gap.value > self.gap.half_width()

    def __str__(self) -> str:
        half = self.gap.half_width()
        side = "0 is not in the interval"
        if math.isnan(half):
            side = "of one seed no interval is known"
        elif abs(self.gap.value) <= half:
            side = "0 is in the interval"
        return (
            f"{self.bench}: {self.own} (the best of ours by validation) less {self.other} (the "
            f"highest test mAP of the others) is {with_interval(self.gap, sign=True)}; {side}."
        )


def duel(cells: Sequence[Cell], ours: Sequence[str]) -> Duel | None:
    """Compare on the seeds that all have; None where one of the sides was left out."""
    cells = complete(cells)
    names = list(dict.fromkeys(cell.method for cell in cells))
    own, others = [n for n in names if n in ours], [n for n in names if n not in ours]
    if not own or not others:
        return None
    best = best_of(cells, own)
    other = max(others, key=lambda n: mean_of([c.map for c in of_method(cells, n)]).value)
    return Duel(cells[0].bench, best, other, paired(cells, best, other))


def duels(plan: Plan, measured: Measured) -> list[Duel]:
    """One for every bench that has both sides."""
    ours = [method.name for method in plan.methods if method.ours]
    found = [duel(cells, ours) for cells in by_bench(measured.cells).values()]
    return [each for each in found if each is not None]


def goals(found: Sequence[Duel]) -> dict[str, str]:
    """Whether one of ours is first on both data sets, for each setting: met, not met, open."""
    said = {}
    for kind in ("features", "scratch"):
        own = [each for each in found if each.bench.endswith(f"-{kind}")]
        if len(own) < 2:
            said[kind] = "open"
        else:
            said[kind] = "met" if all(each.first for each in own) else "not met"
    return said


def in_short(plan: Plan, measured: Measured) -> str:
    """Return the answer in one sentence."""
    found = [standing(each.gap) for each in duels(plan, measured)]
    if not found:
        return f"{len(measured.cells)} trainings are done: too few to compare the losses."
    return (
        "With the same computing time and memory, the best of our losses finds more of the right "
        f"images than the best other loss in {share(found.count('higher'), len(found))} "
        f"tests, and fewer in {found.count('lower')}; elsewhere the difference may be chance."
    )


def conclusion(plan: Plan, measured: Measured) -> list[str]:
    """Who is first on each set, and the goal."""
    found = duels(plan, measured)
    said = [str(each) for each in found]
    for kind, state in goals(found).items():
        words = "on features" if kind == "features" else "from scratch"
        said.append(f"Goal, first on both data sets with an interval without 0, {words}: {state}.")
    if measured.stopped:
        said.append(
            f"The run was stopped after {plan.max_minutes:g} minutes; the same command resumes it."
        )
    return said


def method(plan: Plan, setting: Setting) -> list[str]:
    """How everything was done."""
    rates = listed([f"{rate:g}" for rate in plan.rates])
    return [
        f"{setting} Every training has the same processor time: {plan.feature_seconds:g} s of a "
        f"linear head on features of MobileNetV2, {plan.scratch_seconds:g} s of the small network "
        f"(width {plan.width}, group norm) from scratch. The clock is the processor time of the "
        "process with one thread, so that a busy machine does not shorten a training. It counts "
        "batches, augmentations, network, loss and optimizer, but not validation.",
        f"Every loss has the largest batch of {listed([str(b) for b in plan.batches])} images "
        f"whose step takes at most 1/{plan.least_steps} of that time and adds at most "
        f"{plan.memory_mb} MB to the process. Batches hold 4 images a class, or more where there "
        "are too few classes, and at most all training images. The batch follows from cost alone, "
        "not from what suits a loss best: --batches 112 in another folder gives all losses one "
        f"small batch. A network sees {plan.chunk} images at a time (gradient caching).",
        f"Of the classes of a data set {VALIDATION:.0%} are for validation, the same for all "
        f"seeds; each seed divides the others into {TEST:.0%} for the test and the rest for "
        "training. No class is in two parts. mAP is over the images of the test classes, each of "
        "which ranks all the others.",
        f"Every loss has three settings, the published one first, and the rates {rates} "
        "(AdamW, cosine over the time). Validation chooses among them with the first seed; the "
        "choice is in runs.json before the test classes are read. SOPRC and StableAP choose "
        "among the outer functions x/(1+x) and log(1+x) and a narrower surrogate. The network of "
        "the best validation is kept.",
        "SmoothAP uses the n log n sums of this library; the authors' code holds all differences "
        "of a batch. XBM and SOPRC + memory rank the batch together with the last embeddings, as "
        "many as there are training images.",
    ]
