"""A csv of paths and labels."""

import pytest
from tests.data.images import layouts

from rankwise.data import DataError
from rankwise.data.images import open_images


def test_a_csv(tmp_path):
    rows = [f"pictures/{i}.png,label {i // 2}" for i in range(20)]
    root = layouts.csv_file(tmp_path / "x", rows)
    splits = open_images("csv", root)
    assert splits.test.name == "images test"
    assert [len(part.classes) for part in (splits.train, splits.validation, splits.test)] == [
        6,
        2,
        2,
    ]
    first = int(splits.test.classes[0].removeprefix("label "))
    assert splits.test.paths[0] == root / "pictures" / f"{2 * first}.png"
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
