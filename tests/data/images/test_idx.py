"""Fashion-MNIST's idx files."""

import gzip

import numpy as np
import pytest
from tests.data.images import layouts

from rankwise.data import DataError
from rankwise.data.images import open_images
from rankwise.data.images.idx import read_idx


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
    with pytest.raises(DataError, match="is no idx file of bytes in 1 dimensions"):
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
