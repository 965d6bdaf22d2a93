"""XRisk: a new objective from a pairwise ℓ and an outer f, with FCCO's moving averages."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn

from rankwise.checks import require_ids, require_one_of, require_same_shape
from rankwise.eager import eager_only, first_gradient_only
from rankwise.lists import Lists
from rankwise.memory import FCCOAverage
from rankwise.memory.fcco import tracked
from rankwise.objectives.base import Objective, Reduction, Risk
from rankwise.pairs import Surrogate, as_surrogate, pair_sum

Inner = Surrogate | Callable[..., Tensor]
"""ℓ of a tensor of differences, or ĝ of two batches: (n, …), (m, …) → (n,) or (n, width)."""

Outer = Callable[[Tensor], Tensor]
"""f, from g (…), or (…, width) where the width is not 1, to values (…)."""


class XRisk(Objective):
    """Objective of your own: a pairwise or two-batch function inside, any function outside.

    The loss is mean_i f(u_i) with u_i ← (1−γ)u_i + γĝ_i and ĝ_i = mean_{j∈S_i} ℓ(s_i − s_j). The
    gradient is ∇f(u_i)·∇ĝ_i, unbiased in the limit of the averages whatever the batch size (FCCO).
    The anchors i are the positives of each list.

    ``previous_scores`` in the call add ``correction``·(ĝ_i − ĝ_i under the previous parameters) to
    u_i.

    Args:
        inner: ℓ, a surrogate of :mod:`rankwise.pairs` or its string (n log n), or any function of a
            tensor of differences (all pairs, in chunks). Or ĝ itself, a function of two batches
            (anchors, others) that returns (n,) or (n, ``width``): of the scores of one list at a
            time, or by :meth:`of_batches` of anything that has rows, such as embeddings.
        outer: f, from (…), or (…, width) where the width is not 1, to values (…).
        num_items: Number of anchors in the data set; the call then needs ``item_ids``. None keeps
            no averages: u_i = ĝ_i.
        ema_rate: Rate γ of the moving averages.
        over: S_i: the ``"negatives"`` of the list, or ``"all"`` its items, the anchor included.
        width: Numbers of ĝ for each anchor; more than 1 only for a function of two batches.
        correction: Factor of the correction; None is 1 − γ, STORM. MSVR has a factor of its own.
        reduction: See :class:`Objective`.

    Example:
        >>> import torch
        >>> from rankwise.objectives import XRisk
        >>> from rankwise.pairs import SquaredHinge
        >>> loss = XRisk(SquaredHinge(1.0), torch.log1p, num_items=2, ema_rate=0.5)
        >>> target, ids = torch.tensor([1, 0]), torch.tensor([0, 1])
        >>> loss(torch.tensor([0.0, 0.0]), target, item_ids=ids)  # u = 1: log 2
        tensor(0.6931)
        >>> loss(torch.tensor([1.0, 0.0]), target, item_ids=ids)  # u = (1 + 0)/2: log 1.5
        tensor(0.4055)

    Reference:
        EXM 2.3; Wang and Yang 2022, "Finite-Sum Coupled Compositional Stochastic Optimization:
        Theory and Applications" (FCCO).
    """

    uses_previous_scores: ClassVar[bool] = True

    def __init__(
        self,
        inner: Inner | str,
        outer: Outer,
        num_items: int | None = None,
        ema_rate: float = 0.9,
        *,
        over: Literal["negatives", "all"] = "negatives",
        width: int = 1,
        correction: float | None = None,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        require_one_of("over", over, ("negatives", "all"))
        if isinstance(inner, str):
            inner = as_surrogate(inner, "inner")
        self.of_two = _takes_two(inner)
        if width != 1 and not self.of_two:
            raise ValueError(
                f"width must be 1 for an inner function of differences, got {width!r}; "
                "a function of two batches may give more numbers for each anchor"
            )
        self.inner, self.outer, self.over, self.width = inner, outer, over, width
        self.twice_differentiable = num_items is None
        self.average: FCCOAverage | None = None
        if num_items is not None:
            self.memory_by, self.memory_size = "item", num_items
            self.average = FCCOAverage(num_items, width, ema_rate=ema_rate, correction=correction)

    def risk(self, lists: Lists) -> Risk:
        estimate, earlier, present = self._inner(lists), None, lists.present
        if self.average is not None and (before := lists.before) is not None:
            with torch.no_grad():
                earlier = self._inner(before)
        estimate, updates = tracked(self.average, lists.item_ids, estimate, present, earlier)
        return Risk(lists.mean_over_positives(self._outer(estimate)), updates)

    @eager_only
    def of_batches(
        self,
        anchors: Tensor,
        others: Tensor,
        *,
        item_ids: Tensor | None = None,
        previous: tuple[Tensor, Tensor] | None = None,
    ) -> Tensor:
        """Compute mean_i f(u_i) over the rows of ``anchors``, for an inner function of two batches.

        Args:
            anchors: Anchors, shape (n, …).
            others: What they are compared with, shape (m, …).
            item_ids: Which item of the data set each anchor is, shape (n,).
            previous: Both batches under the previous parameters.

        Returns:
            One number; with ``reduction="none"`` one per anchor.
        """
        self.check_batches(anchors, item_ids)
        if self.average is not None:
            name = type(self).__name__
            anchors = first_gradient_only(anchors, name)
            others = first_gradient_only(others, name)
        estimate, earlier = self._of_two(anchors, others), None
        if self.average is not None and previous is not None:
            with torch.no_grad():
                earlier = self._of_two(*previous)
        estimate, updates = tracked(self.average, item_ids, estimate, previous=earlier)
        values = self._outer(estimate)
        updates, total, count = self.of_all_processes(updates, values.sum(), len(values))
        self.update_memories(updates)
        if self.reduction == "none":
            return values
        return (total if self.reduction == "sum" else total / max(1, count)).to(values.dtype)

    def check_batches(self, anchors: Tensor, item_ids: Tensor | None) -> None:
        """Raise where the arguments of :meth:`of_batches` do not fit this objective."""
        if not self.of_two:
            raise ValueError(
                "inner must be a function of two batches, (anchors, others), for of_batches; "
                "a function of differences is called with scores and target"
            )
        if self.average is None:
            return
        if item_ids is None or item_ids.shape != anchors.shape[:1]:
            got = "none" if item_ids is None else f"shape {tuple(item_ids.shape)}"
            raise ValueError(
                f"item_ids must have one id per anchor, shape ({len(anchors)},), got {got}"
            )
        require_ids("item_ids", item_ids, self.memory_size)

    def _inner(self, lists: Lists) -> Tensor:
        """ĝ of every positive, (lists, positives, width)."""
        others, weight = lists.negatives, lists.negative_weight
        if self.over == "all":
            others, weight = lists.scores, lists.weight
        if not self.of_two:
            total = pair_sum(self.inner, lists.positives, others, weight=weight)
            return (total / weight.sum(-1, keepdim=True)).unsqueeze(-1)
        unusable = weight[(weight != 0) & (weight != 1)]
        if len(unusable):
            raise ValueError(
                "weight must be 0 or 1 for an inner function of two batches, which takes no "
                f"weights, got values such as {unusable[0].item()}; pass a mask, or a surrogate"
            )
        rows = []
        for row, here in enumerate(lists.positive_weight > 0):
            given = self._of_two(lists.positives[row][here], others[row][weight[row] > 0])
            # Absent anchors repeat the first, like the scores: it can be computed with.
            where = torch.zeros(len(here), dtype=torch.long, device=here.device)
            where[here] = torch.arange(len(given), device=here.device)
            rows.append(given[where])
        return torch.stack(rows)

    def _of_two(self, anchors: Tensor, others: Tensor) -> Tensor:
        function: Callable[..., Tensor] = self.inner
        estimate = function(anchors, others)
        wanted = (len(anchors), self.width)
        if estimate.shape != wanted and not (self.width == 1 and estimate.shape == wanted[:1]):
            raise ValueError(
                f"inner must return {self.width} number(s) for each of {len(anchors)} anchors, "
                f"got shape {tuple(estimate.shape)}"
            )
        return estimate.reshape(wanted)

    def _outer(self, estimate: Tensor) -> Tensor:
        given = estimate.squeeze(-1) if self.width == 1 else estimate
        values = self.outer(given)
        require_same_shape("the result of outer", values, "the estimates", estimate[..., 0])
        return values


def _takes_two(inner: object) -> bool:
    """Whether a function wants two batches rather than their differences."""
    if isinstance(inner, Surrogate):
        return False
    if not callable(inner):
        raise ValueError(f"inner must be a surrogate or a function, got {inner!r}")
    try:
        function = inner.forward if isinstance(inner, nn.Module) else inner
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # a builtin such as torch.relu, of one tensor
        return False
    needed = [
        p
        for p in parameters
        if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    if len(needed) not in (1, 2):
        raise ValueError(
            "inner must take one tensor of differences, or two batches (anchors, others), "
            f"got a function of {len(needed)} arguments"
        )
    return len(needed) == 2
