"""CIFAR's binary files, an npz, and the pickles that are refused."""

import pickle

import numpy as np
import pytest
from tests.data.images import layouts

from rankwise.data import DataError
from rankwise.data.images import open_images


@pytest.mark.parametrize("classes", [10, 100])
def test_the_binary_version(tmp_path, classes):
    splits = open_images("cifar", layouts.cifar_binary(tmp_path, classes))
    half = classes // 2
    assert splits.test.classes == tuple(f"class{i}" for i in range(half, classes))
    assert splits.test.name == f"cifar{classes} test"
    assert splits.test.counts.unique().tolist() == [2 if classes == 100 else 6]
    picture = splits.test.load(1)
    assert picture.shape == (3, 32, 32)
    assert [plane.unique().tolist() for plane in picture] == [[half + 1], [1], [2]]
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
    with pytest.raises(DataError, match=r"several \.npz \(other\.npz, subset\.npz\); give the one"):
        open_images("cifar", tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x_test": np.zeros((10, 4, 5, 3))}, r"x_test must be bytes of shape .* got float64"),
        ({"x_test": np.zeros((10, 3, 4, 5), np.uint8)}, r"shape \(10, 3, 4, 5\)"),
        ({"x_test": np.zeros((10, 4, 4, 3), np.uint8)}, r"x_test of \(4, 4, 3\)"),
        ({"y_train": np.arange(9)}, "y_train must be 10 class numbers"),
        ({"y_train": np.zeros(10)}, "y_train must be 10 class numbers .* got float64"),
        ({"y_train": np.arange(10) - 1}, "y_train must be 10 class numbers from 0"),
        ({"y_train": np.arange(10) + 1}, "label 10 is given, and only 10 names"),
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
        DataError, match=r"data_batch_3\.bin: 30729 bytes are no whole number of 3073"
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
