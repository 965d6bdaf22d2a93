"""Who goes into which batch, at random, never twice into the same one."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rankwise.samplers.inputs import Ints

__all__ = ["deal", "even_draws"]


def even_draws(things: int, per_draw: int, draws: int, rng: np.random.Generator) -> Ints:
    """``draws`` times ``per_draw`` different things, each of them drawn equally often up to one.

    The things pass by in a new order every time they are used up. A draw that begins in one pass
    ends in the next, which therefore has to begin with others than that draw already holds.
    """
    if 2 * per_draw > things:  # who stays out is the same question, with room to choose
        left_out = even_draws(things, things - per_draw, draws, rng)
        stays = np.ones((draws, things), dtype=bool)
        np.put_along_axis(stays, left_out, False, axis=1)
        return np.nonzero(stays)[1].reshape(draws, per_draw)
    passes = math.ceil(draws * per_draw / things)
    order = rng.permuted(np.tile(np.arange(things), (passes, 1)), axis=1)
    # Only the first per_draw of a pass are rearranged and at most that many end it, so the passes
    # do not depend on each other and are worked all at once.
    begun = (np.arange(1, passes) * things) % max(per_draw, 1)
    held = np.zeros((len(begun), things), dtype=bool)
    ends = np.arange(things) >= things - begun[:, None]
    np.put_along_axis(held, order[:-1], ends, axis=1)
    missing = np.where(begun > 0, per_draw - begun, 0)
    order[1:] = _start_with_others(order[1:], held, missing)
    return order.reshape(-1)[: draws * per_draw].reshape(draws, per_draw)


def deal(counts: Ints, batches: int, rng: np.random.Generator) -> Ints:
    """Deal the cards of several suits over batches, no suit twice in one: (batches, suits in each).

    Suit ``s`` has ``counts[s] <= batches`` cards, numbered on from those of the suit before. The
    counts add up to a multiple of ``batches``.
    """
    # Cards lie in layers of one for each batch. A suit is a run of cards, and a run inside a layer
    # meets every batch once; only the suit over the edge of two layers needs care.
    layers = np.repeat(np.arange(len(counts)), counts).reshape(-1, batches)
    hands = np.empty(layers.shape[::-1], dtype=np.int64)
    held = np.zeros((1, batches), dtype=bool)
    last_suit = -1
    for layer, suits in enumerate(layers):
        order = rng.permutation(batches)[None]
        missing = np.array([np.count_nonzero(suits == last_suit)])
        order = _start_with_others(order, held, missing)
        hands[order[0], layer] = np.arange(layer * batches, (layer + 1) * batches)
        last_suit = suits[-1]
        held = np.zeros_like(held)
        held[0, order[0, suits == last_suit]] = True
    return hands


def _start_with_others(order: Ints, held: NDArray[np.bool_], missing: Ints) -> Ints:
    """Each row with its first ``missing`` things that are not ``held`` brought to the front."""
    free = ~np.take_along_axis(held, order, axis=1)
    front = free & (np.cumsum(free, axis=1) <= missing[:, None])
    result: Ints = np.take_along_axis(order, np.argsort(~front, axis=1, kind="stable"), axis=1)
    return result
