from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwise.samplers import ClassBatches


@st.composite
def cases(draw):
    """Classes of very different sizes, with gaps between their ids."""
    sizes = draw(st.lists(st.integers(1, 6) | st.integers(1, 40), min_size=2, max_size=10))
    labels = [3 * label + 1 for label, size in enumerate(sizes) for _ in range(size)]
    shuffled = draw(st.randoms(use_true_random=False))
    shuffled.shuffle(labels)
    return labels, draw(st.integers(2, len(sizes))), draw(st.integers(1, 6))


@given(case=cases(), seed=st.integers(0, 100))
@settings(max_examples=150)
def test_counts_and_coverage(case, seed):
    labels, classes, per_class = case
    sizes = Counter(labels)
    batches = list(ClassBatches(labels, classes, per_class, seed=seed))
    for batch in batches:
        chunks = [batch[at : at + per_class] for at in range(0, len(batch), per_class)]
        assert len({labels[chunk[0]] for chunk in chunks}) == len(chunks) == classes
        for chunk in chunks:
            (label,) = {labels[item] for item in chunk}
            assert len(set(chunk)) == min(per_class, sizes[label])
    seen = Counter(item for batch in batches for item in batch)
    assert {labels[item] for item in seen} == set(labels)
    # All that fits is there: an item is missing only where its class is in every batch.
    for label, size in sizes.items():
        if size <= per_class * len(batches):
            assert all(seen[item] for item, y in enumerate(labels) if y == label)
        else:
            assert sum(seen[item] for item, y in enumerate(labels) if y == label) == (
                per_class * len(batches)
            )
    # An epoch is as long as the data set, in chunks.
    assert len(batches) == -(-sum(-(-size // per_class) for size in sizes.values()) // classes)


def test_classes_that_divide_evenly_come_exactly_once():
    batches = list(ClassBatches(np.repeat(np.arange(6), 4), 3, 2))
    assert sorted(item for batch in batches for item in batch) == list(range(24))


def test_a_class_too_large_for_an_epoch_gives_others_in_the_next():
    sampler = ClassBatches([0] * 40 + [1, 1], 2, 2)  # half of the 21 chunks at most
    first, second = ({item for batch in sampler for item in batch[:4]} for _ in range(2))
    assert len(sampler) == 11
    assert len(first | second) > len(first) == 24


def test_rates():
    sampler = ClassBatches(torch.tensor([0, 0, 0, 3]), 2, 4)
    assert sampler.rate == 3 / 7
    assert sampler.prior.tolist() == [0.75, 0, 0, 0.25]
    assert ClassBatches([0, 1], 2, 1).rate == 0


@pytest.mark.parametrize(
    ("labels", "classes", "per_class", "message"),
    [
        ([0, 0, 1], 3, 1, "classes must be at most the 2 classes in labels, got 3"),
        ([0, -1], 1, 2, "labels must be class ids >= 0, got -1; leave out items without a class"),
        ([0, 1], 0, 2, "classes must be a whole number >= 1, got 0"),
        ([0, 1], 2, 0, "per_class must be a whole number >= 1, got 0"),
        ([0, 1], 1, 1, r"classes \* per_class must be at least 2, got a batch of one item"),
        ([0.0, 1.0], 2, 1, "labels must be integer ids"),
    ],
)
def test_bad_input(labels, classes, per_class, message):
    with pytest.raises(ValueError, match=message):
        ClassBatches(labels, classes, per_class)
