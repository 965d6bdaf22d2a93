"""Moving averages by id: one for each list, class or item of the data set."""

from __future__ import annotations

import math
from typing import ClassVar, NamedTuple

import torch
from torch import Tensor, nn

from rankwise.checks import is_finite, require_count, require_each, require_ids, trusted
from rankwise.memory._shard import Shard


class MovingAverage(nn.Module):
    """Exponential moving averages, one row for each id.

    value[id] ← (1 − ema_rate)·value[id] + ema_rate·estimate. An id starts at its first estimate;
    several estimates of one id in an update are averaged. Only training changes the state: neither
    ``eval()`` nor ``torch.no_grad()`` does. The state is two buffers, ``value`` (num_items, width)
    and ``seen`` (num_items,).

    Args:
        num_items: Number of ids, 0 … num_items − 1.
        width: Numbers kept for each id.
        ema_rate: Weight of the new estimate, in [0, 1]. 0 keeps the first estimate of every id: a
            fixed value, for ablations.
        log: Whether estimates and state are logarithms of what is averaged, so that neither
            e^{10⁶} nor e^{−10⁶} is lost.
        correction: Factor of the change of the model itself, where :meth:`update` gets estimates
            under the previous parameters; by default 1 − ema_rate (STORM), and 0 for ema_rate=0.

    Example:
        >>> import torch
        >>> from rankwise.memory import MovingAverage
        >>> memory = MovingAverage(3, ema_rate=0.5)
        >>> memory.update(torch.tensor([2, 0]), torch.tensor([[4.0], [1.0]])).squeeze(1)
        tensor([4., 1.])
        >>> memory.update(torch.tensor([2]), torch.tensor([[8.0]])).squeeze(1)
        tensor([6.])
        >>> fixed = MovingAverage(1, ema_rate=0)
        >>> [fixed.update(torch.tensor([0]), torch.tensor([[x]])).item() for x in (4.0, 8.0)]
        [4.0, 4.0]
    """

    may_be_fixed: ClassVar[bool] = True  # whether ema_rate=0 is allowed
    shard: Shard | None = None  # set where this process has only some of the rows
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
        require_each(require_count, num_items=num_items, width=width)
        in_range = is_finite(ema_rate) and 0 <= ema_rate <= 1
        if not in_range or (ema_rate == 0 and not self.may_be_fixed):
            interval = "[0, 1]" if self.may_be_fixed else "(0, 1]"
            raise ValueError(f"ema_rate must be in {interval}, got {ema_rate!r}")
        if correction is not None and not (is_finite(correction) and correction >= 0):
            raise ValueError(f"correction must be a finite number >= 0, got {correction!r}")
        self.num_items, self.ema_rate, self.log = num_items, ema_rate, log
        self.given_correction = correction
        self.register_buffer("value", torch.zeros(num_items, width))
        self.register_buffer("seen", torch.zeros(num_items, dtype=torch.bool))

    @property
    def correction(self) -> float:
        """The factor of the change of the model; it follows the rate unless it was given."""
        if self.given_correction is not None:
            return self.given_correction
        return 1 - self.ema_rate if self.ema_rate > 0 else 0.0

    @property
    def learns(self) -> bool:
        """Whether an update now would change the state."""
        return self.training and torch.is_grad_enabled()

    def places(self, ids: Tensor) -> Tensor:
        """Return the rows of the buffers that hold ``ids``."""
        return ids if self.shard is None else self.shard.places(ids)

    def update(self, ids: Tensor, estimates: Tensor, *, valid: Tensor | None = None) -> Tensor:
        """Update the averages of ``ids`` and return their new values.

        Args:
            ids: Shape (n,), which rows the estimates are of.
            estimates: Shape (n, width); or (n, 2·width) with the same estimates under the previous
                parameters behind them. Then correction·(estimate − previous) is added, which
                follows a moving model without its noise (StableAP Eq. 6; STORM, MSVR).
            valid: Shape (n,), False for estimates that must not change the state; ids are then
                unique.

        Returns:
            The values of ``ids``, (n, width).
        """
        if not trusted.get():
            require_ids("ids", ids, self.num_items)
        if valid is None and ids.shape[0] > 1:
            estimates = self._mean_by_id(ids, estimates.detach().to(self.value.dtype))
        current = self.preview(ids, estimates)
        if self.learns:
            self._store(ids, current, valid)
        return current

    def preview(self, ids: Tensor, estimates: Tensor) -> Tensor:
        """Return the value that each estimate alone would give its id, without an update."""
        width, rate = self.value.shape[1], self.ema_rate
        estimates = estimates.detach().to(self.value.dtype)
        estimate, previous = estimates, None
        if estimates.shape[-1] > width:
            estimate, previous = estimates.split(width, dim=-1)
        known, seen = self._known(ids)
        if not self.learns or rate == self.correction == 0:
            moved = known
        elif self.log:
            if previous is not None:
                raise ValueError(
                    "estimates under previous parameters are not for logarithms: "
                    "a corrected sum may be negative"
                )
            stays = known + math.log1p(-rate) if rate < 1 else torch.full_like(known, -torch.inf)
            moved = torch.logaddexp(stays, estimate + (math.log(rate) if rate > 0 else -math.inf))
        else:
            moved = known.lerp(estimate, rate)
            if previous is not None:
                moved = moved.add_(estimate - previous, alpha=self.correction)
        return torch.where(seen.unsqueeze(-1), moved, estimate)

    def _known(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """The values of ids of any shape, and whether they were seen."""
        value, seen = self.value, self.seen
        if value.shape[0] == 1 and ids.shape == (1,):
            return value, seen
        places = self.places(ids)
        return value[places], seen[places]

    def _store(self, ids: Tensor, current: Tensor, valid: Tensor | None) -> None:
        """Several rows of one id are equal: any of them may be the one that is stored."""
        value, seen = self._known(ids)
        if value is self.value:
            if valid is None:
                value.copy_(current)
                seen.fill_(True)
            else:
                torch.where(valid.unsqueeze(-1), current, value, out=value)
                seen.logical_or_(valid)
            return
        places = self.places(ids)
        if valid is None:
            valid = torch.ones_like(seen)
        else:
            current, valid = current.where(valid.unsqueeze(-1), value), seen | valid
        self.value.index_copy_(0, places, current)
        self.seen.index_copy_(0, places, valid)

    def _mean_by_id(self, ids: Tensor, values: Tensor) -> Tensor:
        """Mean of the values of its id for every row; with ``log`` of what they are logarithms of.

        Of sorted ids and of the size of the input, whatever ids there are: nothing waits for a
        device to count them.
        """
        which = numbered(ids)
        top = torch.zeros_like(values)
        if self.log:
            where = which.unsqueeze(1).expand_as(values)
            top = top.scatter_reduce(0, where, values, "amax", include_self=False)[which]
            values = (values - top).exp()
        total = torch.zeros_like(values).index_add_(0, which, values)
        count = torch.zeros_like(values[:, 0]).index_add_(0, which, torch.ones_like(values[:, 0]))
        mean = (total / count.unsqueeze(1))[which]
        return mean.log() + top if self.log else mean

    def extra_repr(self) -> str:
        """Return sizes and rate."""
        width = self.value.shape[1]
        return f"num_items={self.num_items}, width={width}, ema_rate={self.ema_rate}"


def numbered(ids: Tensor) -> Tensor:
    """Number the distinct ids in ascending order, without waiting for a device to count them."""
    ordered, order = ids.sort(stable=True)
    new = torch.nn.functional.pad(ordered[1:] != ordered[:-1], (1, 0))
    return torch.empty_like(ids).scatter_(0, order, new.cumsum(0))


class DeferredAverage(MovingAverage):
    """Moving average that an objective updates once, after all the risks of a call.

    The risk of a list returns its estimates as a :class:`MemoryUpdate`; the objective joins those
    of all lists and processes and calls :meth:`MovingAverage.update`.

    Args:
        num_items, width, ema_rate, log, correction: See :class:`MovingAverage`.

    Example:
        >>> import torch
        >>> from rankwise.memory import DeferredAverage, MemoryUpdate
        >>> memory = DeferredAverage(2, ema_rate=0.5)
        >>> update = MemoryUpdate(memory, torch.tensor([1]), torch.tensor([[3.0]]))
        >>> _ = memory.update(update.ids, update.estimates)
        >>> memory.value.squeeze(1)
        tensor([0., 3.])
    """

    @property
    def update_width(self) -> int:
        """Numbers for each id of a :class:`MemoryUpdate`."""
        return self.value.shape[1]


class MemoryUpdate(NamedTuple):
    """Estimates for a memory, returned with the risk of some lists.

    Attributes:
        memory: The memory to update.
        ids: Which averages the estimates are of, shape (n,).
        estimates: Shape (n, memory.update_width).

    Example:
        >>> import torch
        >>> from rankwise.memory import DeferredAverage, MemoryUpdate
        >>> memory = DeferredAverage(2, ema_rate=0.5)
        >>> MemoryUpdate(memory, torch.tensor([1]), torch.tensor([[3.0]])).estimates.shape
        torch.Size([1, 1])
    """

    memory: DeferredAverage
    ids: Tensor  # (n,)
    estimates: Tensor  # (n, memory.update_width)
