"""One image: every mode to RGB, and the reason where there is none."""

import pickle

import numpy as np
import pytest
import torch
from PIL import Image

from rankwise.data import DataError
from rankwise.data.images.image_file import (
    BrokenImage,
    damage,
    describe_broken,
    image_size,
    read_image,
)


def test_a_color_image_is_channels_rows_columns(tmp_path):
    pixels = np.arange(2 * 3 * 3, dtype=np.uint8).reshape(2, 3, 3)
    Image.fromarray(pixels).save(tmp_path / "a.png")
    found = read_image(tmp_path / "a.png")
    assert found.dtype == torch.uint8
    assert torch.equal(found, torch.from_numpy(pixels).permute(2, 0, 1))
    assert image_size(tmp_path / "a.png") == (3, 2)


@pytest.mark.parametrize(("mode", "color", "gray"), [("L", 70, 70), ("1", 1, 255), ("1", 0, 0)])
def test_gray_is_repeated(tmp_path, mode, color, gray):
    Image.new(mode, (5, 4), color).save(tmp_path / "a.png")
    assert torch.equal(read_image(tmp_path / "a.png"), torch.full((3, 4, 5), gray).byte())


def test_what_can_be_seen_through_lies_on_white(tmp_path):
    Image.new("RGBA", (1, 1), (10, 20, 30, 0)).save(tmp_path / "a.png")
    assert read_image(tmp_path / "a.png").flatten().tolist() == [255, 255, 255]
    palette = Image.new("P", (1, 1), 0)
    palette.putpalette([9, 8, 7])
    palette.save(tmp_path / "b.png", transparency=b"\x00")
    assert read_image(tmp_path / "b.png").flatten().tolist() == [255, 255, 255]


def test_a_print_of_four_inks_is_read(tmp_path):
    Image.new("CMYK", (2, 2), (0, 0, 0, 0)).save(tmp_path / "a.jpg")
    assert read_image(tmp_path / "a.jpg").min() > 250


def test_sixteen_bits_are_refused_not_cut_off(tmp_path):
    Image.fromarray(np.full((2, 2), 4000, dtype=np.uint16)).save(tmp_path / "a.png")
    with pytest.raises(BrokenImage, match=r"a\.png: cannot be read: has pixels of mode I;16"):
        read_image(tmp_path / "a.png")


def test_the_path_and_the_reason_are_told(tmp_path):
    path = tmp_path / "a.jpg"
    with pytest.raises(BrokenImage, match=r"a\.jpg: there is no such file"):
        read_image(path)
    path.write_bytes(b"")
    with pytest.raises(BrokenImage, match=r"a\.jpg: is empty"):
        read_image(path)
    path.write_bytes(b"nothing to see")
    with pytest.raises(BrokenImage, match=r"a\.jpg: is not an image"):
        read_image(path)
    with pytest.raises(BrokenImage, match=r"a\.jpg: is not an image"):
        image_size(path)
    noise = np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    Image.fromarray(noise).save(path)
    path.write_bytes(path.read_bytes()[:1500])
    with pytest.raises(BrokenImage, match=r"a\.jpg: cannot be read: .*truncated") as caught:
        read_image(path)
    assert caught.value.path == path
    assert isinstance(caught.value, DataError)


@pytest.mark.parametrize("name", ["a.jpg", "a.png", "a.gif", "a.bmp", "a.webp", "a.tif", "a.ppm"])
def test_no_image_is_called_damaged_by_its_head(tmp_path, name):
    Image.new("RGB", (4, 4)).save(tmp_path / name)
    assert damage(tmp_path / name) is None


def test_what_the_head_of_a_file_says_against_it(tmp_path):
    path = tmp_path / "a.png"
    assert str(damage(path)) == f"{path}: there is no such file"
    for content, why in ((b"", "is empty"), (b"P", "is not an image"), (b"nonsense", "is not an")):
        path.write_bytes(content)
        assert str(damage(path)).startswith(f"{path}: {why}")


def test_a_damaged_png_of_any_kind_is_a_broken_image(tmp_path):
    path = tmp_path / "a.png"
    noise = np.random.default_rng(0).integers(0, 256, (16, 16, 3), dtype=np.uint8)
    Image.fromarray(noise).save(path)
    whole = path.read_bytes()
    failed = 0
    for cut in range(1, len(whole), 37):
        path.write_bytes(whole[:cut] + bytes(len(whole) - cut))
        try:
            assert read_image(path).shape == (3, 16, 16)  # the last bytes are only a full stop
        except BrokenImage:
            failed += 1
    assert failed > 10


def test_it_comes_home_from_another_process():
    error = pickle.loads(pickle.dumps(BrokenImage("x/a.jpg", "is empty")))
    assert (str(error), error.path.name, error.reason) == ("x/a.jpg: is empty", "a.jpg", "is empty")


def test_the_first_ten_are_named_and_all_are_counted():
    broken = [BrokenImage(f"{i}.jpg", "is empty") for i in range(12)]
    told = describe_broken(broken)
    assert told.startswith("12 images are missing or damaged: 0.jpg: is empty; 1.jpg")
    assert told.endswith("9.jpg: is empty; and 2 more")
    assert describe_broken(broken[:1]) == "1 image is missing or damaged: 0.jpg: is empty"


def test_pixels_are_counted_before_they_are_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr("rankwise.data.images.image_file.MAX_PIXELS", 100)
    path = tmp_path / "a.png"
    Image.new("1", (11, 10)).save(path)
    with pytest.raises(BrokenImage, match="has 11×10 pixels, at most 100 are read; make it small"):
        read_image(path)


def test_formats_that_another_program_renders_are_not_images(tmp_path):
    path = tmp_path / "a.png"
    Image.new("RGB", (4, 4)).save(path, "EPS")
    with pytest.raises(BrokenImage, match="is not an image"):
        read_image(path)
