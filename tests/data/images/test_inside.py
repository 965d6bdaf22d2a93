"""Lists of images that name files elsewhere."""

from __future__ import annotations

import json

import pytest
from tests.data.images.layouts import write_image

from rankwise.data import DataError
from rankwise.data.detection import open_detection
from rankwise.data.images import open_classes


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "data"
    for i in range(8):
        write_image(folder / "inside" / f"{i}.png", i)
        write_image(tmp_path / "outside" / f"{i}.png", i)
    (folder / "link.png").symlink_to(tmp_path / "outside" / "7.png")
    (folder / "links").symlink_to(tmp_path / "outside")
    return folder


def listed(root, *names):
    rows = [f"inside/{i}.png,{'ab'[i % 2]}\n" for i in range(6)]
    file = root / "list.csv"
    file.write_text("path,label\n" + "".join(rows) + "".join(f"{name},a\n" for name in names))
    return file


@pytest.mark.parametrize(
    "name", ["../outside/1.png", "{}/outside/1.png", "link.png", "links/3.png", "inside/../../x"]
)
def test_a_file_elsewhere_needs_permission(root, name):
    file = listed(root, name.format(root.parent))
    with pytest.raises(DataError, match=r"which is outside of the folder .* data.allow_outside"):
        open_classes("csv", file)
    if "x" not in name:
        assert len(open_classes("csv", file, allow_outside=True).train) > 0


def test_a_way_through_another_folder_back_inside_is_inside(root):
    (root / "again.png").symlink_to(root / "inside" / "7.png")
    file = listed(root, "inside/../inside/6.png", "again.png")
    open_classes("csv", file)
    link = root.parent / "link"
    link.symlink_to(root)  # the folder itself may be a link
    open_classes("csv", link / "list.csv")


def test_folders_of_classes_that_are_links_need_permission(root):
    folder = root.parent / "classes"
    for name in ("inside", "links"):
        folder.mkdir(exist_ok=True)
        (folder / name).symlink_to(root / name)
    with pytest.raises(DataError, match="outside of the folder of the data"):
        open_classes("folder", folder)
    assert open_classes("folder", folder, allow_outside=True).train.classes == ("inside", "links")


def coco(root, name):
    content = {
        "images": [{"id": 1, "file_name": "inside/0.png"}, {"id": 2, "file_name": name}],
        "annotations": [{"image_id": 1, "category_id": 1, "bbox": [0, 0, 3, 3]}],
        "categories": [{"id": 1, "name": "cell"}],
    }
    (root / "a.json").write_text(json.dumps(content))
    return {"kind": "coco", "root": root, "train": ["a.json"], "test": ["a.json"]}


@pytest.mark.parametrize("name", ["../outside/1.png", "link.png"])
def test_annotations_name_files_of_their_folder(root, name):
    with pytest.raises(DataError, match="outside of the folder of the data"):
        open_detection(**coco(root, name))
    assert len(open_detection(**coco(root, name), allow_outside=True).test) == 2


@pytest.mark.parametrize("stem", ["../../x", "/etc/passwd"])
def test_lists_of_voc_name_images_of_their_folder(root, stem):
    (root / "Annotations").mkdir()
    (root / "ImageSets" / "Main").mkdir(parents=True)
    (root / "ImageSets" / "Main" / "all.txt").write_text(f"{stem}\n")
    with pytest.raises(DataError, match="leads out of the folder"):
        open_detection("voc", root, train=["all"], test=["all"])
