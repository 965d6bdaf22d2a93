"""A folder for each class: what is read, what is passed over, and who hears of it."""

import pytest
from tests.data.images import layouts
from tests.data.images.layouts import write_image

from rankwise.data import DataError
from rankwise.data.images import open_images


def test_a_folder_per_class(tmp_path):
    root = layouts.folders(tmp_path / "birds")
    (root / ".hidden").mkdir()
    (root / "c1" / ".DS_Store").write_text("x")
    splits = open_images("folder", root)
    assert splits.test.name == "birds test"
    assert (len(splits.train), len(splits.validation), len(splits.test)) == (14, 4, 6)
    first = int(splits.test.classes[0].removeprefix("c"))
    assert splits.test.load(1)[0].unique().tolist() == [10 * first + 1]
    assert len(splits.remarks) == 1  # hidden files are no news


def test_files_that_are_not_images_and_empty_folders_are_passed_over_with_a_remark(tmp_path):
    root = layouts.folders(tmp_path)
    (root / "c1" / "notes.txt").write_text("x")
    (root / "c2" / "scan.pdf").write_text("x")  # Pillow writes such files, and cannot read them
    (root / "c99").mkdir()
    (root / "c98").mkdir()
    text = open_images("folder", root).describe()
    assert "2 folders have no images and are not read as a class: c98, c99" in text
    assert "2 files are not images and were passed over: c1/notes.txt, c2/scan.pdf" in text


def test_folders_for_the_parts_are_used_as_given(tmp_path):
    layouts.folders(tmp_path / "train", classes=6)
    layouts.folders(tmp_path / "test", classes=2)
    splits = open_images("folder", tmp_path)
    assert (len(splits.train.classes), len(splits.validation.classes)) == (4, 2)
    assert splits.test.classes == ("c0", "c1")
    for name in ("a", "b"):
        write_image(tmp_path / "val" / "other" / f"{name}.png")
    splits = open_images("folder", tmp_path)
    assert splits.validation.classes == ("other",)
    assert len(splits.train.classes) == 6
    assert "split: the folders train, val, test" in splits.describe()
    assert splits.describe().endswith("2 of 2 test classes are trained on")
    with pytest.raises(DataError, match=r"has test images of its own, .* test_share 0.3"):
        open_images("folder", tmp_path, test_share=0.3)
    with pytest.raises(DataError, match="nothing to split by images; leave split out"):
        open_images("folder", tmp_path, split="images")
    (tmp_path / "extra").mkdir()
    with pytest.raises(DataError, match="extra: a folder next to train and test must be"):
        open_images("folder", tmp_path)


def test_without_a_folder_test_it_is_drawn_from_train(tmp_path):
    layouts.folders(tmp_path / "train", classes=10)
    layouts.folders(tmp_path / "val", classes=3)
    splits = open_images("folder", tmp_path)
    assert len(splits.test.classes) == 2
    assert splits.validation.classes == ("c0", "c1", "c2")
    assert set(splits.test.classes).isdisjoint(splits.train.classes)


def test_a_class_may_be_called_train(tmp_path):
    layouts.folders(tmp_path, classes=9)
    write_image(tmp_path / "train" / "steam.png")
    write_image(tmp_path / "train" / "diesel.png")
    splits = open_images("folder", tmp_path)
    parts = (splits.train, splits.validation, splits.test)
    assert sum(part.classes.count("train") for part in parts) == 1


def test_wrong_folders(tmp_path):
    with pytest.raises(DataError, match="nowhere: there is no such folder"):
        open_images("folder", tmp_path / "nowhere")
    with pytest.raises(DataError, match="there are no folders of classes here; it must hold one"):
        open_images("folder", tmp_path)
    layouts.folders(tmp_path / "animals")
    with pytest.raises(
        DataError, match=r"animals: holds no images itself, but c.* in it does; data"
    ):
        open_images("folder", tmp_path)
    write_image(tmp_path / "stray.jpg")
    with pytest.raises(DataError, match=r"stray\.jpg: is in no class; 1 images"):
        open_images("folder", tmp_path)


def test_a_csv(tmp_path):
    rows = [f"images/{i}.png,label {i // 2}" for i in range(20)]
    root = layouts.csv_file(tmp_path / "x", rows)
    splits = open_images("csv", root)
    assert splits.test.name == "images test"
    assert [len(part.classes) for part in (splits.train, splits.validation, splits.test)] == [
        6,
        2,
        2,
    ]
    first = int(splits.test.classes[0].removeprefix("label "))
    assert splits.test.paths[0] == root / "images" / f"{2 * first}.png"
    assert open_images("csv", root / "images.csv").train.paths == splits.train.paths
    halves = open_images("csv", root, test_share=0.5)
    assert len(halves.test.classes) == 5
    assert halves.test.classes != tuple(f"label {i}" for i in range(5, 10))  # not by name


def test_a_csv_with_parts(tmp_path):
    rows = ["a.png,A,train", "b.png,B,Train", "c.png,A,test", "d.png,C,test", "e.png,D,val"]
    splits = open_images("csv", layouts.csv_file(tmp_path, rows, "path,label,split"))
    assert splits.train.classes == ("A", "B")
    assert splits.validation.classes == ("D",)
    assert splits.test.classes == ("A", "C")
    assert splits.describe().endswith("1 of 2 test classes are trained on")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("path,class\na.png,x\n", "line 1: there is no column label; the columns are: path, class"),
        ("a\n", "there is no column path and no label"),
        ("path,label\na.png,x\nb.png\n", "line 3: does not have as many fields"),
        ("path,label\na.png,x,y\n", "line 2: does not have as many fields"),
        ("path,label\na.png, \n", "line 2: label is empty"),
        ("path,label\n,x\n", "line 2: path is empty"),
        ("path,label\na.png,x\na.png,y\n", r"line 3: 'a\.png' is listed already, in .*line 2"),
        ("path,label,split\na.png,x,\n", "line 2: split must be train, .* got ''"),
        ("path,label,split\na.png,x,dev\n", "line 2: split must be train, .* got 'dev'"),
        ("path,label\n", "is empty: a header and no rows"),
        ("", "there is no column path and no label"),
        ('path,label\n"a.png,x\n', "cannot be read as csv"),
    ],
)
def test_wrong_csvs(tmp_path, text, message):
    (tmp_path / "images.csv").write_text(text)
    with pytest.raises(DataError, match=f"images.csv: {message}|images.csv: .*{message}"):
        open_images("csv", tmp_path)


def test_which_csv(tmp_path):
    with pytest.raises(DataError, match=r"exactly one \.csv file, got none"):
        open_images("csv", tmp_path)
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text("path,label\n")
    with pytest.raises(DataError, match=r"exactly one \.csv file, got a\.csv, b\.csv"):
        open_images("csv", tmp_path)
    with pytest.raises(DataError, match="there is no such file"):
        open_images("csv", tmp_path / "c.csv")
    (tmp_path / "a.csv").write_bytes(b"path,label\n\xff,a\n")
    with pytest.raises(DataError, match="cannot be read as csv"):
        open_images("csv", tmp_path / "a.csv")
