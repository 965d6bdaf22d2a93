"""Kept maps one by one; whole batches of them are in the tests of the batches."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
import torch
from tests.tasks.detection.cases import pictures, settings
from tests.tasks.detection.test_dataset import FROZEN, Broken

from rankwise.data.images import BrokenImage
from rankwise.tasks.detection.dataset import (
    DetectionDataset,
    FeatureCache,
    can_cache,
    numbered_rows,
)
from rankwise.tasks.detection.settings import Augmentations
from rankwise.tasks.detection.task import new_detector

ASKED = settings(**FROZEN)


@pytest.fixture
def network():
    with torch.random.fork_rng(devices=[]):
        return new_detector(ASKED, 2).eval()


def known(name="train", views=ASKED.augmentations, **options):
    return DetectionDataset(pictures(name), views, **options)


def counted(network):
    """The number of pictures of every pass through the backbone from here on."""
    seen: list[int] = []
    network.features.register_forward_hook(lambda _, given, __: seen.append(len(given[0])))
    return seen


def test_a_map_is_what_the_network_sees(network):
    given = known()
    maps = FeatureCache(given, network)
    picture = given.small(1).float().unsqueeze(0) / 255
    with torch.no_grad():
        upright, mirrored = network.maps(picture), network.maps(picture.flip(-1))
    for found, wanted in zip(maps.of(1), upright, strict=True):
        assert torch.equal(found, wanted)
        assert not found.requires_grad
    for found, wanted in zip(maps.of(1, mirrored=True), mirrored, strict=True):
        assert torch.equal(found, wanted)
    assert not torch.equal(maps.of(1)[0], maps.of(1, mirrored=True)[0])


def test_each_image_is_looked_at_once_by_all_runs_together(network):
    seen, kept = counted(network), {}
    for _ in range(2):
        maps = FeatureCache(known(), network, kept)
        for row in (0, 3, 0):
            maps.of(row)
    assert seen == [1, 1]
    maps.of(0, mirrored=True)
    FeatureCache(known("validation"), network, kept).of(0)
    assert len(seen) == 4
    FeatureCache(known(), network).of(0)  # without the dictionary it is looked at again
    assert len(seen) == 5


def test_other_pixels_statistics_are_another_network(network):
    kept = {}
    before = FeatureCache(known(), network, kept).of(0)[0]
    with torch.no_grad():
        network.mean += 0.1
    assert not torch.equal(FeatureCache(known(), network, kept).of(0)[0], before)
    assert len(kept) == 2


def test_what_learns_behind_the_backbone_is_no_part_of_the_key(network):
    kept = {}
    FeatureCache(known(), network, kept).of(0)
    with torch.no_grad():
        for parameter in [*network.pyramid.parameters(), *network.head.parameters()]:
            parameter.add_(1)
    FeatureCache(known(), network, kept).of(0)
    assert len(kept) == 1


def test_stacked_maps_are_in_the_order_asked_for(network):
    maps = FeatureCache(known(), network)
    for level, found in enumerate(maps.stacked([4, 0, 4])):
        wanted = torch.cat([maps.of(row)[level] for row in (4, 0, 4)])
        assert torch.equal(found, wanted)


def test_a_network_says_the_same_of_kept_maps(network):
    given = known()
    picture = given.small(2).float().unsqueeze(0) / 255
    with torch.no_grad():
        plain, kept = network(picture), network(FeatureCache(given, network).stacked([2]))
    assert torch.equal(plain.logits, kept.logits)
    assert torch.equal(plain.anchors.boxes, kept.anchors.boxes)


def test_boxes_are_mirrored_with_their_maps(network):
    given = known(seed=2)
    maps = FeatureCache(given, network)
    batches = itertools.islice(maps.batches(4, 0), 6)
    places = itertools.islice(_rows(given), 24)
    turned = 0
    targets = [
        (batch.images[0][i], target) for batch in batches for i, target in enumerate(batch.targets)
    ]
    for (found, target), row in zip(targets, places, strict=True):
        _, boxes, labels = given.sample(row)
        mirrored = not torch.equal(found, maps.of(row)[0][0])
        if mirrored:
            assert torch.equal(found, maps.of(row, mirrored=True)[0][0])
            boxes = torch.stack([64 - boxes[:, 2], boxes[:, 1], 64 - boxes[:, 0], boxes[:, 3]], 1)
        torch.testing.assert_close(target["boxes"], boxes)
        assert torch.equal(target["labels"], labels)
        turned += mirrored
    assert 3 < turned < 21


def _rows(given):
    for batch in numbered_rows(len(given), 4, 0, given.seed):
        for row, _ in batch:
            yield row


def test_without_flip_nothing_is_mirrored(network):
    still = settings(
        network=FROZEN["network"], augmentations={**FROZEN["augmentations"], "flip": False}
    ).augmentations
    maps = FeatureCache(known(views=still), network)
    list(itertools.islice(maps.batches(6, 0), 3))
    assert len(maps.cache) == 6
    assert not any(mirrored for *_, mirrored in maps.cache)


def test_batches_from_a_later_step_are_the_same(network):
    given = known(seed=4)
    whole = list(itertools.islice(FeatureCache(given, network).batches(4, 0), 4))
    later = list(itertools.islice(FeatureCache(given, network).batches(4, 2), 2))
    for one, other in zip(whole[2:], later, strict=True):
        for mine, theirs in zip(one.images, other.images, strict=True):
            assert torch.equal(mine, theirs)
        for mine, theirs in zip(one.targets, other.targets, strict=True):
            assert torch.equal(mine["boxes"], theirs["boxes"])


def test_the_next_image_stands_in_for_a_broken_one_with_its_own_boxes(network):
    still = settings(
        network=FROZEN["network"], augmentations={**FROZEN["augmentations"], "flip": False}
    ).augmentations
    broken = Broken(pictures("train"), {1})
    with pytest.raises(BrokenImage, match=r"1\.jpg"):
        next(FeatureCache(DetectionDataset(broken, still), network).batches(6, 0))
    on_broken = []
    given = DetectionDataset(broken, still, on_broken=on_broken.append)
    batch = next(FeatureCache(given, network).batches(6, 0))
    assert [str(each) for each in on_broken] == ["1.jpg: is not an image"]
    counts = sorted(len(target["labels"]) for target in batch.targets)
    own = [len(each.trained()[1]) for each in broken.objects]
    assert counts == sorted([own[0], own[2], *own[2:]])


def test_only_a_backbone_that_is_frozen_to_its_end_is_kept(network):
    assert can_cache(network, ASKED.augmentations)
    assert not can_cache(network, Augmentations())  # crops, colors
    with torch.random.fork_rng(devices=[]):
        learning = new_detector(settings(augmentations=FROZEN["augmentations"]), 2)
    assert not can_cache(learning, ASKED.augmentations)


def test_other_images_sizes_and_levels_have_maps_of_their_own():
    """One dictionary for runs that differ in what a map depends on."""
    kept = {}
    with torch.random.fork_rng(devices=[]):
        network = new_detector(ASKED, 2).eval()
    first = FeatureCache(known(), network, kept).of(0)
    larger = ASKED.augmentations.replace(height=2 * ASKED.augmentations.height)
    taller = FeatureCache(known(views=larger), network, kept).of(0)
    assert taller[0].shape[-2] == 2 * first[0].shape[-2]
    mirrored = replace(pictures("train"), pixels=pictures("train").pixels[::-1])
    other = FeatureCache(DetectionDataset(mirrored, ASKED.augmentations), network, kept).of(0)
    assert not torch.equal(other[0], first[0])
    coarser = ASKED.network.replace(levels=ASKED.network.levels[1:])
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        fewer = new_detector(ASKED.replace(network=coarser), 2).eval()
    fewer.features.load_state_dict(network.features.state_dict())
    assert len(FeatureCache(known(), fewer, kept).of(0)) == len(
        fewer.maps(torch.rand(1, 3, 64, 64))
    )
    assert len(kept) == 4
