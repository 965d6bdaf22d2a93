from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from rankwise.pairs.ragged import size_classes

GROUPS = st.lists(st.integers(-5, 5), max_size=40).map(lambda g: torch.tensor(g, dtype=torch.long))


@given(left=GROUPS, right=GROUPS)
def test_every_item_is_in_the_row_of_its_group_once(left, right):
    seen: tuple[list[int], list[int]] = ([], [])
    ids = torch.unique(torch.cat([left, right]))
    for places, sides in size_classes(left, right):
        for which, (side, groups) in enumerate(zip(sides, (left, right), strict=True)):
            for row, group in enumerate(ids[places].tolist()):
                positions = side.positions[row]
                positions = (positions if side.mask is None else positions[side.mask[row]]).tolist()
                assert all(int(groups[p]) == group for p in positions)
                seen[which].extend(positions)
    assert sorted(seen[0]) == list(range(len(left)))
    assert sorted(seen[1]) == list(range(len(right)))


def test_less_than_half_is_padding():
    groups = torch.repeat_interleave(torch.arange(300), torch.arange(300) % 97 + 1)
    classes = list(size_classes(groups))
    cells = sum(side.positions.numel() for _, (side,) in classes)
    assert cells < 2 * len(groups)
    assert len(classes) <= 7


def test_take_fills_and_is_differentiable():
    flat = torch.arange(1.0, 6.0, requires_grad=True)
    ((places, (side,)),) = size_classes(torch.tensor([4, 4, 9, 9, 9]))
    assert places.tolist() == [0, 1]
    table = side.take(flat, fill=-1.0)
    assert table.tolist() == [[1, 2, -1], [3, 4, 5]]
    table.sum().backward()
    assert flat.grad is not None
    assert flat.grad.tolist() == [1] * 5


def test_lists_of_one_length_need_no_mask_and_in_order_no_copy():
    flat = torch.arange(6.0)
    ((_, (side,)),) = size_classes(torch.tensor([3, 3, 5, 5, 9, 9]))
    assert side.mask is None
    assert side.in_order
    assert side.take(flat).data_ptr() == flat.data_ptr()
    ((_, (side,)),) = size_classes(torch.tensor([5, 3, 9, 3, 5, 9]))
    assert side.mask is None
    assert not side.in_order
    assert side.take(flat).tolist() == [[1, 3], [0, 4], [2, 5]]
    values, places = side.restore(side.take(flat))
    assert torch.equal(values, flat[places])


def test_many_lists_in_random_order_keep_the_order_of_their_items():
    generator = torch.Generator().manual_seed(0)
    groups = torch.randperm(40_000, generator=generator).repeat(3)  # more than 16 bits hold
    ((places, (side,)),) = size_classes(groups)
    assert torch.equal(places, torch.arange(40_000))
    expected = groups.argsort(stable=True).reshape(-1, 3)
    assert torch.equal(side.positions, expected)
