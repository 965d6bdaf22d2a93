"""CUB-200-2011 and Cars-196 in their layouts."""

import pytest
from scipy.io import savemat
from tests.data.images import layouts

from rankwise.data import DataError
from rankwise.data.images import open_images


def test_birds(tmp_path):
    splits = open_images("cub200", layouts.cub200(tmp_path))
    assert splits.test.classes == tuple(f"{i:03d}.Bird_{i}" for i in range(7, 13))
    assert (len(splits.train.classes), len(splits.validation.classes)) == (4, 2)
    assert splits.test.paths[0].name == "Bird_0.jpg"
    assert splits.test.load(0)[0].unique().tolist() == [13]


@pytest.mark.parametrize(
    ("file", "line", "message"),
    [
        ("images.txt", "25 new/a.jpg", "image_class_labels.txt: there is no image 25, which"),
        ("image_class_labels.txt", "25 1", "images.txt: there is no image 25, which"),
        ("image_class_labels.txt", "24 1", "image_class_labels.txt: line 25: '24' is listed"),
        ("classes.txt", "13", "classes.txt: line 13: 1 fields where 2 belong"),
    ],
)
def test_wrong_files_of_the_birds(tmp_path, file, line, message):
    root = layouts.cub200(tmp_path)
    with (root / "CUB_200_2011" / file).open("a") as text:
        text.write(f"{line}\n")
    with pytest.raises(DataError, match=message):
        open_images("cub200", root)


def test_a_bird_of_no_class(tmp_path):
    root = layouts.cub200(tmp_path)
    file = root / "CUB_200_2011" / "image_class_labels.txt"
    file.write_text(file.read_text().replace("24 12\n", "24 77\n"))
    with pytest.raises(DataError, match=r"there is no class 77, .* gives to image 24"):
        open_images("cub200", root)


@pytest.mark.parametrize("layout", [layouts.cars_whole, layouts.cars_parted])
def test_cars(tmp_path, layout):
    splits = open_images("cars196", layout(tmp_path))
    assert splits.test.classes == tuple(f"Make Model {i}" for i in range(5, 10))
    assert (len(splits.train.classes), len(splits.validation.classes)) == (3, 2)
    assert splits.test.counts.tolist() == [2] * 5
    splits.test.load(9)


def test_wrong_files_of_the_cars(tmp_path):
    root = layouts.cars_parted(tmp_path)
    test = root / "cars_test_annos_withlabels.mat"
    labeled = test.read_bytes()
    (root / "devkit" / test.name).write_bytes(labeled)
    test.unlink()
    assert len(open_images("cars196", root).test) == 10  # it may be in the devkit, too
    (root / "devkit" / test.name).unlink()
    with pytest.raises(DataError, match=r"annos_withlabels\.mat: there is no such file"):
        open_images("cars196", root)
    test.write_bytes(labeled[:200])
    with pytest.raises(DataError, match=r"cannot be read as a MATLAB file|holds no variable"):
        open_images("cars196", root)
    savemat(test, {"annotations": layouts._struct([{"fname": "1.jpg", "bbox_x1": 1}])})
    with pytest.raises(DataError, match="annotation 1 has no fields 'fname' and 'class'"):
        open_images("cars196", root)
    savemat(test, {"annotations": layouts._struct([{"fname": "1.jpg", "class": 11}])})
    with pytest.raises(DataError, match="annotation 1: the class must be a number 1 to 10, got 11"):
        open_images("cars196", root)
    savemat(test, {"other": 1})
    with pytest.raises(DataError, match="holds no variable 'annotations'"):
        open_images("cars196", root)
    savemat(root / "devkit" / "cars_meta.mat", {"class_names": layouts._cells(["a", "a"])})
    with pytest.raises(DataError, match="two classes have the same name"):
        open_images("cars196", root)
