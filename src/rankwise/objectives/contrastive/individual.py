"""Contrastive losses whose temperature is learned for every anchor (iSogCLR)."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from rankwise.checks import is_finite, require_each, require_number, require_positive
from rankwise.lists import Lists
from rankwise.memory import DeferredAverage, FCCOAverage, MemoryUpdate
from rankwise.objectives.base import Reduction, Risk
from rankwise.objectives.contrastive._formulas import (
    log_mean_exp,
    mean_under_softmax,
    negatives_above,
)
from rankwise.objectives.contrastive.global_contrastive import GlobalContrastive


class Temperatures(DeferredAverage):
    """One temperature by id, moved against its averaged slope and kept between two bounds."""

    temperature: Tensor

    def __init__(
        self,
        num_items: int,
        start: float,
        bounds: tuple[float, float],
        *,
        step: float,
        ema_rate: float,
    ) -> None:
        super().__init__(num_items, ema_rate=ema_rate)
        self.bounds, self.step = bounds, step
        self.register_buffer("temperature", torch.full((num_items,), start))

    def update(self, ids: Tensor, estimates: Tensor, *, valid: Tensor | None = None) -> Tensor:
        """Take one step for every id; several slopes of an id are averaged."""
        places = self.places(ids)
        if not self.learns:
            return self.value[places]
        slope = super().update(ids, estimates, valid=valid)
        moved = self.temperature[places] - self.step * slope.squeeze(-1)
        # An id that comes twice has one slope, hence one temperature, written twice.
        self.temperature[places] = moved.clamp(*self.bounds)
        return slope


class IndividualTemperatures(GlobalContrastive):
    """Global contrastive loss with a learned temperature for every anchor.

    The loss is mean_i τ_i (log(ε + u_i) + ρ), minimized over every τ_i in [lowest, highest] as
    well. ρ bounds the KL divergence of the worst-case weights of the negatives from uniform ones,
    and τ_i is its dual variable. Anchors with many similar items get a high temperature, rare ones
    a low one. With h_j = s_j − s̄⁺ the slope is

    ∂/∂τ_i = log(ε + u_i) + ρ − mean_j [e^(h_j/τ_i)·h_j/τ_i] / (ε + u_i),

    with the mean over the batch. Every training call ends with τ_i ← clip(τ_i − step·v_i), v_i ←
    (1−β)v_i + β·slope: the model itself may have any optimizer. The temperatures are the buffer
    ``temperatures.temperature``. As published, u_i is not converted when τ_i moves, so ``step`` has
    to be small.

    Args:
        num_lists: Number of anchors in the data set.
        temperature: Temperature that all anchors start with.
        epsilon: ε in the logarithm.
        ema_rate: Rate γ of the moving averages u_i.
        rho: ρ, the bound of the KL divergence.
        lowest: Lower bound of the temperatures.
        highest: Upper bound of the temperatures.
        step: Step size of the temperatures.
        temperature_ema_rate: Rate β of the moving averages v_i of the slopes.
        reduction: See :class:`Objective`.

    Example:
        >>> import torch
        >>> from rankwise.objectives import IndividualTemperatures
        >>> loss = IndividualTemperatures(num_lists=1, temperature=0.1, rho=0.3, step=0.01)
        >>> loss(torch.tensor([[0.5, 0.2, 0.2]]), torch.tensor([[1, 0, 0]]))  # 0.1 (-3 + 0.3)
        tensor(-0.2700)
        >>> loss.temperatures.temperature  # the slope was -3 + 0.3 + 3
        tensor([0.0970])

    Reference:
        Qiu et al. 2023, "Not All Semantics are Created Equal: Contrastive Self-supervised Learning
        with Automatic Temperature Individualization" (iSogCLR).
    """

    average: FCCOAverage

    def __init__(
        self,
        num_lists: int,
        temperature: float = 0.1,
        epsilon: float = 0.0,
        *,
        ema_rate: float = 0.9,
        rho: float = 0.3,
        lowest: float = 0.05,
        highest: float = 0.7,
        step: float = 0.01,
        temperature_ema_rate: float = 0.9,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(num_lists, temperature, epsilon, ema_rate=ema_rate, reduction=reduction)
        require_number("rho", rho, minimum=0)
        require_each(require_positive, step=step, lowest=lowest, highest=highest)
        if not (is_finite(temperature_ema_rate) and 0 < temperature_ema_rate <= 1):
            raise ValueError(
                f"temperature_ema_rate must be in (0, 1], got {temperature_ema_rate!r}"
            )
        if not lowest <= temperature <= highest:
            raise ValueError(
                "lowest, temperature and highest must satisfy 0 < lowest <= temperature <= "
                f"highest, got {lowest!r}, {temperature!r} and {highest!r}"
            )
        self.rho = rho
        self.temperatures = Temperatures(
            num_lists,
            temperature,
            (lowest, highest),
            step=step,
            ema_rate=temperature_ema_rate,
        )

    def risk(self, lists: Lists) -> Risk:
        known = self.temperatures.temperature[self.temperatures.places(lists.ids)]
        temperature = known.to(lists.positive_weight.dtype)
        exponent = negatives_above(lists, temperature.unsqueeze(-1))
        log_mean = log_mean_exp(exponent, lists.negative_weight)
        log_g, updates = self.averaged(lists, log_mean)
        with torch.no_grad():
            # ĝ/(ε + u) is at most 1/γ in training; elsewhere the slope is not used.
            share = (log_mean - log_g).clamp_max(-math.log(self.average.ema_rate)).exp()
            leaning = mean_under_softmax(exponent, lists.negative_weight)
            slope = (log_g + self.rho - share * leaning).unsqueeze(-1)
        moved = MemoryUpdate(self.temperatures, lists.ids, slope)
        return Risk(temperature * (log_g + self.rho), [*updates, moved])
