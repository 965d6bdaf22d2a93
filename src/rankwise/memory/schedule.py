"""Rates of moving averages that fall in the course of training."""

from __future__ import annotations

import math

from torch import nn

from rankwise.checks import require_count
from rankwise.memory.fcco import FCCOAverage
from rankwise.memory.mirror import MirrorAverage


def cosine_ema_rate(epoch: int, epochs: int, lowest: float) -> float:
    """Compute the rate γ of an epoch, which falls from 1 to ``lowest`` along a cosine.

    γ = (1 − lowest)/2 · (1 + cos(π · epoch/epochs)) + lowest, and ``lowest`` from ``epochs`` on.
    Early averages are of a model that moves quickly: they are followed closely, later ones
    averaged over more batches.

    Args:
        epoch: Epoch, from 0.
        epochs: Number of epochs in which the rate falls.
        lowest: Rate at the end, in (0, 1].

    Returns:
        The rate, for :func:`set_ema_rate`.

    Example:
        >>> from rankwise.memory import cosine_ema_rate
        >>> [round(cosine_ema_rate(epoch, 4, 0.2), 3) for epoch in range(6)]
        [1.0, 0.883, 0.6, 0.317, 0.2, 0.2]

    Reference:
        Wei et al. 2024, "FastCLIP: A Suite of Optimization Techniques to Accelerate CLIP Training
        with Limited Resources", the schedule of the inner learning rate.
    """
    require_count("epoch", epoch, minimum=0)
    require_count("epochs", epochs)
    _require_rate("lowest", lowest)
    if epoch >= epochs:
        return lowest
    return (1 - lowest) / 2 * (1 + math.cos(math.pi * epoch / epochs)) + lowest


def set_ema_rate(module: nn.Module, ema_rate: float) -> None:
    """Set the rate of all FCCO averages of an objective or a pooling.

    The rate is not part of the ``state_dict``: set it at the start of every epoch, also of the
    first one after a resume.

    Args:
        module: Objective or pooling with a memory.
        ema_rate: Rate γ, in (0, 1].

    Raises:
        ValueError: If the module has no average with a rate.

    Example:
        >>> from rankwise.memory import cosine_ema_rate, set_ema_rate
        >>> from rankwise.objectives import GlobalContrastive
        >>> loss = GlobalContrastive(num_lists=1_000)
        >>> for epoch in range(2):
        ...     set_ema_rate(loss, cosine_ema_rate(epoch, 10, lowest=0.2))
        >>> round(loss.average.ema_rate, 3)
        0.98
    """
    _require_rate("ema_rate", ema_rate)
    found = [m for m in module.modules() if isinstance(m, FCCOAverage)]
    averages = [m for m in found if not isinstance(m, MirrorAverage)]  # its rate follows its step
    if not averages:
        raise ValueError(
            f"module must have moving averages with a rate, got {type(module).__name__}; make it "
            "with num_items, num_lists or num_bags"
        )
    for average in averages:
        average.ema_rate = ema_rate


def _require_rate(name: str, rate: float) -> None:
    if not 0 < rate <= 1:
        raise ValueError(f"{name} must be in (0, 1], got {rate!r}")
