"""The gradient of a batch that does not fit into memory, exactly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor

__all__ = ["cached_backward"]

Backward = Callable[[Tensor, Tensor, bool], None]


def _backward(output: Tensor, gradient: Tensor, last: bool) -> None:
    output.backward(gradient)


def cached_backward(
    parts: Sequence[Callable[[], Tensor]],
    loss: Callable[[Tensor], Tensor],
    *,
    backward: Backward = _backward,
    forward: Callable[[], AbstractContextManager[object]] = nullcontext,
) -> Tensor:
    """Gradients of ``loss(torch.cat([part() for part in parts]))``, one part's graph at a time.

    Gao et al. 2021, "Scaling deep contrastive learning batch size": a first pass without a graph
    gives all embeddings e, the loss its gradient ∂L/∂e with a graph of the loss alone, and a second
    pass over every part the rest by the chain rule, ∂L/∂θ = Σ_parts ∂L/∂e_part · ∂e_part/∂θ. Memory
    is that of one part, the cost one more forward pass. Exact where a part gives the same in both
    passes: neither may it depend on the other parts (batch norm), nor draw random numbers of its
    own (dropout); one part alone is run once, as always.

    ``backward(output, gradient, last)`` runs a backward pass; ``last`` is where processes may
    exchange what has been added up. ``forward`` is a context of the passes, such as autocast.
    Returns the loss, without a graph.
    """
    if len(parts) == 1:
        with forward():
            output = parts[0]()
        gradient, value = _of_loss(loss, output.detach())
        backward(output, gradient, True)
        return value
    with torch.no_grad(), forward():
        embeddings = [part() for part in parts]
    gradient, value = _of_loss(loss, torch.cat(embeddings))
    pieces = gradient.split([len(part) for part in embeddings])
    del embeddings, gradient
    for number, (part, piece) in enumerate(zip(parts, pieces, strict=True), 1):
        with forward():
            output = part()
        backward(output, piece, number == len(parts))
    return value


def _of_loss(loss: Callable[[Tensor], Tensor], embeddings: Tensor) -> tuple[Tensor, Tensor]:
    """∂L/∂e, and L; what the loss itself has to learn gets its gradients as well."""
    leaf = embeddings.requires_grad_()
    value = loss(leaf)
    value.backward()
    gradient = leaf.grad
    assert gradient is not None  # every loss has a graph, also one with nothing to rank
    return gradient, value.detach()
