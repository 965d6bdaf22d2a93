from __future__ import annotations

import sys

import numpy as np
import pytest
import torch
from tests.tasks.contrast.cases import arrays, images, write

from rankwise.data.errors import DataError
from rankwise.tasks.contrast.task import make_views, read_images

A = arrays()
PIXELS = torch.randint(0, 256, (6, 3, 8, 8), dtype=torch.uint8, generator=torch.manual_seed(0))


def test_reads_pixels_channels_first_and_labels(tmp_path):
    found = images(tmp_path)
    assert found.x_train.shape == (24, 3, 8, 8)
    assert found.x_train.dtype == torch.uint8
    assert found.x_train[3, :, 2, 5].tolist() == A["x_train"][3, 2, 5].tolist()
    assert found.y_test.tolist() == [0, 1] * 6
    assert found.classes == ("upright", "across")


def test_the_fingerprint_is_that_of_the_training_images(tmp_path):
    first = images(tmp_path).fingerprint()
    changed = A["x_train"].copy()
    changed[0, 0, 0, 0] ^= 1
    other = read_images(write(tmp_path / "other.npz", x_train=changed))
    same = read_images(write(tmp_path / "same.npz", x_test=A["x_test"][::-1]))
    assert other.fingerprint() != first
    assert same.fingerprint() == first


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"y_test": None}, "holds no array y_test"),
        ({"x_train": A["x_train"] / 255.0}, "x_train must be bytes .* got float64"),
        ({"x_train": A["x_train"][..., 0]}, r"x_train must be bytes .* shape \(24, 8, 8\)"),
        (
            {"x_train": A["x_train"][:, :4], "x_test": A["x_test"][:, :4]},
            "at least 8 pixels a side",
        ),
        ({"x_test": np.zeros((12, 9, 8, 3), np.uint8)}, r"one size, got \(8, 8, 3\) and \(9, 8"),
        ({"y_train": A["y_train"][:5]}, r"each image of x_train, got uint8 of shape \(5,\)"),
        ({"y_train": A["y_train"] * 1.0}, "y_train must be 24 class numbers .* got float64"),
        ({"y_train": A["y_train"] + 1}, "from 0 to 1, as there are 2 classes, .* from 1 to 2"),
        ({"y_train": A["y_train"] * 0}, "y_train must have at least two classes"),
        ({"y_test": A["y_test"] * 0}, "y_test must have two classes, one of them with two"),
        ({"classes": np.array(["a", None], dtype=object)}, "cannot be read as npz"),
    ],
)
def test_what_is_wrong_in_the_file_is_named(tmp_path, changed, message):
    path = write(tmp_path / "wrong.npz", **changed)
    with pytest.raises(DataError, match=message):
        read_images(path)


def test_files_of_another_kind(tmp_path):
    with pytest.raises(DataError, match="there is no such file"):
        read_images(tmp_path / "nowhere.npz")
    text = tmp_path / "text.npz"
    text.write_text("not an archive")
    with pytest.raises(DataError, match="cannot be read as npz"):
        read_images(text)
    single = tmp_path / "single.npy"
    np.save(single, np.zeros(3))
    with pytest.raises(DataError, match="cannot be read as npz without pickles: it holds one"):
        read_images(single)
    cut = tmp_path / "cut.npz"
    cut.write_bytes(write(tmp_path / "whole.npz").read_bytes()[:-200])
    with pytest.raises(DataError, match="cannot be read as npz"):
        read_images(cut)


def test_two_different_views_in_range():
    torch.manual_seed(0)
    views = make_views(8, 8)(PIXELS)
    assert views.shape == (12, 3, 8, 8)
    assert views.dtype == torch.float32
    assert 0 <= views.min() < views.max() <= 1
    first, second = views.chunk(2)
    assert not torch.allclose(first, second, atol=0.05)


def test_all_randomness_is_of_the_generator_whose_state_is_saved():
    views = make_views(8, 8)
    torch.manual_seed(3)
    views(PIXELS)
    state = torch.get_rng_state()
    expected = views(PIXELS)
    torch.set_rng_state(state)
    assert torch.equal(make_views(8, 8)(PIXELS), expected)


def test_without_kornia_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "kornia", None)
    line = r'rankwise.tasks.contrast needs kornia: pip install "rankwise\[vision\]"'
    with pytest.raises(ImportError, match=line):
        make_views(8, 8)
