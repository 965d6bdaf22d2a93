"""Every picture in its turn, the same numbers after a stop, broken pictures, kept maps."""

from __future__ import annotations

import itertools

import pytest
import torch
from tests.tasks.detection.cases import pictures, settings

from rankwise.data.images import BrokenImage
from rankwise.tasks.detection.dataset import (
    DetectionDataset,
    FeatureCache,
    can_cache,
    evaluation_images,
    numbered_rows,
    training_batches,
)
from rankwise.tasks.detection.settings import Augmentations
from rankwise.tasks.detection.task import new_detector


def first(batches, n):
    return list(itertools.islice(batches, n))


def test_every_image_comes_once_an_epoch_in_another_order():
    places = [place for batch in first(numbered_rows(6, 4, 0, 0), 6) for place in batch]
    rows = [row for row, _ in places]
    epochs = [rows[start : start + 6] for start in (0, 6, 12, 18)]
    assert all(sorted(epoch) == list(range(6)) for epoch in epochs)
    assert len({tuple(epoch) for epoch in epochs}) > 1
    assert [number for _, number in places] == list(range(24))


@pytest.mark.parametrize("workers", [0, 1])
def test_batches_from_a_later_step_are_the_same(workers):
    known = DetectionDataset(pictures("train"), settings().augmentations, seed=3)
    all_of_them = first(training_batches(known, 4, 0), 4)
    later = first(training_batches(known, 4, 2, workers), 2)
    for one, other in zip(all_of_them[2:], later, strict=True):
        assert torch.equal(one.images, other.images)
        for mine, theirs in zip(one.targets, other.targets, strict=True):
            assert torch.equal(mine["boxes"], theirs["boxes"])
            assert torch.equal(mine["labels"], theirs["labels"])


def test_a_loader_draws_nothing_from_the_generator_of_torch():
    # A resumed run starts one more; the state of the generator is in the checkpoint.
    known = DetectionDataset(pictures("train"), settings().augmentations, seed=3)
    before = torch.get_rng_state()
    first(training_batches(known, 4, 0), 2)
    assert torch.equal(torch.get_rng_state(), before)


def test_other_seeds_draw_other_changes():
    one, other = (
        DetectionDataset(pictures("train"), settings().augmentations, seed=seed) for seed in (0, 1)
    )
    assert not torch.equal(one[0, 0][0], other[0, 0][0])
    assert torch.equal(one[0, 7][0], one[0, 7][0])


def test_boxes_are_stretched_with_their_image():
    still = settings(augmentations={"flip": False, "expand": 1, "colors": False}).augmentations
    known = DetectionDataset(pictures("train"), still)
    picture, target = known[0, 0]
    assert picture.shape == (3, 64, 64)
    wanted = known.set.objects[0].boxes * torch.tensor([64 / 80, 64 / 60, 64 / 80, 64 / 60])
    torch.testing.assert_close(target["boxes"], wanted)


class Broken:
    """A set of which one picture cannot be read."""

    def __init__(self, inner, broken):
        self.inner, self.broken = inner, broken

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def __len__(self):
        return len(self.inner)

    def load(self, i):
        if i in self.broken:
            raise BrokenImage(f"{i}.jpg", "is not an image")
        return self.inner.load(i)


def test_a_broken_image_ends_it_or_the_next_stands_in():
    views = settings(augmentations={"flip": False, "expand": 1, "colors": False}).augmentations
    broken = Broken(pictures("train"), {2})
    with pytest.raises(BrokenImage, match=r"2.jpg: is not"):
        DetectionDataset(broken, views)[2, 0]
    on_broken = []
    known = DetectionDataset(broken, views, on_broken=on_broken.append)
    assert torch.equal(known[2, 0][0], known[3, 0][0])
    assert str(on_broken[0]) == "2.jpg: is not an image"
    with pytest.raises(BrokenImage, match="all images"):
        DetectionDataset(
            Broken(pictures("train"), set(range(6))), views, on_broken=on_broken.append
        )[0, 0]


def test_images_are_kept_or_not():
    for cache, there in ((True, 1), (False, 0)):
        known = DetectionDataset(pictures("train"), settings().augmentations.replace(cache=cache))
        known.small(0)
        assert len(known._kept) == there


def test_views_of_evaluation():
    picture = torch.full((3, 60, 90), 255, dtype=torch.uint8)
    (stretched,) = evaluation_images([picture], Augmentations(height=64, width=32))
    assert stretched.image.shape == (3, 64, 32)
    assert stretched.stretch == (32 / 90, 64 / 60)
    (padded,) = evaluation_images([picture], Augmentations(height=64, width=32, test_side=40))
    assert padded.image.shape == (3, 64, 64)  # 40 × 60 pixels, and nothing
    assert float(padded.image[:, :40, :60].min()) == 1.0
    assert float(padded.image[:, 40:].max()) == 0.0


FROZEN = {"network": {"frozen": 5}, "augmentations": {"expand": 1, "colors": False}}


def test_kept_maps_are_those_of_the_same_batches():
    asked = settings(**FROZEN)
    network = new_detector(asked, 2).eval()
    assert can_cache(network, asked.augmentations)
    known = DetectionDataset(pictures("train"), asked.augmentations, seed=2)
    kept = {}
    plain = first(training_batches(known, 3, 1), 3)
    maps = first(FeatureCache(known, network, kept).batches(3, 1), 3)
    for one, other in zip(plain, maps, strict=True):
        with torch.no_grad():
            wanted = network.maps(one.images)
        for level, found in zip(wanted, other.images, strict=True):
            torch.testing.assert_close(found, level, atol=1e-5, rtol=1e-4)
        for mine, theirs in zip(one.targets, other.targets, strict=True):
            torch.testing.assert_close(mine["boxes"], theirs["boxes"])
    other_weights = new_detector(settings(**FROZEN, training={"seed": 5}), 2).eval()
    before = len(kept)
    FeatureCache(known, other_weights, kept).of(0)
    assert len(kept) == before + 1


@pytest.mark.parametrize(
    "change",
    [{"augmentations": {"colors": True}}, {"augmentations": {"crop": True}},
     {"network": {"frozen": 4}},
     {"augmentations": {"cache": False}}, {"augmentations": {"expand": 1.1}}],
)  # fmt: skip
def test_maps_are_kept_only_where_nothing_changes(change):
    sections = {name: {**part, **change.get(name, {})} for name, part in FROZEN.items()}
    asked = settings(**sections)
    assert not can_cache(new_detector(asked, 2), asked.augmentations)
