from __future__ import annotations

from itertools import islice

import torch
from tests.tasks.classification.cases import images

from rankwise.tasks.classification.batches import ShuffledBatches
from rankwise.vision.augmentations import make_fast_augmentation
from rankwise.vision.image_dataset import ImageDataset, training_batches
from rankwise.vision.settings import Augmentations

CPU = torch.device("cpu")


def test_every_view_is_a_cut_of_its_picture_maybe_flipped():
    pictures = torch.randint(0, 256, (40, 3, 6, 6), dtype=torch.uint8)
    found = make_fast_augmentation(Augmentations(resize=6, crop=4))(pictures, CPU)
    assert found.shape == (40, 3, 4, 4)
    flips, places = set(), set()
    for picture, view in zip(pictures, found, strict=True):
        cuts = {
            (flip, top, left): (cut.flip(2) if flip else cut).float() / 255
            for flip in (False, True)
            for top in range(3)
            for left in range(3)
            for cut in [picture[:, top : top + 4, left : left + 4]]
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
    quick = list(islice(training_batches(pictures, sampler, 3, 0), 9))  # into the third epoch
    pictures.held = None  # read one by one
    usual = list(islice(training_batches(pictures, ShuffledBatches(24, 5, seed=2), 3), 9))
    for one, other in zip(quick, usual, strict=True):
        assert torch.equal(one.rows, other.rows)
        assert torch.equal(one.images, torch.stack(other.images))
