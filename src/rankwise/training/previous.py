"""What the parameters of the last step make of a batch (StableAP 6)."""

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
    """Run the forward passes of a batch with the previous parameters, which then are replaced."""
    if previous is None:
        return None
    found = []
    for number, run in enumerate(passes, 1):
        previous.train(number == len(passes))  # its parameters are replaced only once
        with moment.autocast():
            found.append(run(previous))
    return torch.cat(found)
