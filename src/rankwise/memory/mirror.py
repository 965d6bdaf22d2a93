"""Moving averages of exponentials whose rate follows from a mirror descent step (SCENT)."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid, softplus

from rankwise.checks import require_number
from rankwise.memory.fcco import FCCOAverage

_LARGEST = 20.0  # of log(ĝ/u): an item may have a rate of next to nothing


class MirrorAverage(FCCOAverage):
    """Averages u_i in logarithms, updated by stochastic proximal mirror descent.

    log g = min_ν g·e^(−ν) + ν − 1 has the dual variable ν_i = log u_i. Its step of size e^a in the
    Bregman divergence of e^(−ν), with the estimate ĝ_i, is

    ν ← ν + log(1 + e^(a)·ĝ) − log(1 + e^(a + ν)).

    This is u ← (1−γ)u + γĝ with the rate γ = e^a·u/(1 + e^a·u): items with a large u, whose
    estimates are large, are followed closely, the others slowly. A :class:`FCCOAverage` has one
    rate for all of them.

    Args:
        num_items: Number of ids, 0 … num_items − 1.
        width: Numbers kept for each id.
        log_step: Logarithm a of the step size.

    Example:
        >>> import torch
        >>> from rankwise.memory import MirrorAverage
        >>> memory = MirrorAverage(1, log_step=0.0)
        >>> ids = torch.tensor([0])
        >>> memory.update(ids, torch.tensor([[1.0]]).log()).exp()
        tensor([[1.]])
        >>> memory.update(ids, torch.tensor([[2.0]]).log()).exp()  # the rate is 1/(1 + 1)
        tensor([[1.5000]])

    Reference:
        Wei et al. 2026, "A Geometry-Aware Efficient Algorithm for Compositional Entropic Risk
        Minimization" (SCENT).
    """

    def __init__(self, num_items: int, width: int = 1, *, log_step: float) -> None:
        super().__init__(num_items, width, ema_rate=1.0, log=True)
        require_number("log_step", log_step)
        self.log_step = log_step

    def preview(self, ids: Tensor, estimates: Tensor) -> Tensor:
        """Return the value that each estimate alone would give its id, without an update."""
        estimate = estimates.detach().to(self.value.dtype)
        known, seen = self._known(ids)
        if self.learns:
            reach = softplus(self.log_step + estimate) - softplus(self.log_step + known)
            known = known + reach
        return torch.where(seen.unsqueeze(-1), known, estimate)

    def largest_log_share(self, ids: Tensor) -> Tensor:
        """Return −log γ of every id, since u ≥ γĝ after an update; at most a finite weight."""
        return -logsigmoid(self.log_step + self._known(ids)[0]).clamp_min(-_LARGEST)

    def extra_repr(self) -> str:
        """Return sizes and step."""
        width = self.value.shape[1]
        return f"num_items={self.num_items}, width={width}, log_step={self.log_step}"
