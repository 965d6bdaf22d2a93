"""Contrastive losses with one learned temperature (RGCL-g, FastCLIP)."""

from __future__ import annotations

import torch
from torch import nn

from rankwise.checks import require_number, require_positive
from rankwise.lists import Lists
from rankwise.memory import MemoryUpdate
from rankwise.objectives.base import Reduction, Risk
from rankwise.objectives.contrastive._formulas import log_mean_exp, negatives_above
from rankwise.objectives.contrastive.global_contrastive import GlobalContrastive


class LearnedTemperature(GlobalContrastive):
    """Global contrastive loss with one temperature for all anchors, learned with the model.

    The loss is mean_i τ (log(ε + u_i) + ρ) of :class:`GlobalContrastive`, minimized over τ ≥ lowest
    as well. ρ bounds the KL divergence of the worst-case weights of the negatives from uniform
    ones: without it τ would fall to its bound. With h_ij = s_ij − s̄_i⁺ the slope is

    ∂/∂τ = mean_i [log(ε + u_i) + ρ − mean_j [e^(h_ij/τ)·h_ij/τ] / (ε + u_i)].

    τ is the parameter ``tau``: pass ``loss.parameters()`` to the optimizer together with those of
    the model, in a group with its own learning rate and without weight decay. Every training call
    restores τ ≥ lowest. :class:`IndividualTemperatures` learns one τ for each anchor.

    Args:
        num_lists: Number of anchors in the data set; None keeps no averages.
        temperature: Temperature that training starts with.
        epsilon: ε in the logarithm.
        ema_rate: Rate γ of the moving averages u_i; :func:`~rankwise.memory.cosine_ema_rate` is the
            published schedule.
        rho: ρ, the bound of the KL divergence.
        lowest: Lower bound of the temperature.
        reduction: See :class:`Objective`.

    Example:
        >>> import torch
        >>> from rankwise.objectives import LearnedTemperature
        >>> loss = LearnedTemperature(num_lists=1, temperature=0.1, rho=6.5)
        >>> value = loss(torch.tensor([[0.5, 0.2, 0.2]]), torch.tensor([[1, 0, 0]]))
        >>> round(value.item(), 4)  # 0.1 (-3 + 6.5)
        0.35
        >>> value.backward()
        >>> loss.tau.grad  # -3 + 6.5 + 3
        tensor(6.5000)

    Reference:
        Wei et al. 2024, "FastCLIP: A Suite of Optimization Techniques to Accelerate CLIP Training
        with Limited Resources" (RGCL-g, FastCLIP-v3).
    """

    def __init__(
        self,
        num_lists: int | None,
        temperature: float = 0.07,
        epsilon: float = 0.0,
        *,
        ema_rate: float = 0.9,
        rho: float = 6.5,
        lowest: float = 0.01,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(num_lists, temperature, epsilon, ema_rate=ema_rate, reduction=reduction)
        require_number("rho", rho, minimum=0)
        require_positive("lowest", lowest)
        if not lowest <= temperature:
            raise ValueError(
                "lowest and temperature must satisfy 0 < lowest <= temperature, "
                f"got {lowest!r} and {temperature!r}"
            )
        self.rho, self.lowest = rho, lowest
        self.tau = nn.Parameter(torch.tensor(float(temperature)))

    def risk(self, lists: Lists) -> Risk:
        # At its bound after a step across it, with the slope there: it may leave the bound again.
        tau = self.tau + (self.tau.clamp_min(self.lowest) - self.tau).detach()
        tau = tau.to(lists.positive_weight.dtype)
        exponent = negatives_above(lists, tau)
        log_g, updates = self.averaged(lists, log_mean_exp(exponent, lists.negative_weight))
        return Risk(tau * (log_g + self.rho), updates)

    def update_memories(self, updates: list[MemoryUpdate]) -> None:
        """Put τ back to its bound, where the risk was evaluated."""
        super().update_memories(updates)
        if self.training and torch.is_grad_enabled():
            with torch.no_grad():
                self.tau.clamp_(min=self.lowest)
