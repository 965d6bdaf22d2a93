from __future__ import annotations

import pytest
import torch

from rankwise.errors import UsageError
from rankwise.vision.mixup import draw_mixing, mix_features


def test_by_hand():
    features = torch.tensor([[1.0, 0.0], [0.0, 1.0], [4.0, 4.0], [8.0, 0.0]])
    weights = torch.tensor([[[0.5, 0.5], [0.25, 0.75]], [[1.0, 0.0], [0.0, 1.0]]])
    expected = [
        [1.0, 0.0],
        [0.0, 1.0],
        [0.9 * 1 + 0.1 * 0.5, 0.1 * 0.5],
        [0.1 * 0.25, 0.9 * 1 + 0.1 * 0.75],
        [4.0, 4.0],
        [8.0, 0.0],
        [4.0, 4.0],  # its own weight is 1: nothing changes
        [8.0, 0.0],
    ]
    torch.testing.assert_close(mix_features(features, weights, 0.9), torch.tensor(expected))


def test_weights_double_from_stage_to_stage_and_rows_sum_to_one():
    torch.manual_seed(0)
    drawn = draw_mixing(5, 4, 2, torch.zeros(()))
    assert [tuple(v.shape) for v in drawn] == [(5, 4, 4), (5, 8, 8)]
    for v in drawn:
        torch.testing.assert_close(v.sum(-1), torch.ones(v.shape[:2]))
        assert v.min() >= 0
    assert not torch.equal(drawn[0][0, 0], drawn[0][0, 1])


@pytest.mark.parametrize("shape", [(6, 3, 4, 5), (6, 7, 3)])
def test_classes_do_not_meet_and_any_shape_of_features_goes(shape):
    torch.manual_seed(0)
    features = torch.randn(shape)
    (v,) = draw_mixing(3, 2, 1, features)
    whole = mix_features(features, v, 0.9)
    assert whole.shape == (12, *shape[1:])
    torch.testing.assert_close(mix_features(features[2:4], v[1:2], 0.9), whole[4:8])


def test_a_batch_of_another_size_is_refused():
    with pytest.raises(UsageError, match="3 classes of 2 images make 6, got 5"):
        mix_features(torch.zeros(5, 2), torch.zeros(3, 2, 2), 0.9)
