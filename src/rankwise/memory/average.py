"""Moving averages by key: one for each list, class or item that comes and goes with the batches."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from rankwise.checks import require_count, values_are_checked

__all__ = ["MovingAverage", "require_ids"]


class MovingAverage(nn.Module):
    """value[id] ← (1 − ema_rate)·value[id] + ema_rate·estimate: u of FCCO, v of SOPRC.

    A key starts at the first estimate it sees; several estimates of one key in a batch are
    averaged. Only training changes it: not ``eval()``, nor validation under ``torch.no_grad()``.
    The state is two buffers, ``value`` (keys, width) and ``seen`` (keys,).

    With ``log`` the estimates and the state are logarithms of what is averaged, so that neither
    e^{10⁶} nor e^{−10⁶} is lost. ``correction`` is the share β of a moving model's own change that
    is added when it is known (see :meth:`forward`); by default 1 − ema_rate, STORM.
    """

    value: Tensor
    seen: Tensor

    def __init__(
        self,
        num_items: int,
        width: int = 1,
        *,
        ema_rate: float,
        log: bool = False,
        correction: float | None = None,
    ) -> None:
        super().__init__()
        require_count("num_items", num_items)
        require_count("width", width)
        if not 0 < ema_rate <= 1:
            raise ValueError(f"ema_rate must be in (0, 1], got {ema_rate!r}")
        if correction is not None and not correction >= 0:
            raise ValueError(f"correction must not be negative, got {correction!r}")
        self.ema_rate, self.log = ema_rate, log
        self.correction = 1 - ema_rate if correction is None else correction
        self.register_buffer("value", torch.zeros(num_items, width))
        self.register_buffer("seen", torch.zeros(num_items, dtype=torch.bool))

    def updates(self) -> bool:
        """Whether a call now would change the state."""
        return self.training and torch.is_grad_enabled()

    def forward(self, ids: Tensor, estimate: Tensor, *, previous: Tensor | None = None) -> Tensor:
        """Take in ``estimate`` (n, width) for the keys ``ids`` (n,); return their new values.

        ``previous`` is the same estimate under the previous parameters: then the update is
        (1 − ema_rate)·value + ema_rate·estimate + correction·(estimate − previous), which tracks a
        moving model without its noise (StableAP 6; STORM, MSVR).
        """
        require_ids("ids", ids, len(self.value))
        updates = self.updates()
        with torch.no_grad():
            keys, which = torch.unique(ids, return_inverse=True)
            estimate = self._kept(estimate)
            previous = None if previous is None else self._kept(previous)
            if several := len(keys) < len(ids):
                estimate = self._mean_by(which, estimate, len(keys))
                if previous is not None:
                    previous = self._mean_by(which, previous, len(keys))
            else:
                keys = ids
            current = self._moved(keys, estimate, previous, self.ema_rate if updates else 0.0)
            if updates:
                self.value.index_copy_(0, keys, current)
                self.seen.index_fill_(0, keys, True)
            return current[which] if several else current

    def preview(self, ids: Tensor, estimate: Tensor, previous: Tensor | None = None) -> Tensor:
        """The value each estimate alone would give its key, ``ids`` and all, changing nothing."""
        earlier = None if previous is None else self._kept(previous)
        rate = self.ema_rate if self.updates() else 0.0
        return self._moved(ids, self._kept(estimate), earlier, rate)

    def _kept(self, estimate: Tensor) -> Tensor:
        return estimate.detach().to(self.value.dtype)

    def _moved(
        self, keys: Tensor, estimate: Tensor, previous: Tensor | None, rate: float
    ) -> Tensor:
        """What the keys have after the estimates; what they have now, where the rate is 0."""
        known, seen = self.value[keys], self.seen[keys].unsqueeze(-1)
        if rate == 0:
            moved = known
        elif self.log:
            if previous is not None:
                raise ValueError("previous is not for logarithms: a corrected sum may be negative")
            stays = known + math.log1p(-rate) if rate < 1 else torch.full_like(known, -torch.inf)
            moved = torch.logaddexp(stays, estimate + math.log(rate))
        else:
            moved = known.lerp(estimate, rate)
            if previous is not None:
                moved = moved + self.correction * (estimate - previous)
        return torch.where(seen, moved, estimate)

    def _mean_by(self, which: Tensor, values: Tensor, keys: int) -> Tensor:
        """Mean of the values of every key; of what they are the logarithms of, with ``log``."""
        top = values.new_zeros(keys, values.shape[1])
        if self.log:
            where = which.unsqueeze(1).expand_as(values)
            top = top.scatter_reduce(0, where, values, "amax", include_self=False)
            values = (values - top[which]).exp()
        total = values.new_zeros(keys, values.shape[1]).index_add_(0, which, values)
        count = values.new_zeros(keys).index_add_(0, which, torch.ones_like(values[:, 0]))
        mean = total / count.unsqueeze(1)
        return mean.log() + top if self.log else mean

    def extra_repr(self) -> str:
        """Sizes and rate."""
        num_items, width = self.value.shape
        return f"num_items={num_items}, width={width}, ema_rate={self.ema_rate}"


def require_ids(name: str, ids: Tensor, size: int) -> None:
    """Keys are whole numbers from 0 to size − 1."""
    if ids.is_floating_point() or ids.is_complex() or ids.dtype == torch.bool:
        raise ValueError(f"{name} must hold integers, got {ids.dtype}")
    if ids.numel() == 0 or not values_are_checked():
        return
    low, high = (int(end) for end in torch.aminmax(ids))
    if low < 0 or high >= size:
        raise ValueError(
            f"{name} must lie between 0 and {size - 1}, got values from {low} to {high}; "
            "the memory was made for that many"
        )
