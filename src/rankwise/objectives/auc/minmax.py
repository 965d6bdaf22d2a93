"""AUC as a saddle point, for any optimizer."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn

from rankwise.checks import is_finite, require_count, require_one_of, require_positive
from rankwise.eager import Function, eager_only, refuse_second
from rankwise.lists import Lists
from rankwise.memory import MemoryUpdate
from rankwise.objectives.auc._moments import class_moments
from rankwise.objectives.auc.compositional import Outer
from rankwise.objectives.base import Objective, Reduction


class MinMaxAUC(Objective):
    """Loss for AUC as a saddle point, unbiased for any batch size, in linear time.

    min_{a,b} max_α mean_P (s−a)² + mean_N (s−b)² + 2α(c + mean_N s − mean_P s) − α² is the dual of
    :class:`CompositionalAUC`, since (t+c)² is the largest 2α(t+c) − α² and (t+c)₊² the largest with
    α ≥ 0. At the saddle a and b are the class means and α = c + b − a, for the hinge at least 0.
    Every term is a mean over items, so a batch gives an unbiased gradient.

    a, b and α are parameters of the loss: pass ``loss.parameters()`` to the optimizer together with
    those of the model. The gradient of α is negated, so that any optimizer that descends for the
    others ascends for α; α ≥ 0 is restored in every training call.

    Args:
        margin: The margin c.
        prior: Share π of positives in the data set. AUCM as published takes means over all items,
            which is this loss times π(1−π): ``prior`` multiplies by that constant, so that
            published learning rates carry over. None does not.
        num_lists: Number of lists of the data set, each with its own a, b and α; with more than one
            the call needs ``list_ids``. With 1, all lists share them.
        f: ``"squared_hinge"`` is AUCM, ``"square"`` with a free α the form of Ying et al.
        reduction: See :class:`~rankwise.objectives.Objective`.

    Example:
        >>> import torch
        >>> from rankwise.objectives import MinMaxAUC
        >>> model, loss = torch.nn.Linear(3, 1), MinMaxAUC()
        >>> optimizer = torch.optim.SGD([*model.parameters(), *loss.parameters()], lr=0.1)
        >>> scores, target = torch.tensor([2.0, 1.0, 1.0, 0.0]), torch.tensor([1, 1, 0, 0])
        >>> loss(scores, target).item()  # a, b and α start at 0: (4 + 1)/2 + (1 + 0)/2
        3.0

    Reference:
        Yuan et al. 2021, "Large-scale Robust Deep AUC Maximization"; Ying, Wen and Lyu 2016,
        "Stochastic Online AUC Maximization".
    """

    twice_differentiable = True
    whole_positives: ClassVar[bool] = True
    whole_negatives: ClassVar[bool] = True
    memory_by = "list"

    def __init__(
        self,
        margin: float = 1.0,
        prior: float | None = None,
        num_lists: int = 1,
        *,
        f: Outer = "squared_hinge",
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        require_one_of("f", f, ("squared_hinge", "square"))
        require_positive("margin", margin)
        require_count("num_lists", num_lists)
        if prior is not None and not (is_finite(prior) and 0 < prior < 1):
            raise ValueError(f"prior must be None or a number between 0 and 1, got {prior!r}")
        self.f, self.margin, self.prior, self.memory_size = f, margin, prior, num_lists
        self.a = nn.Parameter(torch.zeros(num_lists))
        self.b = nn.Parameter(torch.zeros(num_lists))
        self.alpha = nn.Parameter(torch.zeros(num_lists))

    @property
    def lowest(self) -> float | None:
        """The lower bound of α, None where it is free."""
        return 0.0 if self.f == "squared_hinge" else None

    def risk(self, lists: Lists) -> Tensor:
        above, below, spread = class_moments(lists)
        a, b = (self._of(p, lists).to(spread.dtype) for p in (self.a, self.b))
        ascending = _Ascending.apply(self.alpha, self.lowest)
        alpha = self._of(ascending, lists).to(spread.dtype)
        # mean (s − a)² is the variance plus (mean − a)².
        value = spread + (above - a) ** 2 + (below - b) ** 2
        value = value + alpha * (2 * (self.margin + below - above) - alpha)
        if self.prior is not None:
            value = self.prior * (1 - self.prior) * value
        return value.to(lists.positive_weight.dtype)

    @staticmethod
    def _of(parameter: Tensor, lists: Lists) -> Tensor:
        """Return the value for every list."""
        return parameter if lists.list_ids is None else parameter[lists.list_ids]

    def update_memories(self, updates: list[MemoryUpdate]) -> None:
        """Clamp α to its lower bound, where the risk was evaluated."""
        super().update_memories(updates)
        if self.lowest is not None and self.training and torch.is_grad_enabled():
            with torch.no_grad():
                self.alpha.clamp_(min=self.lowest)


class _Ascending(Function):
    """The parameter at or above its lower bound, with a negated gradient: descent ascends."""

    @staticmethod
    def forward(ctx, parameter: Tensor, lowest: float | None) -> Tensor:  # type: ignore[no-untyped-def]
        ctx.parameter = parameter  # not saved: it is clamped in place before the backward pass
        return parameter.clone() if lowest is None else parameter.clamp_min(lowest)

    @staticmethod
    @eager_only
    def backward(ctx, gradient: Tensor):  # type: ignore[no-untyped-def]
        negated = -gradient
        if torch.is_grad_enabled():  # differentiated again, it would be negated again
            negated = refuse_second(negated, ctx.parameter)
        return negated, None
