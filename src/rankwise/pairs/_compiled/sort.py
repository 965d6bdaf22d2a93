"""Radix sort of many lists at once, with the place that every score came from."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankwise._jit import kernel

Numbers = NDArray[np.floating]
Whole = NDArray[np.signedinteger]

_SHORT = 64  # scores of a list up to which insertion is faster


@kernel
def sort_lists(  # noqa: PLR0912
    bits: Whole, starts: Whole, keys: Whole, order: Whole, spare: tuple[Whole, Whole]
) -> None:
    """Sort every list of ``bits[order]`` into ``keys``, and ``order`` with them.

    ``bits`` are floating-point numbers read as integers. Where the sign bit is set, the other bits
    are inverted: then integers are in the order of the numbers. Doing so again restores them.
    Digits have eight bits: longer ones take fewer passes that miss the cache of addresses.
    """
    width = 8 * keys.itemsize
    magnitude = np.int64((1 << (width - 2)) - 1 + (1 << (width - 2)))  # all bits but the sign
    digits = width // 8
    one = np.uint64(1)  # unsigned places need no check for negative ones
    counts = np.empty((digits, 256), dtype=np.uint64)
    # Reading places in any order waits for the memory. In a loop of its own many reads wait at
    # once; between insertions, which branch unpredictably, one after the other.
    for row in range(len(starts) - 1):
        start, stop = starts[row], starts[row + 1]
        if stop - start <= _SHORT:
            for i in range(start, stop):
                k = np.int64(bits[order[i]])
                keys[i] = k ^ ((k >> 63) & magnitude)
    for row in range(len(starts) - 1):
        start, stop = starts[row], starts[row + 1]
        if stop - start <= _SHORT:
            for i in range(start + 1, stop):
                place, k, j = order[i], keys[i], i
                while j > start and keys[j - 1] > k:
                    keys[j], order[j] = keys[j - 1], order[j - 1]
                    j -= 1
                keys[j], order[j] = k, place
        else:
            counts[:] = 0
            for i in range(start, stop):
                k = np.int64(bits[order[i]])
                k ^= (k >> 63) & magnitude
                keys[i] = k
                for digit in range(digits):
                    counts[digit, np.uint8(k >> (8 * digit))] += one
            from_keys, from_order, to_keys, to_order = keys, order, spare[0], spare[1]
            moved = False
            for digit in range(digits):
                shift, places = 8 * digit, counts[digit]
                if places[np.uint8(np.int64(keys[start]) >> shift)] == np.uint64(stop - start):
                    continue  # all have the same digit
                flip = 128 if digit == digits - 1 else 0  # negative numbers come first
                free = np.uint64(start)
                for value in range(256):
                    count = places[value ^ flip]
                    places[value ^ flip] = free
                    free += count
                for i in range(start, stop):
                    key = from_keys[i]
                    value_of_key = np.uint8(np.int64(key) >> shift)
                    to = places[value_of_key]
                    places[value_of_key] = to + one
                    to_keys[to] = key
                    to_order[to] = from_order[i]
                from_keys, to_keys = to_keys, from_keys
                from_order, to_order = to_order, from_order
                moved = not moved
            if moved:
                keys[start:stop] = from_keys[start:stop]
                order[start:stop] = from_order[start:stop]
        for i in range(start, stop):
            k = np.int64(keys[i])
            keys[i] = k ^ ((k >> 63) & magnitude)


@kernel
def group(list_of: Whole, starts: Whole, order: Whole) -> None:
    """Put the places of every list next to each other, in their order: a counting sort."""
    places = starts.copy()
    for i in range(len(list_of)):
        row = list_of[i]
        order[places[row]] = i
        places[row] += 1


@kernel
def gather(values: Numbers, order: Whole, result: Numbers) -> None:
    """Fill ``result`` with ``values`` in the sorted order."""
    for i in range(len(order)):
        result[i] = values[order[i]]


@kernel
def scatter_add(values: Numbers, order: Whole, result: Numbers) -> None:
    """Add sorted values to ``result`` in the order that they came in."""
    for i in range(len(order)):
        result[order[i]] += values[i]
