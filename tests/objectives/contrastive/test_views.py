from __future__ import annotations

import pytest
import torch

from rankwise.baselines.info_nce import NTXent
from rankwise.objectives.contrastive import GlobalContrastive, two_modalities, two_views

FIRST, SECOND = torch.tensor([[1.0, 0.0], [0.0, 2.0]]), torch.tensor([[3.0, 3.0], [0.0, 1.0]])
HALF = 2**-0.5


def test_two_views_by_hand():
    scores, target, mask, list_ids = two_views(FIRST, SECOND, torch.tensor([7, 4]))
    expected = [[1, 0, HALF, 0], [0, 1, HALF, 1], [HALF, HALF, 1, HALF], [0, 1, HALF, 1]]
    torch.testing.assert_close(scores, torch.tensor(expected))
    assert target.int().tolist() == [[0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0], [0, 1, 0, 0]]
    assert mask is not None
    assert mask.int().tolist() == [[0, 1, 1, 1], [1, 0, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0]]
    assert list_ids is not None
    assert list_ids.tolist() == [7, 4, 7, 4]
    plain = two_views(FIRST, SECOND, normalize=False)
    assert plain.scores[1].tolist() == [0, 4, 6, 2]
    assert plain.list_ids is None


def test_others_are_negatives_of_all_anchors():
    more = torch.tensor([[5.0, 0.0]], dtype=torch.float64)
    scores, target, mask, _ = two_views(FIRST, SECOND, others=more)
    torch.testing.assert_close(scores[:, -1], torch.tensor([1, 0, HALF, 0]))
    assert not target[:, -1].any()
    assert mask is not None
    assert mask[:, -1].all()
    assert target.sum(1).tolist() == [1] * 4


def test_two_modalities_by_hand():
    scores, target, mask, list_ids = two_modalities(FIRST, SECOND, torch.tensor([7, 4]), 10)
    torch.testing.assert_close(scores, torch.tensor([[HALF, 0], [HALF, 1], [HALF, HALF], [0, 1]]))
    assert target.int().tolist() == [[1, 0], [0, 1], [1, 0], [0, 1]]
    assert mask is None
    assert list_ids is not None
    assert list_ids.tolist() == [7, 4, 17, 14]
    more = two_modalities(FIRST, SECOND, others=(FIRST[:1], SECOND[:1]), normalize=False)
    assert more.scores.tolist() == [[3, 0, 3], [6, 2, 6], [3, 6, 3], [0, 2, 0]]
    assert not more.target[:, -1].any()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_either_loss_pulls_the_views_together(dtype):
    torch.manual_seed(0)
    first, second = (torch.randn(6, 4, dtype=dtype, requires_grad=True) for _ in range(2))
    ids = torch.arange(6)

    def agreement() -> float:
        similarity = torch.nn.functional.cosine_similarity(first.float(), second.float())
        return similarity.mean().item()

    for loss, lists in (
        (NTXent(), lambda: two_views(first, second, ids)),
        (GlobalContrastive(6), lambda: two_views(first, second, ids)),
        (GlobalContrastive(12), lambda: two_modalities(first, second, ids, 6)),
    ):
        before = agreement()
        value = loss(**lists()._asdict())
        for leaf, slope in zip(
            (first, second), torch.autograd.grad(value, (first, second)), strict=True
        ):
            leaf.data -= slope
        assert agreement() > before


def test_one_thing_alone_has_nothing_to_be_told_from():
    """The last batch of an epoch may be one pair: 0 with a graph and a warning, not an error."""
    one, ids = (FIRST[:1].clone().requires_grad_(), SECOND[:1]), torch.tensor([0])
    for lists in (two_views(*one, ids), two_modalities(*one, ids, 1)):
        with pytest.warns(RuntimeWarning, match="no list of this batch has both classes"):
            value = GlobalContrastive(2)(**lists._asdict())
        assert value.item() == 0
        assert (torch.autograd.grad(value, one[0])[0] == 0).all()
    empty = two_views(FIRST[:0], SECOND[:0])
    with pytest.warns(RuntimeWarning, match="no list of this batch has both classes"):
        assert NTXent()(**empty._asdict()).item() == 0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: two_views(FIRST[0], SECOND), r"first must have shape \(items, dimension\)"),
        (lambda: two_views(FIRST, SECOND[:1]), r"second must have the shape \(2, 2\)"),
        (lambda: two_views(FIRST, SECOND, torch.arange(3)), r"one id per item, shape \(2,\)"),
        (
            lambda: two_views(FIRST, SECOND, others=FIRST[:, :1]),
            r"others must have shape \(items, 2",
        ),
        (lambda: two_modalities(FIRST, SECOND[0]), r"texts must have the shape \(2, 2\)"),
        (
            lambda: two_modalities(FIRST, SECOND, torch.arange(2)),
            "num_items is needed with item_ids",
        ),
        (
            lambda: two_modalities(FIRST, SECOND, torch.tensor([0, 2]), 2),
            "item_ids must lie between 0 and 1, got values from 0 to 2",
        ),
        (
            lambda: two_modalities(FIRST, SECOND, others=(FIRST, SECOND[:1])),
            "as many images as texts, got 2 and 1",
        ),
    ],
)
def test_bad_input_is_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()
