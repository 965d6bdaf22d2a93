from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from PIL import Image
from tests.tasks.retrieval.cases import images

from rankwise.data.images import BrokenImage, ImageSet
from rankwise.samplers import ClassBatches
from rankwise.vision.augmentations import resize
from rankwise.vision.image_dataset import ImageDataset
from rankwise.vision.settings import Augmentations

VIEWS = Augmentations(resize=8, crop=8)


def files(folder, sizes=(8, 10, 12, 9)) -> ImageSet:
    paths = []
    for number, size in enumerate(sizes):
        pixels = np.full((size, size, 3), 60 * number, dtype=np.uint8)
        paths.append(folder / f"{number}.png")
        Image.fromarray(pixels).save(paths[-1])
    labels = torch.tensor([4, 4, 7, 7])
    return ImageSet("files", labels, tuple("abcdefgh"), paths=tuple(paths))


def test_images_are_resized_and_classes_counted_from_0(tmp_path):
    found = ImageDataset(files(tmp_path), VIEWS)
    assert len(found) == 4
    assert [tuple(found[i].shape) for i in range(4)] == [(3, 8, 8)] * 4
    assert found.labels.tolist() == [0, 0, 1, 1]
    assert found.classes.tolist() == [4, 7]
    assert int(found[2].max()) == 120
    held = images("held", 2)
    assert torch.equal(ImageDataset(held, VIEWS)[3], resize(held.load(3), VIEWS))


def test_a_loader_draws_nothing_from_the_generator_of_torch(tmp_path):
    # A resumed run starts one more; the state of the generator is in the checkpoint.
    before = torch.get_rng_state()
    assert len(list(ImageDataset(files(tmp_path), VIEWS).center_crops(range(4), 2))) == 2
    assert torch.equal(torch.get_rng_state(), before)


def test_an_unreadable_image_ends_the_run_or_another_of_its_class_stands_in(tmp_path):
    broken = files(tmp_path)
    broken.paths[2].write_bytes(b"nonsense")
    with pytest.raises(BrokenImage, match=r"2\.png: is not an image"):
        ImageDataset(broken, VIEWS)[2]
    on_broken = []
    found = ImageDataset(broken, VIEWS, on_broken.append)
    assert torch.equal(found[2], found[3])
    assert [image.path.name for image in on_broken] == ["2.png"]
    broken.paths[3].unlink()
    with pytest.raises(BrokenImage, match=r"2\.png: is not an image"):
        found[2]


def test_batches_go_on_from_any_step():
    pictures = ImageDataset(images("train", 5), VIEWS)

    def sampler() -> ClassBatches:
        return ClassBatches(pictures.labels, 2, 2, seed=3)

    steps = 2 * len(sampler()) + 3
    whole = list(itertools.islice(pictures.batches(sampler(), 0), steps))
    assert not torch.equal(whole[0].rows, whole[len(sampler())].rows)  # a new epoch
    for start in (1, len(sampler()), steps - 2):
        rest = list(itertools.islice(pictures.batches(sampler(), start), steps - start))
        for one, other in zip(whole[start:], rest, strict=True):
            assert torch.equal(one.rows, other.rows)
            assert all(map(torch.equal, one.images, other.images))
    assert torch.equal(whole[0].images[1], pictures[int(whole[0].rows[1])])


def test_workers_read_the_same(tmp_path):
    pictures = ImageDataset(files(tmp_path), VIEWS)
    batches = (
        next(pictures.batches(ClassBatches(pictures.labels, 2, 2), 0, workers))
        for workers in (0, 1)
    )
    one, other = batches
    assert torch.equal(one.rows, other.rows)
    assert all(map(torch.equal, one.images, other.images))


def test_blocks_are_views_of_evaluation():
    pictures = ImageDataset(images("test", 3), VIEWS)
    blocks = list(pictures.center_crops(range(12), 5))
    assert [len(block) for block in blocks] == [5, 5, 2]
    torch.testing.assert_close(blocks[1][0], pictures[5].float() / 255)
    assert torch.equal(pictures.sample_pixels()[7], pictures[7])
