"""CIFAR's binary files, an npz, and the pickles that are refused."""

from __future__ import annotations

import gzip
import pickle

import numpy as np
import pytest
from tests.data.images import layouts

from rankwise.data import DataError
from rankwise.data.images import open_images
from rankwise.data.images.arrays import medmnist, read_idx
from rankwise.data.images.readers import open_classes


@pytest.mark.parametrize("classes", [10, 100])
def test_the_binary_version(tmp_path, classes):
    splits = open_images("cifar", layouts.cifar_binary(tmp_path, classes))
    half = classes // 2
    assert splits.test.classes == tuple(f"class{i}" for i in range(half, classes))
    assert splits.test.name == f"cifar{classes} test"
    assert splits.test.counts.unique().tolist() == [2 if classes == 100 else 6]
    image = splits.test.load(1)
    assert image.shape == (3, 32, 32)
    assert [plane.unique().tolist() for plane in image] == [[half + 1], [1], [2]]
    assert len(splits.validation.classes) == max(2, half // 10)


def test_the_folder_that_the_archive_unpacks_to(tmp_path):
    inside = tmp_path / "cifar-10-batches-bin"
    inside.mkdir()
    layouts.cifar_binary(inside, 10)
    assert len(open_images("cifar", tmp_path).test) == 30


def arrays(**change):
    classes = 10
    x = np.arange(classes, dtype=np.uint8)[:, None, None, None] * np.ones((1, 4, 5, 3), np.uint8)
    y = np.arange(classes, dtype=np.uint8)
    names = np.array([f"n{i}" for i in range(classes)])
    return dict(x_train=x, y_train=y, x_test=x, y_test=y, classes=names) | change


def test_an_npz(tmp_path):
    np.savez(tmp_path / "subset.npz", **arrays())
    splits = open_images("cifar", tmp_path / "subset.npz")
    assert splits.test.classes == ("n5", "n6", "n7", "n8", "n9")
    assert splits.test.load(3).shape == (3, 4, 5)
    assert splits.test.load(3).unique().tolist() == [8]
    assert len(open_images("cifar", tmp_path).test) == 10
    np.savez(tmp_path / "other.npz", **arrays())
    with pytest.raises(DataError, match=r"exactly one \.npz file, got other\.npz, subset\.npz"):
        open_images("cifar", tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x_test": np.zeros((10, 4, 5, 3))}, r"x_test must be bytes .* got float64"),
        ({"x_test": np.zeros((10, 3, 4, 5), np.uint8)}, r"shape \(10, 3, 4, 5\)"),
        (
            {"x_test": np.zeros((10, 4, 4, 3), np.uint8)},
            r"one size, got \(4, 5, 3\) and \(4, 4, 3\)",
        ),
        ({"y_train": np.arange(9)}, "y_train must be 10 class numbers"),
        ({"y_train": np.zeros(10)}, "y_train must be 10 class numbers .* got float64"),
        (
            {"y_train": np.arange(10) - 1},
            "y_train must be class numbers from 0 to 9, .* from -1 to 8",
        ),
        (
            {"y_train": np.arange(10) + 1},
            "y_train must be class numbers from 0 to 9, .* from 1 to 10",
        ),
        ({"classes": np.array(["a", None], dtype=object)}, "without pickles"),
    ],
)
def test_wrong_arrays(tmp_path, change, message):
    np.savez(tmp_path / "subset.npz", **arrays(**change))
    with pytest.raises(DataError, match=f"subset.npz: .*{message}"):
        open_images("cifar", tmp_path)


def test_missing_arrays_and_damaged_files(tmp_path):
    path = tmp_path / "subset.npz"
    np.savez(path, x_train=np.zeros(1), y_train=np.zeros(1))
    with pytest.raises(DataError, match="no array x_test and no y_test and no classes"):
        open_images("cifar", path)
    np.savez(path, **arrays())
    path.write_bytes(path.read_bytes()[:300])
    with pytest.raises(DataError, match="cannot be read as npz"):
        open_images("cifar", path)
    with pytest.raises(DataError, match="there is no such file or folder"):
        open_images("cifar", tmp_path / "nowhere")
    (tmp_path / "a.txt").write_text("x")
    with pytest.raises(DataError, match=r"a\.txt: must be an \.npz, or the folder"):
        open_images("cifar", tmp_path / "a.txt")


def test_damaged_binary_files(tmp_path):
    with pytest.raises(DataError, match=r"holds neither data_batch_1\.bin"):
        open_images("cifar", tmp_path)
    layouts.cifar_binary(tmp_path, 10)
    batch = tmp_path / "data_batch_3.bin"
    batch.write_bytes(batch.read_bytes()[:-1])
    with pytest.raises(
        DataError, match=r"data_batch_3\.bin: 30729 bytes are not a whole number of 3073"
    ):
        open_images("cifar", tmp_path)
    batch.unlink()
    with pytest.raises(DataError, match=r"data_batch_3\.bin: there is no such file"):
        open_images("cifar", tmp_path)


class Trap:
    """What a pickle can do on being read."""

    def __reduce__(self):
        return pytest.fail, ("the pickle was read",)


@pytest.mark.parametrize("name", ["cifar-10-batches-py/data_batch_1", "data_batch_1", "meta"])
def test_the_pickled_version_is_refused_and_never_read(tmp_path, name):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(pickle.dumps(Trap()))
    with pytest.raises(DataError, match=r"made of pickles.*download the binary version"):
        open_images("cifar", tmp_path)


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_all_images_by_halves_of_the_classes(tmp_path, ending):
    splits = open_images("fashion-mnist", layouts.fashion_mnist(tmp_path, ending))
    assert splits.test.classes == ("Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot")
    assert splits.test.counts.tolist() == [3] * 5
    # image i of a file is all i: the sandals are 5 and 15 of the first file and 5 of the second
    sandals = [i for i in range(15) if splits.test.labels[i] == 0]
    assert sorted(int(splits.test.load(i)[0, 0, 0]) for i in sandals) == [5, 5, 15]
    assert splits.test.load(0).shape == (3, 28, 28)
    assert (len(splits.train.classes), len(splits.validation.classes)) == (3, 2)


def test_the_values_are_where_the_head_says(tmp_path):
    values = np.arange(24).reshape(2, 3, 4)
    layouts.idx(tmp_path / "a", values)
    assert np.array_equal(read_idx(tmp_path / "a", 3), values)


def test_wrong_files(tmp_path):
    root = layouts.fashion_mnist(tmp_path)
    labels = root / "t10k-labels-idx1-ubyte.gz"
    layouts.idx(labels, np.arange(9))
    with pytest.raises(DataError, match=r"labels-idx1-ubyte\.gz: 9 labels for 10 images"):
        open_images("fashion-mnist", root)
    layouts.idx(labels, np.array([*range(9), 12]))
    with pytest.raises(DataError, match="label 9 is 12, 0 to 9 are known"):
        open_images("fashion-mnist", root)
    layouts.idx(labels, np.zeros((10, 1)))
    with pytest.raises(DataError, match="is not an idx file of bytes in 1 dimensions"):
        open_images("fashion-mnist", root)
    labels.write_bytes(gzip.compress(bytes([0, 0, 8, 1, 0, 0, 0, 10]) + bytes(4)))
    with pytest.raises(DataError, match="4 bytes where its head announces 10"):
        open_images("fashion-mnist", root)
    labels.write_bytes(labels.read_bytes()[:20])
    with pytest.raises(DataError, match=r"gz: cannot be read"):
        open_images("fashion-mnist", root)
    labels.unlink()
    with pytest.raises(DataError, match="t10k-labels-idx1-ubyte: there is no such file"):
        open_images("fashion-mnist", root)
    layouts.idx(root / "t10k-images-idx3-ubyte.gz", np.zeros((10, 5, 5)))
    layouts.idx(labels, np.arange(10))
    with pytest.raises(DataError, match=r"images of \(5, 5\), those to train on are of \(28, 28\)"):
        open_images("fashion-mnist", root)


def medical_arrays(colors=False, labels=1, classes=3):
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
    given = medical_arrays(colors)
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
    np.savez(tmp_path / "chestmnist.npz", **medical_arrays(labels=3))
    splits = open_classes("medmnist", tmp_path / "chestmnist.npz")
    assert splits.train.multi_label
    assert splits.train.target.shape == (12, 3)


def test_two_classes_are_a_binary_problem(tmp_path):
    np.savez(tmp_path / "breastmnist.npz", **medical_arrays(classes=2))
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
    given = {**medical_arrays(), **changed}
    np.savez(tmp_path / "a.npz", **{k: v for k, v in given.items() if v is not None})
    with pytest.raises(DataError, match=message):
        medmnist(tmp_path)


def test_labels_above_one_in_columns(tmp_path):
    given = medical_arrays(labels=2)
    given["test_labels"][0, 0] = 7
    np.savez(tmp_path / "a.npz", **given)
    with pytest.raises(DataError, match="must be 0 and 1"):
        medmnist(tmp_path)


def test_files_that_are_none(tmp_path):
    with pytest.raises(DataError, match="there is no such file or folder"):
        medmnist(tmp_path / "nowhere")
    with pytest.raises(DataError, match=r"exactly one \.npz file, got none"):
        medmnist(tmp_path)
    (tmp_path / "a.npz").write_bytes(b"no zip at all")
    with pytest.raises(DataError, match="cannot be read as npz without pickles"):
        medmnist(tmp_path)
