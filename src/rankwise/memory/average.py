"""Moving averages by key: one for each list, class or item that comes and goes with the batches."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from rankwise.checks import require_count, values_are_checked

__all__ = ["MovingAverage", "require_index"]


class MovingAverage(nn.Module):
    """value[key] ← (1 − rate)·value[key] + rate·estimate, the average u of FCCO and v of SOPRC.

    A key starts at the first estimate it sees; several estimates of one key in a batch are
    averaged. Only training changes it: not ``eval()``, nor validation under ``torch.no_grad()``.
    The state is two buffers, ``value`` (keys, width) and ``seen`` (keys,).

    With ``log`` the estimates and the state are logarithms of what is averaged, so that neither
    e^{10⁶} nor e^{−10⁶} is lost. ``correction`` is the share β of a moving model's own change that
    is added when it is known (see :meth:`forward`); by default 1 − rate, STORM.
    """

    value: Tensor
    seen: Tensor

    def __init__(
        self,
        keys: int,
        width: int = 1,
        *,
        rate: float,
        log: bool = False,
        correction: float | None = None,
    ) -> None:
        super().__init__()
        require_count("keys", keys)
        require_count("width", width)
        if not 0 < rate <= 1:
            raise ValueError(f"rate must be in (0, 1], got {rate!r}")
        if correction is not None and not correction >= 0:
            raise ValueError(f"correction must not be negative, got {correction!r}")
        self.rate, self.log = rate, log
        self.correction = 1 - rate if correction is None else correction
        self.register_buffer("value", torch.zeros(keys, width))
        self.register_buffer("seen", torch.zeros(keys, dtype=torch.bool))

    def updates(self) -> bool:
        """Whether a call now would change the state."""
        return self.training and torch.is_grad_enabled()

    def forward(self, index: Tensor, estimate: Tensor, *, previous: Tensor | None = None) -> Tensor:
        """Take in ``estimate`` (n, width) for the keys ``index`` (n,); return their new values.

        ``previous`` is the same estimate under the previous parameters: then the update is
        (1 − rate)·value + rate·estimate + correction·(estimate − previous), which tracks a moving
        model without its noise (StableAP 6; STORM, MSVR).
        """
        require_index("index", index, len(self.value))
        updates = self.updates()
        with torch.no_grad():
            keys, which = torch.unique(index, return_inverse=True)
            estimate = self._kept(estimate)
            previous = None if previous is None else self._kept(previous)
            if several := len(keys) < len(index):
                estimate = self._mean_by(which, estimate, len(keys))
                if previous is not None:
                    previous = self._mean_by(which, previous, len(keys))
            else:
                keys = index
            current = self._moved(keys, estimate, previous, self.rate if updates else 0.0)
            if updates:
                self.value.index_copy_(0, keys, current)
                self.seen.index_fill_(0, keys, True)
            return current[which] if several else current

    def preview(self, index: Tensor, estimate: Tensor, previous: Tensor | None = None) -> Tensor:
        """The value each estimate alone would give its key, ``index`` and all, changing nothing."""
        earlier = None if previous is None else self._kept(previous)
        rate = self.rate if self.updates() else 0.0
        return self._moved(index, self._kept(estimate), earlier, rate)

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
        keys, width = self.value.shape
        return f"keys={keys}, width={width}, rate={self.rate}"


def require_index(name: str, index: Tensor, size: int) -> None:
    """Keys are whole numbers from 0 to size − 1."""
    if index.is_floating_point() or index.is_complex() or index.dtype == torch.bool:
        raise ValueError(f"{name} must hold integers, got {index.dtype}")
    if index.numel() == 0 or not values_are_checked():
        return
    low, high = (int(end) for end in torch.aminmax(index))
    if low < 0 or high >= size:
        raise ValueError(
            f"{name} must lie between 0 and {size - 1}, got values from {low} to {high}; "
            "the memory was made for that many"
        )
