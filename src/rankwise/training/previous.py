"""Outputs of the previous parameters on a batch (StableAP 6)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from rankwise.memory import PreviousModel
from rankwise.training.task import Moment

__all__ = ["previous_outputs"]


def previous_outputs(
    previous: PreviousModel | None, passes: Sequence[Callable[[nn.Module], Tensor]], moment: Moment
) -> Tensor | None:
    """Run the forward passes of a batch with the previous parameters, then replace these.

    Args:
        previous: Model with the parameters of the last step; None: nothing is run.
        passes: Forward passes of the batch, each called with the model.
        moment: Context of the step.

    Returns:
        Outputs joined along the first dimension, or None.

    Example:
        >>> import torch
        >>> from torch import nn
        >>> from rankwise.training import previous_outputs
        >>> from rankwise.memory import PreviousModel
        >>> from rankwise.training import Moment
        >>> layer = nn.Linear(1, 1, bias=False)
        >>> previous, rows = PreviousModel(layer), torch.ones(2, 1)
        >>> outputs = previous_outputs(previous, [lambda model: model(rows)], Moment(step=0))
        >>> bool((outputs == layer(rows)).all())  # nothing has moved yet
        True

    Reference:
        StableAP, Section 6.
    """
    if previous is None:
        return None
    found = []
    for number, run in enumerate(passes, 1):
        previous.train(number == len(passes))  # its parameters are replaced only once
        with moment.autocast():
            found.append(run(previous))
    return torch.cat(found)
