"""Scores of several classes as one ranked list per class, and the means over them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import torch
from torch import Tensor

from rankwise.checks import require_no_nan
from rankwise.metrics._setting import Setting
from rankwise.metrics.inputs import Items, to_tensor
from rankwise.metrics.ranking import Ranking, rank_items

Scheme = Literal["ovr", "ovo"]
ClassAverage = Literal["macro", "weighted", "none"]


def read_classes(scores: object, target: object, weight: object) -> tuple[Tensor, Tensor, Tensor]:
    """Check scores (rows, classes), class numbers and weights, and return them as tensors."""
    s, t = to_tensor(scores, "scores").double().cpu(), to_tensor(target, "target").cpu()
    if s.ndim != 2 or s.shape[1] < 2:
        raise ValueError(
            "scores must have a column for each of two or more classes, shape (rows, classes), "
            f"got {tuple(s.shape)}"
        )
    require_no_nan("scores", s)
    if t.shape != s.shape[:1] or not bool((t == t.long()).all()):
        raise ValueError(
            f"target must hold one class number per row, shape ({len(s)},), got shape "
            f"{tuple(t.shape)} of {t.dtype}"
        )
    t = t.long()
    low, high = (int(end) for end in t.aminmax()) if len(t) else (0, 0)
    if low < 0 or high >= s.shape[1]:
        raise ValueError(
            f"target must be class numbers from 0 to {s.shape[1] - 1}, one per column of "
            f"scores, got values from {low} to {high}"
        )
    w = None if weight is None else to_tensor(weight).double().cpu()
    if w is not None and (w.shape != t.shape or not bool(((w >= 0) & w.isfinite()).all())):
        raise ValueError(
            f"weight must be one finite number >= 0 per row, shape ({len(s)},), got shape "
            f"{tuple(w.shape)}"
        )
    return s, t, torch.ones_like(t).double() if w is None else w


@dataclass(frozen=True)
class ClassLists:
    """One ranked list per class, of the same rows."""

    setting: Setting
    scheme: Scheme
    average: ClassAverage
    scores: Tensor  # (rows, classes)
    target: Tensor  # (rows,)
    weight: Tensor  # (rows,)

    @property
    def rows(self) -> int:
        return len(self.target)

    @property
    def classes(self) -> int:
        return self.scores.shape[1]

    def rankings(self) -> Iterator[Ranking]:
        """Yield the rows ranked by the scores of one class after the other."""
        for c, column in enumerate(self.scores.T):
            hot = (self.target == c).double()
            yield rank_items(column[None].contiguous(), hot[None], ties=self.setting.ties)

    @cached_property
    def kept(self) -> tuple[Ranking, ...]:
        """All rankings, for resamples in several blocks."""
        return tuple(self.rankings())

    def mean(self, counts: Tensor) -> Tensor:
        """Return the mean over classes, (resamples,); ``counts`` is how often each row counts."""
        values, shares = self.values(counts)
        return (values.nan_to_num() * shares).sum(-1)

    def values(self, counts: Tensor) -> tuple[Tensor, Tensor]:
        """Return the values of the classes and their shares in the mean, (resamples, classes)."""
        rankings = self.kept if len(counts) > 1 else self.rankings()
        found = [self._value(c, r, counts) for c, r in enumerate(rankings)]
        return torch.stack(found, dim=1), self._shares(counts)

    def together(self, *, plain: bool) -> tuple[Tensor, Tensor]:
        """Return the values of the classes and their shares, (classes,), by one sort of all."""
        once = torch.ones(1, self.rows, dtype=torch.float64)
        weight = None
        if not plain or self.scheme == "ovo":
            weight = torch.cat([self._weights(c, once) for c in range(self.classes)])
        hot = (self.target == torch.arange(self.classes).unsqueeze(1)).double()
        items = Items(self.scores.T.contiguous(), hot, weight=weight)
        return self.setting.values(items), self._shares(once)[0]

    def _value(self, c: int, ranking: Ranking, counts: Tensor) -> Tensor:
        weights = self._weights(c, counts)
        ranked = replace(ranking, weight=weights[:, ranking.order[0]])
        return self.setting.kernel(ranked, **self.setting.options)

    def _weights(self, c: int, counts: Tensor) -> Tensor:
        """Return the weight of every row in the list of a class, (resamples, rows)."""
        weights = counts * self.weight
        if self.scheme == "ovr":
            return weights
        mass = self._mass(counts)
        own = torch.where(mass > 0, mass, 1.0)[:, self.target]
        if self.average != "weighted":
            return weights / own  # every class weighs 1
        share = mass / mass.sum(-1, keepdim=True)
        return weights / own * (share[:, c : c + 1] + share[:, self.target])

    def _mass(self, counts: Tensor) -> Tensor:
        weights = counts * self.weight
        empty = weights.new_zeros(len(weights), self.classes)
        return empty.index_add(1, self.target, weights)

    def _shares(self, counts: Tensor) -> Tensor:
        mass = self._mass(counts)
        # Without rows, or with all of them, a class ranks nothing.
        there = ((mass > 0) & (mass < mass.sum(-1, keepdim=True))).double()
        if self.average == "weighted":
            share = mass / mass.sum(-1, keepdim=True)
            present = there.sum(-1, keepdim=True)
            # One-vs-one: Σ_{b≠a} (π_a + π_b) of the pairs that class a is in.
            there = share if self.scheme == "ovr" else there * ((present - 2) * share + 1)
        return there / there.sum(-1, keepdim=True)

    def slope(self) -> Tensor:
        """Return the derivative of the mean by how often each row counts, (rows,).

        One class at a time: the graph of all of them would be in memory together.
        """
        counts = torch.ones(1, self.rows, dtype=torch.float64, requires_grad=True)
        total, values = torch.zeros(self.rows, dtype=torch.float64), []
        with torch.enable_grad():
            shares = self._shares(counts.detach())[0]
            for c, ranking in enumerate(self.rankings()):
                value = self._value(c, ranking, counts)
                values.append(value.detach().nan_to_num())
                if float(shares[c]) > 0:
                    total += shares[c] * torch.autograd.grad(value.sum(), counts)[0][0]
            if self.average == "weighted":
                mean = (self._shares(counts) * torch.stack(values, dim=1)).sum()
                total += torch.autograd.grad(mean, counts)[0][0]
        return total
