"""The one way in, and the real pictures where they are at hand."""

from pathlib import Path

import pytest
from tests.data.images import layouts

from rankwise.data import DataError
from rankwise.data.images import KINDS, find_broken, open_images

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
def test_real_pictures(kind, name, images, classes):
    splits = open_images(kind, REAL / name)
    parts = [splits.train, splits.validation, splits.test]
    assert sum(map(len, parts)) == images
    assert tuple(len(part.classes) for part in parts) == classes
    for part in parts:
        assert int(part.counts.min()) == int(part.counts.max())  # all of these are balanced
        picture = part.load(len(part) - 1)
        assert picture.shape[0] == 3
        assert picture.min() < picture.max()


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
    images = open_images("folder", root).test  # they begin like pictures: it opens
    assert tuple(image.path for image in find_broken(images)) == cut


def test_what_is_no_picture_ends_it_or_is_left_out(tmp_path):
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


def test_of_what_is_judged_by_also_what_only_begins_like_a_picture_is_left_out(tmp_path):
    root = layouts.folders(tmp_path)
    splits = open_images("folder", root)
    cut = [part.paths[0] for part in (splits.train, splits.validation, splits.test)]
    for path in cut:
        path.write_bytes(path.read_bytes()[:40])
    splits = open_images("folder", root, skip_broken=True)
    assert {broken.path for broken in splits.dropped} == set(cut[1:])
    assert splits.train.paths[0] == cut[0]  # another stands in for it when it is read
    assert find_broken(splits.validation) == find_broken(splits.test) == ()
