"""Gradient caching: the gradient of a large batch in the memory of a part of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor


def cached_backward(
    parts: Sequence[Callable[[], Tensor]],
    loss: Callable[[Tensor], Tensor],
    *,
    backward: Callable[[Tensor], None] = Tensor.backward,
    forward: Callable[[], AbstractContextManager[object]] = nullcontext,
) -> Tensor:
    """Compute the gradients of ``loss(torch.cat([part() for part in parts]))`` part by part.

    A first pass without a graph gives all embeddings e, the loss its gradient ∂L/∂e with a graph of
    the loss alone, and a second pass over every part the rest by the chain rule,
    ∂L/∂θ = Σ_parts ∂L/∂e_part · ∂e_part/∂θ. The memory is that of one part, the cost one more
    forward pass. It is exact where a part gives the same in both passes: it may neither depend on
    the other parts (batch norm) nor draw random numbers of its own (dropout). One part alone is
    run once.

    Args:
        parts: Forward passes, each returning the embeddings of some rows.
        loss: The loss of all embeddings.
        backward: The backward pass of the loss, which may scale it (half precision).
        forward: Context of the forward passes, such as autocast.

    Returns:
        The loss, without a graph.

    Example:
        >>> import torch
        >>> from rankwise.training import cached_backward
        >>> layer = torch.nn.Linear(2, 1, bias=False)
        >>> rows = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
        >>> parts = [lambda: layer(rows[:2]), lambda: layer(rows[2:])]
        >>> value = cached_backward(parts, lambda scores: scores.sum())
        >>> layer.weight.grad  # of one pass over all rows
        tensor([[2., 2.]])

    Reference:
        Gao et al. 2021, "Scaling deep contrastive learning batch size under memory limited setup".
    """
    alone = len(parts) == 1  # then the first pass keeps its graph
    with torch.set_grad_enabled(alone), forward():
        embeddings = [part() for part in parts]
    leaf = torch.cat(embeddings).detach().requires_grad_()
    value = loss(leaf)
    backward(value)  # the parameters of the loss itself get their gradients as well
    assert leaf.grad is not None  # every loss has a graph, also one with nothing to rank
    pieces, value = leaf.grad.split([len(part) for part in embeddings]), value.detach()
    first = embeddings[0]
    del embeddings, leaf  # the passes that follow need the memory
    for part, piece in zip(parts, pieces, strict=True):
        with forward():
            output = first if alone else part()
        output.backward(piece)
    return value
