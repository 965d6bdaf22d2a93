"""Losses of users against the catalog for a block of users at a time, with their gradient."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor

from rankwise.eager import Context, Function, eager_backward
from rankwise.objectives import Objective
from rankwise.pairs.products import ProductSums
from rankwise.tasks.recommendation.problem import Pairs

_Risk: TypeAlias = Callable[[slice, Tensor, Tensor], Tensor]


def by_blocks(objective: Objective) -> bool:
    """Whether a loss of all lists is a sum over blocks: the objective remembers nothing."""
    state = (*objective.parameters(), *objective.buffers())
    return not state and type(objective).rescale is Objective.rescale


class InBlocks(Function):
    """A sum over users, some at a time, and its gradient along the way."""

    @staticmethod
    def forward(ctx: Context[None], users: Tensor, items: Tensor, step: int, risk: _Risk) -> Tensor:
        of_users, of_items = torch.empty_like(users), torch.zeros_like(items)
        given, total = (users, items), users.new_zeros(())
        items = items.detach().requires_grad_()
        for start in range(0, len(users), step):
            rows = slice(start, start + step)
            with torch.enable_grad():
                some = users[rows].detach().requires_grad_()
                value = risk(rows, some, items)
            of_users[rows], more = torch.autograd.grad(value, (some, items))
            of_items += more
            total += value.detach()
        ctx.save_for_backward(*given, of_users, of_items)
        return total

    @staticmethod
    @eager_backward
    def backward(ctx: Context[None], *arriving: Tensor) -> tuple[Tensor | None, ...]:
        _, _, of_users, of_items = ctx.saved_tensors
        return arriving[0] * of_users, arriving[0] * of_items, None, None


@dataclass(frozen=True, eq=False)
class ShortLists:
    """Lists of the positives of some users and one negative, which stands for all others.

    Exact for objectives that only see Σ_j e^(s_j) of the negatives (``sums_negatives``): the score
    of the one is log Σ_j e^(s_j).
    """

    users: Tensor
    positives: Pairs
    weight: Tensor  # of each list
    objective: Objective

    def cells(self, rows: slice) -> tuple[Tensor, Tensor]:
        """Place of the user and number of the item of every positive of some lists."""
        among, places = self.positives.of_users(self.users[rows])
        return among, self.positives.items[places]

    def risk(self, rows: slice, scores: Tensor, rest: Tensor) -> Tensor:
        """The loss of some lists, by the scores of their cells and the negative of each."""
        users = self.users[rows]
        counts = self.positives.counts[users].unsqueeze(1)
        column = torch.arange(int(counts.max()))
        there, some = column < counts, torch.isfinite(rest).unsqueeze(1)  # a user may have all
        cell = (counts.cumsum(0) - counts + column).masked_fill(~there, 0)
        found: Tensor = self.objective(
            torch.cat([scores[cell], torch.where(some, rest.unsqueeze(1), 0)], 1),
            torch.cat([torch.ones_like(there), torch.zeros_like(some)], 1),
            mask=torch.cat([there, some], 1),
            list_ids=users,
        )
        return (found * self.weight[rows]).sum()


class InSums(Function):
    """The same for short lists: a block of scores is passed over as rarely as in a softmax."""

    @staticmethod
    def forward(
        ctx: Context[None], users: Tensor, items: Tensor, step: int, lists: ShortLists
    ) -> Tensor:
        of_users, of_items = torch.empty_like(users), torch.zeros_like(items)
        total = users.new_zeros(())
        for start in range(0, len(users), step):
            rows = slice(start, start + step)
            sums = ProductSums(users[rows], items, *lists.cells(rows))
            with torch.enable_grad():
                seen = sums.scores.requires_grad_(), sums.rest.requires_grad_()
                value = lists.risk(rows, *seen)
            of_scores, of_rest = torch.autograd.grad(value, seen)
            of_users[rows] = sums.gradient(of_scores, of_rest, of_items)
            total += value.detach()
        ctx.save_for_backward(users, items, of_users, of_items)
        return total

    @staticmethod
    @eager_backward
    def backward(ctx: Context[None], *arriving: Tensor) -> tuple[Tensor | None, ...]:
        _, _, of_users, of_items = ctx.saved_tensors
        return arriving[0] * of_users, arriving[0] * of_items, None, None
