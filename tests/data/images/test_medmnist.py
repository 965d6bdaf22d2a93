from __future__ import annotations

import numpy as np
import pytest

from rankwise.data import DataError
from rankwise.data.images.classes import open_classes
from rankwise.data.images.medmnist import medmnist


def arrays(colors=False, labels=1, classes=3):
    rng = np.random.default_rng(0)
    found = {}
    for part, count in (("train", 12), ("val", 4), ("test", 6)):
        shape = (count, 28, 28, 3) if colors else (count, 28, 28)
        found[f"{part}_images"] = rng.integers(0, 256, shape, dtype=np.uint8)
        high = 2 if labels > 1 else classes
        y = np.arange(count * labels).reshape(count, labels) % high
        found[f"{part}_labels"] = y.astype(np.uint8)
    return found


@pytest.mark.parametrize(("colors", "channels"), [(False, 1), (True, 3)])
def test_one_class_by_image(tmp_path, colors, channels):
    given = arrays(colors)
    np.savez(tmp_path / "bloodmnist.npz", **given)
    splits = open_classes("medmnist", tmp_path)
    assert [len(p) for p in (splits.train, splits.validation, splits.test)] == [12, 4, 6]
    assert splits.train.classes == ("0", "1", "2")
    assert splits.train.target.tolist() == [0, 1, 2] * 4
    pixels = splits.test.images.pixels
    assert pixels.shape == (6, channels, 28, 28)
    first = given["test_images"][0]
    assert np.array_equal(pixels[0].numpy(), first.transpose(2, 0, 1) if colors else first[None])


def test_several_labels_by_image(tmp_path):
    np.savez(tmp_path / "chestmnist.npz", **arrays(labels=3))
    splits = open_classes("medmnist", tmp_path / "chestmnist.npz")
    assert splits.train.multi_label
    assert splits.train.target.shape == (12, 3)


def test_two_classes_are_a_binary_problem(tmp_path):
    np.savez(tmp_path / "breastmnist.npz", **arrays(classes=2))
    assert open_classes("medmnist", tmp_path).train.binary


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"val_labels": None}, "holds no array val_labels"),
        ({"train_images": np.zeros((12, 8, 8, 8), np.uint8)}, r"volumes \(3D\) cannot be read"),
        ({"train_images": np.zeros((12, 9, 9), np.uint8)}, "several shapes"),
        ({"test_labels": np.zeros((5, 1), np.uint8)}, "test_labels must be whole numbers of shape"),
        ({"test_labels": np.zeros((6, 1))}, "test_labels must be whole numbers"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, changed, message):
    given = {**arrays(), **changed}
    np.savez(tmp_path / "a.npz", **{k: v for k, v in given.items() if v is not None})
    with pytest.raises(DataError, match=message):
        medmnist(tmp_path)


def test_labels_above_one_in_columns(tmp_path):
    given = arrays(labels=2)
    given["test_labels"][0, 0] = 7
    np.savez(tmp_path / "a.npz", **given)
    with pytest.raises(DataError, match="must be 0 and 1"):
        medmnist(tmp_path)


def test_files_that_are_none(tmp_path):
    with pytest.raises(DataError, match="there is no such file or folder"):
        medmnist(tmp_path / "nowhere")
    with pytest.raises(DataError, match=r"exactly one \.npz, got none"):
        medmnist(tmp_path)
    (tmp_path / "a.npz").write_bytes(b"no zip at all")
    with pytest.raises(DataError, match="cannot be read as npz without pickles"):
        medmnist(tmp_path)
