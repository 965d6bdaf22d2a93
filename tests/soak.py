"""Random awkward batches for every objective, against the formulas written out densely.

``python -m tests.soak`` runs 100 000 of them, or as many as ``--seconds`` allow; ``make soak``.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from tests.baselines.cases import CASES
from tests.objectives.contract import all_rows
from torch import Tensor, nn

DTYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16)
FORMS = ("list", "lists", "masked", "groups", "weighted")
SCORES = ("normal", "ties", "tied", "large", "huge", "tiny", "denormal", "mixed", "shifted")
LABELS = ("some", "some", "some", "one positive", "one negative", "one class")
# Of value and gradient: inputs of half precision are exact, what is computed of them is not.
NEAR = {torch.float64: 1e-6, torch.float32: 1e-3, torch.bfloat16: 4e-2, torch.float16: 2e-2}
REFUSED = "weight must be 0 or 1 for an inner function"


@dataclass(frozen=True)
class Subject:
    """A loss, its formula for one list, and what it takes."""

    name: str
    make: Callable[..., Any]
    dense: Callable[[Tensor, Tensor], Tensor]
    graded: bool = False
    shares: bool = False  # relevances are between 0 and 1
    cosines: bool = False  # defined between -1 and 1
    pointwise: bool = False
    copies: bool = True  # weight 2 is the item twice
    orderless: bool = True  # items are not read in turn
    tolerance: float = 0.0

    def loss(self, lists: int) -> nn.Module:
        made: nn.Module = self.make()
        if getattr(made, "memory_by", None) == "list":
            made = self.make(num_lists=max(1, lists))
        return made


def subjects() -> list[Subject]:
    """Every row of the objectives' table and every baseline of scores."""
    rows = [
        Subject(
            str(row),
            row.objective,
            row.dense,
            graded=row.graded,
            shares=row.shares,
            copies=str(row) != "ListMLE",  # whose second copy is drawn after the first
            tolerance=10 * row.tolerance,
        )
        for row in all_rows()
    ]
    baselines = [
        Subject(
            case.name,
            case.make,
            case.dense,
            cosines=True,
            pointwise=case.one_class_counts,
            copies=case.copies,
            orderless=case.orderless,
            tolerance=10 * case.tolerance,
        )
        for case in CASES
        if case.classes is None
    ]
    return rows + baselines


class Batch(NamedTuple):
    """Lists of different lengths, and in which way they are passed."""

    dtype: torch.dtype
    form: str
    kind: str
    scores: list[Tensor]
    target: list[Tensor]
    weight: list[Tensor]
    order: Tensor


class Draw:
    """Random batches of one seed."""

    def __init__(self, seed: int) -> None:
        self.generator = torch.Generator().manual_seed(seed)

    def one_of(self, choices: tuple[Any, ...]) -> Any:
        return choices[self.number(0, len(choices) - 1)]

    def number(self, low: int, high: int) -> int:
        return int(torch.randint(low, high + 1, (), generator=self.generator))

    def batch(self, subject: Subject) -> Batch:
        """Draw a batch for an objective."""
        dtype, form, kind = self.one_of(DTYPES), self.one_of(FORMS), self.one_of(SCORES)
        if subject.cosines and kind not in ("normal", "ties", "tied"):
            kind = "normal"
        count = 1 if form in ("list", "weighted") else self.number(1, 5)
        same = self.number(2, 24)
        sizes = [same if form == "lists" else self.number(0, 24) for _ in range(count)]
        scores = [self._scores(size, kind, dtype, subject) for size in sizes]
        target = [self._target(size, subject) for size in sizes]
        weight = [torch.ones(size) for size in sizes]
        if form == "weighted":
            weight = [torch.randint(0, 4, (n,), generator=self.generator).float() for n in sizes]
        order = torch.randperm(sum(sizes), generator=self.generator)
        return Batch(dtype, form, kind, scores, target, weight, order)

    def _scores(self, size: int, kind: str, dtype: torch.dtype, subject: Subject) -> Tensor:
        if subject.cosines:
            scores = torch.rand(size, generator=self.generator) * 1.98 - 0.99
        else:
            scores = torch.randn(size, generator=self.generator)
        most = 1e3 if dtype == torch.float16 else 1e9
        if kind == "ties":
            scores = (scores * 2).round() / 2
        elif kind == "tied":
            scores = torch.full((size,), float(self.number(-4, 4)) / 8)
        elif kind in ("large", "huge"):
            scores = scores * (1e3 if kind == "large" else most)
        elif kind in ("tiny", "denormal"):
            scores = scores * (1e-30 if kind == "tiny" else 1e-42)
        elif kind == "mixed":
            spread = torch.rand(size, generator=self.generator) * 2 - 1
            scores = scores * 10 ** (spread * math.log10(most))
        elif kind == "shifted":
            scores = scores + 100
        return scores.clamp(-4 * most, 4 * most).to(dtype)

    def _target(self, size: int, subject: Subject) -> Tensor:
        labels = self.one_of(LABELS)
        target = torch.rand(size, generator=self.generator) < 0.4
        if labels in ("one positive", "one negative") and size:
            target[:] = labels == "one negative"
            target[self.number(0, size - 1)] = labels == "one positive"
        elif labels == "one class":
            target[:] = bool(self.number(0, 1))
        if subject.graded:
            relevance = torch.randint(1, 4, (size,), generator=self.generator) * target
            return relevance / 4 if subject.shares else relevance
        return target


def arguments(batch: Batch) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
    """The batch as scores, target and keyword arguments of a call."""
    if batch.form in ("list", "weighted"):
        more = {"weight": batch.weight[0]} if batch.form == "weighted" else {}
        return batch.scores[0], batch.target[0], more
    if batch.form == "lists":
        return torch.stack(batch.scores), torch.stack(batch.target), {}
    if batch.form == "masked":
        width = max(2, *(len(s) for s in batch.scores), 0)
        scores = torch.full((len(batch.scores), width), torch.nan, dtype=batch.dtype)
        target = torch.ones(scores.shape, dtype=batch.target[0].dtype)
        mask = torch.zeros(scores.shape, dtype=torch.bool)
        for row, (s, t) in enumerate(zip(batch.scores, batch.target, strict=True)):
            scores[row, : len(s)], target[row, : len(s)], mask[row, : len(s)] = s, t, True
        return scores, target, {"mask": mask}
    groups = torch.cat([torch.full((len(s),), row) for row, s in enumerate(batch.scores)])
    order = batch.order
    flat = torch.cat(batch.scores)[order], torch.cat(batch.target)[order]
    return *flat, {"groups": groups.long()[order]}


def expected(subject: Subject, batch: Batch) -> Tensor | None:
    """The mean of the formula over the lists that count, None if none does."""
    values = []
    for scores, target, weight in zip(batch.scores, batch.target, batch.weight, strict=True):
        leaf = scores.double()
        copies = torch.repeat_interleave(torch.arange(len(leaf)), weight.long())
        own = target[copies]
        kinds = own.unique().numel() if subject.graded else (own > 0).unique().numel()
        ranked = kinds > 1 and bool((own > 0).any())
        if len(own) and (ranked or subject.pointwise):
            values.append(subject.dense(leaf[copies], own))
    return torch.stack(values).mean() if values else None


class Outcome(NamedTuple):
    """What came of a batch: ``kind`` is one of agrees, finite, refused, and the three faults."""

    kind: str
    detail: str = ""


def comparable(subject: Subject, batch: Batch) -> bool:
    """Whether the formula says what the value of a batch has to be."""
    if not subject.copies and batch.form == "weighted":
        return False
    return subject.orderless or batch.form != "groups"  # which are shuffled


def called(subject: Subject, batch: Batch) -> tuple[Tensor, Tensor]:
    """The value of an objective that has not seen the batch, and its gradient."""
    scores, target, more = arguments(batch)
    scores = scores.clone().requires_grad_()
    loss = subject.loss(len(batch.scores))
    kind = getattr(loss, "memory_by", None)
    if kind == "item":
        more["item_ids"] = torch.arange(scores.numel()).reshape(scores.shape)
    elif kind == "list":
        lists = len(torch.unique(more["groups"])) if "groups" in more else len(batch.scores)
        many = "groups" in more or scores.dim() > 1
        more["list_ids"] = torch.arange(lists) if many else torch.tensor(0)
    value = loss(scores, target, **more)
    (gradient,) = torch.autograd.grad(value, scores)
    return value.detach(), gradient


def outcome(subject: Subject, batch: Batch) -> Outcome:
    """Call the objective and compare its value with that of the formula."""
    try:
        value, gradient = called(subject, batch)
    except Exception as error:  # that there are none is the question
        refused = isinstance(error, ValueError) and str(error).startswith(REFUSED)
        kind = "refused" if refused else "raw exception"
        return Outcome(kind, f"{type(error).__name__}: {error}")
    overflow = gradient.isinf().any() and batch.dtype != torch.float16
    if not value.isfinite() or gradient.isnan().any() or overflow:
        return Outcome("not finite", f"value {value.item()}, gradient {gradient.flatten()[:4]}")
    if not comparable(subject, batch):
        return Outcome("finite")
    right = expected(subject, batch)
    right = torch.zeros(()).double() if right is None else right.detach()
    if not right.isfinite():  # the formula overflows
        return Outcome("finite")
    near = max(NEAR[batch.dtype], subject.tolerance)
    close = torch.isclose(value.double(), right, rtol=near, atol=near)
    return Outcome("agrees" if close else "disagrees", f"{value.item()} for {right.item()}")


FAULTS = ("not finite", "disagrees", "raw exception")


@dataclass
class Report:
    """Counts of outcomes by data type and form, and the first faults of every objective."""

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    faults: dict[tuple[str, str, str], tuple[int, Outcome]] = field(default_factory=dict)
    batches: int = 0

    def add(self, number: int, subject: Subject, batch: Batch, found: Outcome) -> None:
        self.batches += 1
        for name in (str(batch.dtype).removeprefix("torch."), batch.form, batch.kind):
            self.counts[name, found.kind] += 1
        if found.kind in FAULTS:
            self.faults.setdefault((subject.name, found.kind, batch.kind), (number, found))

    @property
    def wrong(self) -> int:
        """Number of faults, each of which is counted under three names."""
        names = [str(dtype).removeprefix("torch.") for dtype in DTYPES]
        return sum(self.counts[name, kind] for name in names for kind in FAULTS)

    def lines(self, seconds: float) -> Iterator[str]:
        """Yield a table, the faults, and the closing line."""
        kinds = ("agrees", "finite", "refused", *FAULTS)
        yield f"{'batches':12}" + "".join(f"{kind:>15}" for kind in kinds)
        for name in dict.fromkeys(name for name, _ in self.counts):
            yield f"{name:12}" + "".join(f"{self.counts[name, kind]:15}" for kind in kinds)
        for (name, kind, of), (number, found) in sorted(self.faults.items()):
            yield f"{kind}: {name}, {of} scores, batch {number}: {found.detail}"
        yield (
            f"{self.batches} batches in {seconds:.0f} s: {self.wrong} faults, in "
            f"{len({name for name, _, _ in self.faults})} objectives"
        )


def soak(batches: int, seconds: float = math.inf, seed: int = 0) -> Report:
    """Run batches of every objective in turn, until there are enough or the time is over."""
    report, everything, start = Report(), subjects(), time.monotonic()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of batches of one class
        for number in range(batches):
            if time.monotonic() - start > seconds:
                break
            subject = everything[number % len(everything)]
            batch = Draw(seed * 10_000_019 + number).batch(subject)
            report.add(number, subject, batch, outcome(subject, batch))
    return report


def main() -> None:
    """Run the soak test of the command line; exit with 1 if it found a fault."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--batches", type=int, default=100_000, help="Number of batches.")
    parser.add_argument("--seconds", type=float, default=math.inf, help="Maximum time (s).")
    parser.add_argument("--seed", type=int, default=0, help="Seed of the batches.")
    given = parser.parse_args()
    torch.set_num_threads(1)
    start = time.monotonic()
    report = soak(given.batches, given.seconds, given.seed)
    print(*report.lines(time.monotonic() - start), sep="\n")
    raise SystemExit(report.wrong > 0)


if __name__ == "__main__":
    main()
