"""AdamW for embedding tables, at the cost of the rows that a step touches."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn

from rankwise.metrics.gather import gather_rows


class RowAdamW(torch.optim.AdamW):
    """AdamW whose cost for an embedding table is that of the rows a step touches.

    A parameter with a sparse gradient (``nn.Embedding(sparse=True)``) is updated by rows. Every row
    has its own number of steps t, which only the steps that touch it increase:

        m ← β₁ m + (1 − β₁) g,  v ← β₂ v + (1 − β₂) g²,
        θ ← (1 − αλ) θ − α m / (1 − β₁ᵗ) / (√(v / (1 − β₂ᵗ)) + ε)

    A row that a step does not touch keeps its values, moments and t: nothing of it decays. Every
    row is thus what AdamW makes of it on the steps that touch it, with the learning rates of these
    steps. Parameters with a dense gradient are updated as by :class:`torch.optim.AdamW`.

    :class:`torch.optim.SparseAdam` does not touch other rows either. It has no weight decay, and
    one t for all rows, by which the first update of a row that comes late is 3.2 times as long.

    Args:
        parameters: Parameters to move.
        lr: Learning rate α.
        betas: β₁ and β₂.
        eps: ε.
        weight_decay: λ.

    Example:
        >>> import torch
        >>> from torch import nn
        >>> from rankwise.training import RowAdamW
        >>> table = nn.Embedding.from_pretrained(torch.ones(3, 2), freeze=False, sparse=True)
        >>> optimizer = RowAdamW(table.parameters(), lr=0.1, weight_decay=0.0)
        >>> table(torch.tensor([1])).sum().backward(); optimizer.step()
        >>> table.weight.data.round(decimals=4)
        tensor([[1.0000, 1.0000],
                [0.9000, 0.9000],
                [1.0000, 1.0000]])

    Reference:
        Loshchilov & Hutter 2019, "Decoupled weight decay regularization", Algorithm 2.
    """

    def __init__(
        self,
        parameters: Iterable[nn.Parameter] | Iterable[dict[str, Any]],
        lr: float = 1e-3,
        *,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
    ) -> None:
        super().__init__(parameters, lr, betas=betas, eps=eps, weight_decay=weight_decay)

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> Any:
        """Take one step along the gradients."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        by_rows = [
            (group, parameter, parameter.grad)
            for group in self.param_groups
            for parameter in group["params"]
            if parameter.grad is not None and parameter.grad.is_sparse
        ]
        for group, parameter, gradient in by_rows:
            self._move_rows(group, parameter, gradient.coalesce())
            parameter.grad = None  # not for the dense step
        super().step()
        for _, parameter, gradient in by_rows:
            parameter.grad = gradient
        return loss

    def _move_rows(self, group: dict[str, Any], table: nn.Parameter, gradient: Tensor) -> None:
        rows, values = gradient.indices()[0], gradient.values()
        state = self.state[table]
        if not state:
            # Floating point like the moments, so that a state that was loaded is the same.
            state["step"] = torch.zeros(len(table), device=table.device)
            state["exp_avg"] = torch.zeros_like(table)
            state["exp_avg_sq"] = torch.zeros_like(table)
        rate, (beta1, beta2) = float(group["lr"]), group["betas"]
        steps = state["step"][rows] + 1
        first = state["exp_avg"][rows].lerp_(values, 1 - beta1)
        second = state["exp_avg_sq"][rows].mul_(beta2).addcmul_(values, values, value=1 - beta2)
        for name, changed in (("step", steps), ("exp_avg", first), ("exp_avg_sq", second)):
            state[name].index_copy_(0, rows, changed)
        corrections = [(1 - beta ** steps.double()).to(values.dtype) for beta in (beta1, beta2)]
        scale1, scale2 = (each.view(-1, *[1] * (values.dim() - 1)) for each in corrections)
        below = second.div_(scale2).sqrt_().add_(group["eps"])
        moved = table[rows].mul_(1 - rate * group["weight_decay"])
        table.index_copy_(0, rows, moved.sub_(first.div_(scale1).div_(below), alpha=rate))


def mean_of_rows(gradient: Tensor, processes: int) -> Tensor:
    """The mean of sparse gradients over the processes, of which the touched rows alone are sent."""
    own = gradient.coalesce()
    rows, values = gather_rows(own.indices()[0]), gather_rows(own.values().flatten())
    values = values.view(len(rows), *own.shape[1:]) / processes
    return torch.sparse_coo_tensor(rows.unsqueeze(0), values, own.shape).coalesce()
