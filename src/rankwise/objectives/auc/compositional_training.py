"""Compositional training: an objective after a gradient step of another loss."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call

from rankwise.checks import require_count, require_positive


def compositional_training_loss(
    model: nn.Module,
    x: Tensor,
    target: Tensor,
    objective: Callable[..., Tensor],
    inner: Callable[..., Tensor],
    *,
    step: float,
    steps: int = 1,
    second_order: bool = True,
    call_arguments: Mapping[str, Any] | None = None,
) -> Tensor:
    """Compute an objective of the model after gradient steps of an inner loss.

    The loss is L(w − step·∇L_in(w)), with L the objective, L_in the inner loss and w the parameters
    of the model. With cross-entropy inside and an AUC objective outside it is compositional
    training: cross-entropy learns the representation, and the AUC is that of the model after its
    step. Its gradient is (I − step·∇²L_in(w)) ∇L(w − step·∇L_in(w)).

    Buffers of the model, such as running statistics, learn from the outer pass alone.

    Args:
        model: Module from inputs to scores.
        x: Inputs, shape (items, …).
        target: Labels, as both losses take them.
        objective: Outer objective, such as :class:`MinMaxAUC`; its parameters go to the optimizer.
        inner: Inner loss, such as :class:`~rankwise.baselines.CrossEntropy`.
        step: Step size α of the inner steps.
        steps: Number of inner steps.
        second_order: Whether the gradient goes through ∇L_in as well, for which the model and the
            inner loss must be twice differentiable. False takes ∇L(w − step·∇L_in(w)), as the
            published algorithm does in practice.
        call_arguments: Further arguments of the objective, such as ``weight`` or ``item_ids``.

    Returns:
        The value of the objective.

    Example:
        >>> import torch
        >>> from rankwise.baselines import CrossEntropy
        >>> from rankwise.objectives import CompositionalAUC
        >>> from rankwise.objectives.auc import compositional_training_loss
        >>> model = torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.Flatten(0))
        >>> _ = torch.nn.init.zeros_(model[0].weight), torch.nn.init.zeros_(model[0].bias)
        >>> x, target = torch.tensor([[1.0], [-1.0]]), torch.tensor([1, 0])
        >>> # Cross-entropy moves the weight from 0 to 0.5, the scores to ±0.5: (1 − 1)₊²
        >>> compositional_training_loss(
        ...     model, x, target, CompositionalAUC(), CrossEntropy(), step=1.0
        ... ).item()
        0.0

    Reference:
        Yuan et al. 2022, "Compositional Training for End-to-End Deep AUC Maximization" (PDSCA).
    """
    require_positive("step", step)
    require_count("steps", steps)
    moved: dict[str, Tensor] = {name: p for name, p in model.named_parameters() if p.requires_grad}
    if not moved:
        raise ValueError("model must have parameters that require a gradient, got none")
    with torch.enable_grad():
        for _ in range(steps):
            # Copies, so that the statistics of normalizations are counted once, in the outer pass.
            buffers = {name: buffer.clone() for name, buffer in model.named_buffers()}
            value = inner(functional_call(model, {**moved, **buffers}, (x,)), target)
            slopes = torch.autograd.grad(
                value, list(moved.values()), create_graph=second_order, allow_unused=True
            )
            moved = {
                name: p if slope is None else p - step * slope
                for (name, p), slope in zip(moved.items(), slopes, strict=True)
            }
    result = objective(functional_call(model, moved, (x,)), target, **(call_arguments or {}))
    assert isinstance(result, Tensor)
    return result
