"""The one way in, and the real images where they are at hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from tests.data.images import layouts

from rankwise.data import DataError
from rankwise.data.images import KINDS, find_broken, open_images
from rankwise.data.images.image_set import ImageSet, LabeledImages
from rankwise.data.images.readers import CLASS_KINDS, open_classes

REAL = Path(__file__).parents[4] / "shared" / "data" / "images"
AT_HAND = [
    # kind, file, images, and classes to train on, to choose by, to test on
    ("fashion-mnist", "fashion_mnist", 70_000, (3, 2, 5)),
    ("omniglot", "omniglot_small", 242 * 20, (103, 14, 125)),
    ("cifar", "cifar10_subset.npz", 7_500, (3, 2, 5)),
    ("cifar", "cifar100_subset.npz", 7_500, (45, 5, 50)),
]


@pytest.mark.parametrize(
    ("kind", "name", "images", "classes"), [row for row in AT_HAND if (REAL / row[1]).exists()]
)
def test_real_images(kind, name, images, classes):
    splits = open_images(kind, REAL / name)
    parts = [splits.train, splits.validation, splits.test]
    assert sum(map(len, parts)) == images
    assert tuple(len(part.classes) for part in parts) == classes
    for part in parts:
        assert int(part.counts.min()) == int(part.counts.max())  # all of these are balanced
        image = part.load(len(part) - 1)
        assert image.shape[0] == 3
        assert image.min() < image.max()


@pytest.mark.parametrize("kind", KINDS)
def test_a_folder_that_is_not_there_is_named(kind, tmp_path):
    with pytest.raises(ValueError, match="nowhere: there is no such f"):
        open_images(kind, str(tmp_path / "nowhere"))


def test_wrong_arguments(tmp_path):
    with pytest.raises(ValueError, match=r"kind must be .*sop"):
        open_images("coco", tmp_path)
    for share in (0.0, 1.0, -0.1):
        with pytest.raises(ValueError, match=r"validation_share must be between 0 and 1, got"):
            open_images("folder", tmp_path, validation_share=share)


def test_every_damaged_image_is_found(tmp_path):
    root = layouts.folders(tmp_path)
    cut = open_images("folder", root).test.paths[::3]
    for path in cut:
        path.write_bytes(path.read_bytes()[:40])
    images = open_images("folder", root).test  # they begin like images: it opens
    assert tuple(image.path for image in find_broken(images)) == cut


def test_what_is_no_image_ends_it_or_is_left_out(tmp_path):
    root = layouts.folders(tmp_path)
    (root / "c6/0.png").write_bytes(b"damaged")
    with pytest.raises(
        DataError, match=r"1 image is missing or damaged: .*c6/0\.png: is not an im"
    ):
        open_images("folder", root)
    splits = open_images("folder", root, skip_broken=True)
    assert [broken.path.name for broken in splits.dropped] == ["0.png"]
    assert "left out: 1 files that cannot be read" in splits.describe()
    parts = (splits.train, splits.validation, splits.test)
    assert all(root / "c6/0.png" not in part.paths for part in parts)


def test_of_what_is_judged_by_also_what_only_begins_like_a_image_is_left_out(tmp_path):
    root = layouts.folders(tmp_path)
    splits = open_images("folder", root)
    cut = [part.paths[0] for part in (splits.train, splits.validation, splits.test)]
    for path in cut:
        path.write_bytes(path.read_bytes()[:40])
    splits = open_images("folder", root, skip_broken=True)
    assert {broken.path for broken in splits.dropped} == set(cut[1:])
    assert splits.train.paths[0] == cut[0]  # another stands in for it when it is read
    assert find_broken(splits.validation) == find_broken(splits.test) == ()


def cifar(path, per_class=20):
    rng = np.random.default_rng(0)
    labels = np.arange(5).repeat(per_class).astype(np.uint8)
    pixels = rng.integers(0, 256, (len(labels), 8, 8, 3), dtype=np.uint8)
    classes = np.array(["ant", "bee", "cat", "dog", "elk"])
    held = {"x_train": pixels, "y_train": labels, "x_test": pixels[::2], "y_test": labels[::2]}
    np.savez(path, classes=classes, **held)
    return path


@pytest.fixture
def folder(tmp_path):
    for name, count in (("cat", 10), ("dog", 20)):
        (tmp_path / "images" / name).mkdir(parents=True)
        for i in range(count):
            Image.new("RGB", (4, 4), (i, i, i)).save(tmp_path / "images" / name / f"{i}.png")
    return tmp_path / "images"


def sizes(splits):
    return [len(part) for part in (splits.train, splits.validation, splits.test)]


def test_eight_to_one_to_one_in_every_class(tmp_path):
    splits = open_classes("cifar", cifar(tmp_path / "c.npz"))
    assert sizes(splits) == [120, 15, 15]
    assert splits.train.counts.tolist() == [24] * 5
    assert splits.test.counts.tolist() == [3] * 5
    assert splits.train.classes == ("ant", "bee", "cat", "dog", "elk")
    other = open_classes("cifar", tmp_path / "c.npz", seed=1)
    assert not torch.equal(splits.test.images.pixels, other.test.images.pixels)


def test_a_long_tail_in_all_parts_or_in_train(tmp_path):
    path = cifar(tmp_path / "c.npz", 80)  # 120 of each
    everywhere = open_classes("cifar", path, imbalance=4)
    # 120 · 4^{-c/4}: 120, 84, 60, 42, 30
    assert everywhere.train.counts.tolist() == [96, 68, 48, 34, 24]
    assert everywhere.test.counts.tolist() == [12, 8, 6, 4, 3]
    train = open_classes("cifar", path, imbalance=4, tail_in="train")
    assert train.train.counts.tolist() == [96, 67, 48, 33, 24]
    assert train.test.counts.tolist() == [12] * 5


def test_a_binary_problem_and_rare_positives(tmp_path):
    path = cifar(tmp_path / "c.npz", 80)
    splits = open_classes("cifar", path, positive=("cat",), imbalance=4)
    assert splits.train.binary
    assert splits.train.classes == ("rest", "cat")
    assert splits.train.counts.tolist() == [96 + 68 + 34 + 24, 48]
    rare = open_classes("cifar", path, positive=("cat", "dog", "elk"), positive_share=0.1)
    assert rare.train.counts.tolist() == [192, 21]  # 21/213 ≈ .1
    assert rare.test.counts.tolist() == [24, 36]
    assert "cifar5 train: 213 images of 2 classes: rest 192, cat+dog+elk 21" in rare.describe()


def test_what_does_not_go_together(tmp_path):
    path = cifar(tmp_path / "c.npz")
    with pytest.raises(DataError, match="positive_share needs a positive class"):
        open_classes("cifar", path, positive_share=0.1)
    with pytest.raises(DataError, match="cifar5: there is no class cow"):
        open_classes("cifar", path, positive=("cow",))
    with pytest.raises(ValueError, match="validation_share and test_share must be shares"):
        open_classes("cifar", path, validation_share=0.5, test_share=0.5)
    with pytest.raises(ValueError, match="kind must be one of"):
        open_classes("cifr", path)
    assert {"fashion-mnist", "chestxray14", "medmnist", "csv"} < set(CLASS_KINDS)


def test_an_imbalanced_folder(folder):
    splits = open_classes("folder", folder)
    assert splits.train.counts.tolist() == [8, 16]
    assert splits.test.counts.tolist() == [1, 2]
    assert splits.test.images.load(0).shape == (3, 4, 4)


def test_a_csv_with_parts_of_its_own_keeps_them(folder):
    rows = ["path,label,split"]
    for name in ("cat", "dog"):
        rows += [f"{name}/{i}.png,{name},{'test' if i < 3 else 'train'}" for i in range(10)]
    (folder / "list.csv").write_text("\n".join(rows))
    splits = open_classes("csv", folder / "list.csv")
    assert splits.test.counts.tolist() == [3, 3]
    assert splits.validation.counts.tolist() == [1, 1]  # a ninth of seven
    assert {path.name for path in splits.test.images.paths} == {"0.png", "1.png", "2.png"}
    none = open_classes("csv", folder / "list.csv", validation_share=0.0)
    assert sizes(none) == [14, 0, 6]


def test_every_class_of_a_small_folder_is_tested_and_the_split_is_said(tmp_path):
    for name in "abc":
        for i in range(4):
            path = tmp_path / name / f"{i}.png"
            path.parent.mkdir(exist_ok=True)
            Image.new("RGB", (4, 4)).save(path)
    (tmp_path / "solo").mkdir()
    Image.new("RGB", (4, 4)).save(tmp_path / "solo" / "0.png")
    splits = open_classes("folder", tmp_path)
    assert splits.train.counts.tolist() == [2, 2, 2, 1]
    assert splits.validation.counts.tolist() == splits.test.counts.tolist() == [1, 1, 1, 0]
    assert splits.describe().startswith("split: 10% test and 10% validation, at least one image")
    assert "1 class has a single image, which is trained on and never tested: solo" in (
        splits.describe()
    )
    more = open_classes("folder", tmp_path, test_share=0.5, validation_share=0.0)
    assert more.test.counts.tolist() == [2, 2, 2, 0]
    assert len(more.validation) == 0


def test_parts_in_folders_are_kept_and_a_split_for_retrieval_is_refused(tmp_path):
    for part in ("train", "test"):
        for name in "ab":
            for i in range(10):
                path = tmp_path / part / name / f"{i}.png"
                path.parent.mkdir(parents=True, exist_ok=True)
                Image.new("RGB", (4, 4)).save(path)
    splits = open_classes("folder", tmp_path)
    assert sizes(splits) == [18, 2, 20]
    assert "validation: 11% of the images in train, drawn at random" in splits.describe()
    with pytest.raises(DataError, match=r"has test images of its own, .*test_share 0.2"):
        open_classes("folder", tmp_path, test_share=0.2)
    (tmp_path / "test" / "a").rename(tmp_path / "test" / "y")
    (tmp_path / "test" / "b").rename(tmp_path / "test" / "z")
    with pytest.raises(DataError, match="no class of its test images is trained on"):
        open_classes("folder", tmp_path)
    for name in "yz":
        for i in range(10):
            (tmp_path / "test" / name / f"{i}.png").unlink()
        (tmp_path / "test" / name).rmdir()
    (tmp_path / "test").rmdir()
    drawn = open_classes("folder", tmp_path)
    assert sizes(drawn) == [16, 2, 2]


def test_missing_files_are_named_or_left_out(folder):
    rows = ["path,label"] + [f"cat/{i}.png,{'cat' if i % 2 else 'dog'}" for i in range(22)]
    (folder / "list.csv").write_text("\n".join(rows))
    with pytest.raises(DataError, match=r"list: 12 images are missing .*10\.png.*; and 2 more"):
        open_classes("csv", folder / "list.csv")
    splits = open_classes("csv", folder / "list.csv", skip_broken=True)
    assert sum(sizes(splits)) == 10
    assert "left out: 12 files" in splits.describe()


def test_targets_are_checked():
    images = ImageSet("a", torch.zeros(2, dtype=torch.long), ("x",), pixels=torch.zeros(
        2, 1, 4, 4, dtype=torch.uint8))  # fmt: skip
    for target in (torch.zeros(3).long(), torch.zeros(2), torch.tensor([0, 2]), -torch.eye(2)):
        with pytest.raises(ValueError, match="target must be"):
            LabeledImages(images, target, ("x", "y"))
    several = LabeledImages(images, torch.tensor([[1, 1], [0, 0]]), ("x", "y"))
    assert several.describe() == "a: 2 images of 2 labels: x 1, y 1"
