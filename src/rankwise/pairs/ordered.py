"""``pair_sum_below``: sums over the pairs of a list whose keys are in strict order."""

from __future__ import annotations

import torch
from torch import Tensor

from rankwise.pairs.sums import pair_sum
from rankwise.pairs.surrogates import Surrogate


def pair_sum_below(
    surrogate: Surrogate, scores: Tensor, keys: Tensor, *, weight: Tensor | None = None
) -> Tensor:
    """Compute Σ_{j: keys_j < keys_i} weight_j · ℓ(scores_i − scores_j) for every item of a list.

    The keys of a list are numbered in order. The highest bit in which two numbers differ is 1 in
    the larger and 0 in the smaller. So for every bit, the items with 1 are summed over the items
    with 0 that share their higher bits: each pair in order is met once, and equal keys never. This
    is one :func:`pair_sum` of groups per bit, n log n each; relevances of a few levels have one or
    two bits.

    Args:
        surrogate: Surrogate ℓ.
        scores: Scores, shape (lists, n).
        keys: Numbers of the same shape, such as relevances; they have no gradient.
        weight: Weights of the lower items, of the same shape.

    Returns:
        The sums, shape (lists, n), with gradients in ``scores`` and ``weight``.

    Example:
        >>> import torch
        >>> from rankwise.pairs import ZeroOne
        >>> from rankwise.pairs.ordered import pair_sum_below
        >>> scores, keys = torch.tensor([[0.3, 0.2, 0.1]]), torch.tensor([[0.0, 1.0, 2.0]])
        >>> pair_sum_below(ZeroOne(), scores, keys)  # items of lower keys with scores not below
        tensor([[0., 1., 2.]])
    """
    number = dense_ranks(keys)
    most = int(number.max()) if number.numel() else 0
    lists = torch.arange(len(scores), device=scores.device).unsqueeze(-1)
    flat = scores.reshape(-1)
    total = torch.zeros_like(flat, dtype=torch.promote_types(flat.dtype, torch.float32))
    for bit in range(most.bit_length()):
        block = (lists * ((most >> (bit + 1)) + 1) + (number >> (bit + 1))).reshape(-1)
        high = ((number >> bit) & 1).bool().reshape(-1)
        upper, lower = high.nonzero().squeeze(-1), (~high).nonzero().squeeze(-1)
        sums = pair_sum(
            surrogate,
            flat[upper],
            flat[lower],
            weight=None if weight is None else weight.reshape(-1)[lower],
            upper_groups=block[upper],
            lower_groups=block[lower],
        )
        total = total.index_add(0, upper, sums.to(total.dtype))
    return total.reshape(scores.shape)


@torch.no_grad()
def dense_ranks(keys: Tensor) -> Tensor:
    """Return the number of smaller distinct keys of its row for every key, from 0."""
    ordered, order = keys.sort(dim=-1)
    new = ordered[..., 1:] != ordered[..., :-1]
    number = torch.nn.functional.pad(new.long().cumsum(-1), (1, 0))[..., : keys.shape[-1]]
    return torch.empty_like(number).scatter_(-1, order, number)
