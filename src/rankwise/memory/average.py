"""Moving averages by key: one for each list, class or item that comes and goes with the batches."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from rankwise.checks import require_count

__all__ = ["MovingAverage", "require_index"]


class MovingAverage(nn.Module):
    """value[key] ← (1 − rate)·value[key] + rate·estimate, the average u of FCCO and v of SOPRC.

    A key starts at the first estimate it sees; several estimates of one key in a batch are
    averaged. Only training changes it: not ``eval()``, nor validation under ``torch.no_grad()``.
    The state is two buffers, ``value`` (keys, width) and ``seen`` (keys,).
    """

    value: Tensor
    seen: Tensor

    def __init__(self, keys: int, width: int = 1, *, rate: float) -> None:
        super().__init__()
        require_count("keys", keys)
        require_count("width", width)
        if not 0 < rate <= 1:
            raise ValueError(f"rate must be in (0, 1], got {rate!r}")
        self.rate = rate
        self.register_buffer("value", torch.zeros(keys, width))
        self.register_buffer("seen", torch.zeros(keys, dtype=torch.bool))

    def updates(self) -> bool:
        """Whether a call now would change the state."""
        return self.training and torch.is_grad_enabled()

    def forward(self, index: Tensor, estimate: Tensor, *, previous: Tensor | None = None) -> Tensor:
        """Take in ``estimate`` (n, width) for the keys ``index`` (n,); return their new values.

        ``previous`` is the same estimate under the previous parameters: then the update is
        estimate + (1 − rate)·(value − previous), which tracks a moving model without its noise
        (StableAP 6). Without it the previous estimate is the current one.
        """
        require_index("index", index, len(self.value))
        updates = self.updates()
        with torch.no_grad():
            estimate = estimate.detach().to(self.value.dtype)
            earlier = estimate if previous is None else previous.detach().to(self.value.dtype)
            keys, which = torch.unique(index, return_inverse=True)
            estimate, earlier = (_mean_by(which, t, len(keys)) for t in (estimate, earlier))
            moved = estimate + (1 - self.rate) * (self.value[keys] - earlier)
            current = torch.where(self.seen[keys, None], moved, estimate)
            if updates:
                self.value.index_copy_(0, keys, current)
                self.seen.index_fill_(0, keys, True)
            else:
                current = torch.where(self.seen[keys, None], self.value[keys], estimate)
            return current[which]

    def preview(self, index: Tensor, estimate: Tensor) -> Tensor:
        """The value each estimate alone would give its key, ``index`` and all, changing nothing."""
        estimate = estimate.detach().to(self.value.dtype)
        rate = self.rate if self.updates() else 0.0
        known = self.value[index]
        return torch.where(self.seen[index].unsqueeze(-1), known.lerp(estimate, rate), estimate)

    def extra_repr(self) -> str:
        """Sizes and rate."""
        keys, width = self.value.shape
        return f"keys={keys}, width={width}, rate={self.rate}"


def require_index(name: str, index: Tensor, size: int) -> None:
    """Keys are whole numbers from 0 to size − 1."""
    if index.is_floating_point() or index.is_complex() or index.dtype == torch.bool:
        raise ValueError(f"{name} must hold integers, got {index.dtype}")
    if index.numel() == 0:
        return
    low, high = (int(end) for end in torch.aminmax(index))
    if low < 0 or high >= size:
        raise ValueError(
            f"{name} must lie between 0 and {size - 1}, got values from {low} to {high}; "
            "the memory was made for that many"
        )


def _mean_by(which: Tensor, values: Tensor, keys: int) -> Tensor:
    total = values.new_zeros(keys, values.shape[1]).index_add_(0, which, values)
    count = values.new_zeros(keys).index_add_(0, which, torch.ones_like(values[:, 0]))
    return total / count.unsqueeze(1)
