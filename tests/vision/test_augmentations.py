from __future__ import annotations

import sys
from itertools import islice

import pytest
import torch
from tests.tasks.classification.cases import images

from rankwise.errors import UsageError
from rankwise.tasks.classification.task import ShuffledBatches
from rankwise.vision.augmentations import (
    center_crop,
    draw_mixing,
    make_augmentation,
    make_fast_augmentation,
    mix_features,
    resize,
)
from rankwise.vision.image_dataset import ImageDataset
from rankwise.vision.settings import Augmentations

CPU = torch.device("cpu")
SQUARE = Augmentations(resize=12, crop=8, flip=False)


def picture(height: int, width: int) -> torch.Tensor:
    rng = torch.Generator().manual_seed(height * width)
    return torch.randint(0, 256, (3, height, width), dtype=torch.uint8, generator=rng)


def test_resized_by_both_sides_or_by_the_shorter():
    assert resize(picture(20, 30), SQUARE).shape == (3, 12, 12)
    free = Augmentations(resize=12, crop=8, square=False)
    assert resize(picture(20, 30), free).shape == (3, 12, 18)
    assert resize(picture(50, 25), free).shape == (3, 24, 12)
    assert resize(picture(7, 6), free).shape == (3, 14, 12)
    same = picture(12, 12)
    assert resize(same, SQUARE) is same


def test_a_smaller_picture_is_the_mean_of_what_it_covers():
    pixels = torch.arange(16, dtype=torch.uint8).reshape(1, 4, 4).expand(3, 4, 4) * 8
    found = resize(pixels, Augmentations(resize=2, crop=2)).float()
    assert found.dtype == torch.float32
    # Antialiased bilinear weights of 4 → 2: 3/7, 3/7, 1/7 from the outside in, on both axes.
    weights = torch.tensor([[3, 3, 1, 0], [0, 1, 3, 3]]) / 7
    expected = weights @ pixels.float() @ weights.T
    torch.testing.assert_close(found, expected, atol=1.0, rtol=0)


def test_the_view_of_evaluation_is_the_center():
    pictures = [picture(12, 18), picture(14, 12)]
    found = center_crop(pictures, Augmentations(resize=12, crop=8, square=False))
    assert torch.equal(found[0], pictures[0][:, 2:10, 5:13].float() / 255)
    assert torch.equal(found[1], pictures[1][:, 3:11, 2:10].float() / 255)


@pytest.mark.parametrize("square", [True, False])
def test_a_random_crop_is_a_part_of_the_picture(square):
    views = make_augmentation(Augmentations(resize=12, crop=8, flip=False, square=square))
    pictures = [picture(12, 12 if square else 15) for _ in range(6)]
    torch.manual_seed(0)
    found = (views(pictures, CPU) * 255).round().byte()
    assert found.shape == (6, 3, 8, 8)
    places = set()
    for cut in found:
        places |= {
            (top, left)
            for top in range(5)
            for left in range(pictures[0].shape[2] - 7)
            if (pictures[0][:, top : top + 8, left : left + 8].int() - cut.int()).abs().max() <= 1
        }
    assert len(places) > 2


def test_flips_are_of_half_of_the_images():
    views = make_augmentation(Augmentations(resize=8, crop=8))
    pictures = [picture(8, 8)] * 200
    torch.manual_seed(0)
    found = views(pictures, CPU)
    straight = pictures[0].float() / 255
    same = sum(torch.equal(view, straight) for view in found)
    mirrored = sum(torch.equal(view, straight.flip(2)) for view in found)
    assert same + mirrored == 200
    assert 70 < same < 130


def test_rotation_stays_within_its_angle_and_leaves_no_black_corner():
    views = make_augmentation(Augmentations(resize=9, crop=9, flip=False, rotation=15))
    white = torch.full((3, 9, 9), 255, dtype=torch.uint8)
    torch.manual_seed(0)
    torch.testing.assert_close(views([white] * 20, CPU), torch.ones(20, 3, 9, 9))
    # The dot on the right at radius 4 moves by at most 4 sin 15° ≈ 1.04 pixels up or down.
    dot = torch.zeros(3, 9, 9, dtype=torch.uint8)
    dot[:, 4, 8] = 255
    found = views([dot] * 50, CPU)[:, 0]
    rows = torch.arange(9.0)
    height = (found.sum(2) @ rows) / found.sum((1, 2)) - 4
    assert height.abs().max() <= 1.25
    assert height.std() > 0.3


def test_a_resized_crop_has_the_size_asked_for():
    views = make_augmentation(Augmentations(resize=12, crop=8, resized_crop=True, scale=(0.3, 0.5)))
    torch.manual_seed(0)
    found = views([picture(12, 12)] * 4, CPU)
    assert found.shape == (4, 3, 8, 8)
    assert not torch.equal(found[0], found[1])
    assert 0 <= found.min() < found.max() <= 1


def test_all_randomness_is_of_torchs_generator():
    views = make_augmentation(Augmentations(resize=12, crop=8, rotation=10))
    torch.manual_seed(3)
    first = views([picture(12, 12)] * 3, CPU)
    torch.manual_seed(3)
    assert torch.equal(
        make_augmentation(Augmentations(resize=12, crop=8, rotation=10))(
            [picture(12, 12)] * 3, CPU
        ),
        first,
    )


def test_shapes_that_do_not_go_together():
    with pytest.raises(
        UsageError, match=r"augmentations\.rotation need augmentations\.square: true"
    ):
        Augmentations(square=False, rotation=15)


def test_without_kornia_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "kornia", None)
    with pytest.raises(
        ImportError,
        match=r'rankwise.vision needs kornia: pip install "rankwise\[vision\]"',
    ):
        make_augmentation(SQUARE)


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


def test_every_view_is_a_cut_of_its_image_maybe_flipped():
    torch.manual_seed(0)
    images = torch.randint(0, 256, (40, 3, 6, 6), dtype=torch.uint8)
    found = make_fast_augmentation(Augmentations(resize=6, crop=4))(images, CPU)
    assert found.shape == (40, 3, 4, 4)
    flips, places = set(), set()
    for image, view in zip(images, found, strict=True):
        cuts = {
            (flip, top, left): (cut.flip(2) if flip else cut).float() / 255
            for flip in (False, True)
            for top in range(3)
            for left in range(3)
            for cut in [image[:, top : top + 4, left : left + 4]]
        }
        (where,) = [key for key, cut in cuts.items() if torch.equal(cut, view)]
        flips.add(where[0])
        places.add(where[1:])
    assert flips == {False, True}
    assert len(places) == 9


def test_without_flip_and_room_it_is_the_picture():
    pictures = torch.randint(0, 256, (5, 3, 6, 6), dtype=torch.uint8)
    view = make_fast_augmentation(Augmentations(resize=6, crop=6, flip=False))
    assert torch.equal(view(pictures, CPU), pictures.float() / 255)
    assert torch.equal(view(list(pictures), CPU), pictures.float() / 255)


def test_what_is_more_is_left_to_retrieval():
    pictures = torch.randint(0, 256, (5, 3, 6, 6), dtype=torch.uint8)
    assert make_fast_augmentation(Augmentations(resize=6, crop=4, rotation=20))(
        pictures, CPU
    ).shape == (
        5,
        3,
        4,
        4,
    )


def test_batches_from_memory_are_those_of_the_loader():
    pictures = ImageDataset(images("train").images, Augmentations(resize=9, crop=8))
    sampler = ShuffledBatches(24, 5, seed=2)
    quick = list(islice(pictures.batches(sampler, 3, 0), 9))  # into the third epoch
    pictures.held = None  # read one by one
    usual = list(islice(pictures.batches(ShuffledBatches(24, 5, seed=2), 3), 9))
    for one, other in zip(quick, usual, strict=True):
        assert torch.equal(one.rows, other.rows)
        assert torch.equal(one.images, torch.stack(other.images))
