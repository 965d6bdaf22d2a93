"""Moving averages in place of estimates inside a non-linear function: FCCO."""

from __future__ import annotations

import math
from typing import ClassVar

import torch
from torch import Tensor

from rankwise.memory.average import DeferredAverage, MemoryUpdate


class FCCOAverage(DeferredAverage):
    """Averages u_i in place of the estimates ĝ_i inside a non-linear f.

    Finite-sum coupled compositional optimization: f(ĝ_i) of a batch is biased where f is not
    linear; f(u_i), with u_i the average over all batches that contained i, is not in the limit. A
    value computed from :meth:`track` is f(u_i), with the gradient ∇f(u_i)·∇ĝ_i.

    Args:
        num_items, width, ema_rate, log, correction: See :class:`MovingAverage`. ``ema_rate`` must
            not be 0: f of a fixed u_i is not a risk.

    Example:
        >>> import torch
        >>> from rankwise.memory import FCCOAverage
        >>> memory = FCCOAverage(2, ema_rate=0.25)
        >>> ids, present = torch.tensor([0, 1]), torch.tensor([True, True])
        >>> u, update = memory.track(ids, torch.tensor([[2.0], [4.0]]), present)
        >>> _ = memory.update(update.ids, update.estimates)
        >>> g = torch.tensor([[6.0], [4.0]], requires_grad=True)
        >>> u, _ = memory.track(ids, g, present)  # 0.75 · 2 + 0.25 · 6
        >>> u.detach().squeeze(1)
        tensor([3., 4.])
        >>> u.log().sum().backward()  # 1/u, not 1/g
        >>> g.grad.squeeze(1)
        tensor([0.3333, 0.2500])

    Reference:
        EXM 2.3; Wang and Yang 2022, "Finite-sum coupled compositional stochastic optimization".
    """

    may_be_fixed: ClassVar[bool] = False

    @property
    def update_width(self) -> int:
        """Numbers for each id of an update: estimates and, without ``log``, the previous ones."""
        # All processes send the same columns, also one whose call has no previous estimates.
        return self.value.shape[1] if self.log else 2 * self.value.shape[1]

    def largest_log_share(self, ids: Tensor) -> Tensor | float:
        """Return the bound of log(ĝ/u) in training, of an average of logarithms."""
        return -math.log(self.ema_rate)

    def track(
        self,
        ids: Tensor,
        estimate: Tensor,
        present: Tensor | None = None,
        *,
        previous: Tensor | None = None,
    ) -> tuple[Tensor, MemoryUpdate]:
        """Return u with the gradient of the estimates, and the update to apply after the call.

        Args:
            ids: Shape (…), which averages the estimates are of.
            estimate: ĝ, shape (…, width); logarithms with ``log``.
            present: Shape (…), False for padding, which is left out of the update; None: all are.
            previous: ĝ under the previous parameters, of the shape of ``estimate``.

        Returns:
            u, of the shape of ``estimate``, and the update.
        """
        columns = estimate.detach()
        if not self.log:
            columns = torch.cat([columns, columns if previous is None else previous], -1)
        known = self.preview(ids, columns).to(estimate.dtype)
        moves = estimate - estimate.detach()
        if self.log:
            # d log ĝ = dĝ/ĝ, so the step from u is ĝ/u of it; u ≥ rate·ĝ bounds that in training.
            moves = (estimate.detach() - known).clamp_max(self.largest_log_share(ids)).exp() * moves
        if present is None:
            return known + moves, MemoryUpdate(self, ids.flatten(), columns.flatten(0, -2))
        return known + moves, MemoryUpdate(self, ids[present], columns[present])


def tracked(
    average: FCCOAverage | None,
    ids: Tensor | None,
    estimate: Tensor,
    present: Tensor | None = None,
    previous: Tensor | None = None,
) -> tuple[Tensor, list[MemoryUpdate]]:
    """Return the tracked estimates and what the memory learns; without one, the estimates.

    Args:
        average: The memory, or None.
        ids: Memory rows of the estimates, shape (…).
        estimate: Estimates, shape (…) or (…, width).
        present: Which of them count, shape (…); None: all.
        previous: Estimates under the previous parameters, of the shape of ``estimate``.
    """
    if average is None:
        return estimate, []
    assert ids is not None
    if estimate.dim() > ids.dim():
        value, update = average.track(ids, estimate, present, previous=previous)
        return value, [update]
    earlier = None if previous is None else previous.unsqueeze(-1)
    value, update = average.track(ids, estimate.unsqueeze(-1), present, previous=earlier)
    return value.squeeze(-1), [update]
