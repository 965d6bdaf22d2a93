"""Moving averages of a ratio of two means, such as those of attention."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from rankwise.memory.average import MemoryUpdate, numbered
from rankwise.memory.fcco import FCCOAverage


class RatioAverage(FCCOAverage):
    """Averages of a numerator N_i and a denominator D_i > 0, in place of the estimates in N_i/D_i.

    Both have the same rate: D ← (1−γ)D + γD̂ and N ← (1−γ)N + γN̂. The state holds log D and the
    ratio R = N/D, in which the two are R ← R + (γD̂/D)(R̂ − R): neither leaves the range of numbers
    where D is e^{10⁴}. The value of :meth:`track` is R, with the gradient

    (∇N̂ − R∇D̂)/D = (D̂/D)(∇R̂ + (R̂ − R)∇log D̂).

    Args:
        num_items: Number of ids, 0 … num_items − 1.
        ema_rate: Weight γ of the new estimate, in (0, 1].

    Example:
        >>> import torch
        >>> from rankwise.memory import RatioAverage
        >>> memory, ids = RatioAverage(1, ema_rate=0.5), torch.tensor([0])
        >>> first = torch.tensor([[0.0, 4.0]])  # log D̂ = 0 and N̂/D̂ = 4
        >>> memory.update(ids, first)
        tensor([[0., 4.]])
        >>> second = torch.tensor([[3.0, 0.0]]).log()  # D̂ = 3 and N̂/D̂ = 0
        >>> memory.update(ids, second.nan_to_num(neginf=0.0)).squeeze(0)  # D = 2, N = 2
        tensor([0.6931, 1.0000])
    """

    def __init__(self, num_items: int, *, ema_rate: float) -> None:
        super().__init__(num_items, 2, ema_rate=ema_rate, log=True)

    def preview(self, ids: Tensor, estimates: Tensor) -> Tensor:
        """Return the value that each estimate alone would give its id, without an update."""
        estimate, rate = estimates.detach().to(self.value.dtype), self.ema_rate
        known, seen = self._known(ids)
        if self.learns:
            log_d, ratio = known.unbind(-1)
            new_d, new_ratio = estimate.unbind(-1)
            stays = log_d + math.log1p(-rate) if rate < 1 else torch.full_like(log_d, -torch.inf)
            arrives = new_d + math.log(rate)
            total = torch.logaddexp(stays, arrives)
            moved = ratio.lerp(new_ratio, (arrives - total).exp())
            known = torch.stack([total, moved], -1)
        return torch.where(seen.unsqueeze(-1), known, estimate)

    def track(
        self,
        ids: Tensor,
        estimate: Tensor,
        present: Tensor | None = None,
        *,
        previous: Tensor | None = None,
    ) -> tuple[Tensor, MemoryUpdate]:
        """Return R with the gradient of the estimates, (…, 1), and the update.

        Args:
            ids: Shape (…), which averages the estimates are of.
            estimate: log D̂ and R̂, shape (…, 2).
            present: Shape (…), False for padding; None: all are present.
            previous: Not supported.
        """
        if previous is not None:
            raise ValueError("previous must be None: a ratio has no correction")
        columns = estimate.detach()
        known = self.preview(ids, columns).to(estimate.dtype)
        log_d, ratio = known.split(1, -1)
        moves = estimate - columns
        bound = self.largest_log_share(ids)
        share = (columns[..., :1] - log_d).clamp_max(bound).exp()
        slope = moves[..., 1:] + (columns[..., 1:] - ratio) * moves[..., :1]
        if present is not None:
            ids, columns = ids[present], columns[present]
        return ratio + share * slope, MemoryUpdate(self, ids.flatten(), columns.reshape(-1, 2))

    def _mean_by_id(self, ids: Tensor, values: Tensor) -> Tensor:
        """Mean of N and of D over the rows of one id, as log D and R."""
        log_d = super()._mean_by_id(ids, values[:, :1])
        which, weight = numbered(ids), (values[:, :1] - log_d).exp()
        total = torch.zeros_like(values)
        total.index_add_(0, which, torch.cat([weight * values[:, 1:], weight], 1))
        return torch.cat([log_d, (total[:, :1] / total[:, 1:])[which]], 1)
