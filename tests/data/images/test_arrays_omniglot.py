"""Omniglot's zips and folders."""

import zipfile

import pytest
from tests.data.images import layouts

from rankwise.data import DataError
from rankwise.data.images import open_images


def test_unseen_alphabets_and_drawings_that_are_in_two_archives(tmp_path):
    layouts.omniglot_zip(tmp_path, "images_background_small1", {"Greek": 6, "Balinese": 5})
    layouts.omniglot_zip(
        tmp_path, "images_background_small2", {"Greek": 6, "Latin": 3, "Tifinagh": 2}
    )
    splits = open_images("omniglot", tmp_path)
    assert {name.split("/")[0] for name in splits.test.classes} == {"Latin", "Tifinagh"}
    assert len(splits.test) == 10
    assert len(splits.train) + len(splits.validation) == 22
    alphabets = sorted(name.split("/")[0] for name in splits.validation.classes)
    assert alphabets == ["Balinese", "Greek"]
    image = splits.test.load(0)
    assert image.shape == (3, 105, 105)
    assert image.unique().tolist() == [0, 255]
    assert (image == 0).sum() == 3


def test_the_evaluation_alphabets_are_the_test_where_they_are_there(tmp_path):
    layouts.omniglot_zip(tmp_path, "images_background", {"Zulu": 4, "Greek": 4})
    layouts.omniglot_zip(tmp_path, "images_evaluation", {"Atlantean": 3})
    packed = open_images("omniglot", tmp_path)
    assert packed.test.classes == tuple(f"Atlantean/character0{i}" for i in (1, 2, 3))
    for archive in ("images_background", "images_evaluation"):
        with zipfile.ZipFile(tmp_path / f"{archive}.zip") as held:
            held.extractall(tmp_path)
        (tmp_path / f"{archive}.zip").unlink()
    unpacked = open_images("omniglot", tmp_path)
    assert unpacked.train.classes == packed.train.classes
    assert unpacked.train.pixels.equal(packed.train.pixels)


def test_damaged_drawings_are_named_or_left_out(tmp_path):
    layouts.omniglot_zip(tmp_path, "images_background", {"A": 6, "B": 5}, damaged=11)
    with pytest.raises(DataError, match=r"omniglot: 11 images are .*0001_00\.png.*and 1 more"):
        open_images("omniglot", tmp_path)
    splits = open_images("omniglot", tmp_path, skip_broken=True)
    assert len(splits.dropped) == 11
    assert len(splits.train) + len(splits.validation) + len(splits.test) == 22 - 11


def test_wrong_files(tmp_path):
    with pytest.raises(DataError, match="nowhere: there is no such folder"):
        open_images("omniglot", tmp_path / "nowhere")
    with pytest.raises(DataError, match="there is none of images_background, "):
        open_images("omniglot", tmp_path)
    packed = tmp_path / "images_background.zip"
    packed.write_bytes(b"PK nothing")
    with pytest.raises(DataError, match=r"images_background\.zip: cannot be read as a zip"):
        open_images("omniglot", tmp_path)
    with zipfile.ZipFile(packed, "w") as held:
        held.writestr("elsewhere/A/character01/1.png", layouts.drawing(1))
    with pytest.raises(DataError, match=r"images_background\.zip: there are no drawings"):
        open_images("omniglot", tmp_path)
    with zipfile.ZipFile(packed, "w") as held:
        held.writestr("images_background/A/1.png", layouts.drawing(1))
    with pytest.raises(DataError, match="must be alphabet/character/drawing"):
        open_images("omniglot", tmp_path)


def test_another_size_and_another_drawing_of_one_name(tmp_path):
    layouts.omniglot_zip(tmp_path, "images_background", {"A": 4, "B": 4})
    with zipfile.ZipFile(tmp_path / "images_background.zip", "a") as held:
        held.writestr("images_background/C/character01/x.png", layouts.drawing(1, size=50))
    with pytest.raises(DataError, match=r"x\.png: is of 50×50 pixels, drawings are of 105×105"):
        open_images("omniglot", tmp_path)
    with zipfile.ZipFile(tmp_path / "images_background_small1.zip", "w") as held:
        name = "images_background_small1/A/character01/0001_00.png"
        held.writestr(name, layouts.drawing(9))
    with pytest.raises(DataError, match="is another drawing in another archive"):
        open_images("omniglot", tmp_path, skip_broken=True)
