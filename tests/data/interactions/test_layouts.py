"""Tests of the published layouts of interactions."""

from __future__ import annotations

import polars as pl
import pytest

from rankwise.data import DataError
from rankwise.data.interactions import read_interactions
from rankwise.data.interactions._layouts import read_delimited

GOOD = "a\t1\nb\t2\n"


def read(path, **options):
    names = ["name", "number"]
    return read_delimited(path, "\t", names, layout="a name and a number", **options)


@pytest.mark.parametrize(
    ("line", "why"), [("c", "1 fields where 2 belong"), ("c\t3\t4", "3 fields where 2 belong")]
)
def test_the_wrong_line_is_named(tmp_path, line, why):
    path = tmp_path / "small.txt"
    path.write_text(f"{GOOD}{line}\nd\t4\n")
    with pytest.raises(DataError) as error:
        read(path)
    assert f"{path}: line 3: {why}" in str(error.value)
    assert str(error.value).endswith("a line is a name and a number")


def test_lines_are_counted_with_the_header(tmp_path):
    path = tmp_path / "small.txt"
    path.write_text(f"name\tnumber\n{GOOD}c\n")
    with pytest.raises(DataError, match="line 4: 1 fields where 2 belong"):
        read(path, skip=1)


def test_a_quote_is_a_letter(tmp_path):
    path = tmp_path / "small.txt"
    path.write_text('"a\t1\nb"\t2\n')
    assert read(path).rows() == [('"a', "1"), ('b"', "2")]


def test_a_field_may_be_empty(tmp_path):
    path = tmp_path / "small.txt"
    path.write_text("a\t1\n\t \n")
    assert read(path).rows() == [("a", "1"), (None, None)]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("c i x 4", "line 2: the rating must be a number, got 'x'"),
        ("c x nan 4", "line 2: the rating must be a number, got 'nan'"),
        ("c x inf 4", "line 2: the rating must be a number, got 'inf'"),
        ("c x  4", "line 2: the rating must be a number, got None"),
        (" x 3 4", "line 2: the user is missing; 1 of 2 are"),
        ("c  3 4", "line 2: the item is missing; 1 of 2 are"),
    ],
)
def test_fields_of_movielens_that_do_not_belong(tmp_path, line, why):
    path = tmp_path / "u.data"
    path.write_text(f"u\ti\t5\t10\n{line}\n".replace(" ", "\t"))
    with pytest.raises(DataError) as error:
        read_interactions(path)
    assert f"{path}: {why}" in str(error.value)


def test_a_float_of_recbole_that_is_no_number(tmp_path):
    path = tmp_path / "small.inter"
    path.write_text("user_id:token\titem_id:token\trating:float\nu\ti\t1\nu\tj\thigh\n")
    with pytest.raises(DataError, match="line 3: rating is not a number, got 'high'"):
        read_interactions(path)


@pytest.mark.parametrize(("text", "skip"), [("", 0), ("name\tnumber\n", 1)])
def test_an_empty_file(tmp_path, text, skip):
    path = tmp_path / "small.txt"
    path.write_text(text)
    with pytest.raises(DataError, match="is empty"):
        read(path, skip=skip)


def test_a_separator_of_two_letters(tmp_path):
    path = tmp_path / "small.dat"
    path.write_text("a::1\r\nb::2\r\n")
    found = read_delimited(path, "::", ["name", "number"], layout="name::number")
    assert found.rows() == [("a", "1"), ("b", "2")]


ROWS = [("7", "b", 4.0, 30.0), ("7", "a", 1.0, 10.0), ("12", "a", 5.0, 20.0)]


def as_written(found):
    """The rows with their ids again."""
    names = ((found.users[u], found.items[i]) for u, i in zip(found.user, found.item, strict=True))
    times = [None] * len(found) if found.time is None else found.time.tolist()
    return [(*ids, v, t) for ids, v, t in zip(names, found.value.tolist(), times, strict=True)]


def movielens(name, separator, header=""):
    def write(folder):
        lines = (separator.join((u, i, f"{v:g}", f"{t:g}")) for u, i, v, t in ROWS)
        (folder / name).write_text(header + "\n".join(lines) + "\n")
        return folder / name

    return write


def atomic(folder):
    path = folder / "small.inter"
    header = "user_id:token\titem_id:token\trating:float\ttimestamp:float\n"
    path.write_text(header + "".join("\t".join(map(str, row)) + "\n" for row in ROWS))
    return path


def frame():
    return pl.DataFrame(ROWS, schema=["uid", "Product_ID", "stars", "when"], orient="row")


def csv(folder):
    frame().write_csv(folder / "small.csv")
    return folder / "small.csv"


def parquet(folder):
    frame().write_parquet(folder / "small.parquet")
    return folder / "small.parquet"


LAYOUTS = [
    (movielens("u.data", "\t"), {}),
    (movielens("ratings.dat", "::"), {}),
    (movielens("ratings.csv", ",", "userId,movieId,rating,timestamp\n"), {}),
    (atomic, {}),
    (csv, {"time": "when"}),
    (parquet, {"time": "when"}),
]
IDS = ["100k", "1m", "20m", "recbole", "csv", "parquet"]


@pytest.mark.parametrize(("write", "options"), LAYOUTS, ids=IDS)
def test_every_layout_says_the_same(tmp_path, write, options):
    found = read_interactions(write(tmp_path), **options)
    assert as_written(found) == ROWS
    assert found.users == ("7", "12")  # whole numbers in their own order
    assert found.items == ("a", "b")


@pytest.mark.parametrize(("write", "options"), LAYOUTS[:4], ids=IDS[:4])
def test_a_folder_will_do(tmp_path, write, options):
    path = write(tmp_path)
    assert read_interactions(tmp_path, **options).path == path


def test_ratings_csv_of_another_header_is_a_file_of_columns(tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_text("user,item,rating\n1,2,80\n")
    assert read_interactions(path).value.tolist() == [80]


def test_without_rating_and_time_every_interaction_is_one(tmp_path):
    path = tmp_path / "clicks.csv"
    path.write_text("user,item\nu1,i1\nu1,i2\n")
    found = read_interactions(path)
    assert found.value.tolist() == [1, 1]
    assert found.time is None


def test_dates_are_times(tmp_path):
    path = tmp_path / "clicks.csv"
    path.write_text("user,item,date\n1,1,1970-01-02\n1,2,1970-01-03\n")
    assert read_interactions(path).time.tolist() == [86_400, 2 * 86_400]


def test_ids_that_look_alike_are_different_ids(tmp_path):
    path = tmp_path / "clicks.inter"
    path.write_text("user_id:token\titem_id:token\n7\t1\n07\t1\n")
    assert read_interactions(path).users == ("07", "7")


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("user_id\titem_id:token", "line 1: the header must have fields such as 'user_id:token'"),
        ("user_id:token\titem_id:text", "got 'item_id:text'"),
        ("user_id:token\tuser_id:token", "line 1: duplicate fields"),
        ("who:token\titem_id:token", "usual name for the user (user_id); name it with"),
    ],
)
def test_a_header_that_is_none(tmp_path, header, message):
    path = tmp_path / "small.inter"
    path.write_text(f"{header}\n1\t2\n")
    with pytest.raises(DataError) as error:
        read_interactions(path)
    assert message in str(error.value)
    assert str(path) in str(error.value)


def test_columns_can_be_named_and_misspelled(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("who,what\nu,i\n")
    assert read_interactions(path, user="who", item="what").users == ("u",)
    with pytest.raises(DataError, match="no user column 'wo'; did you mean 'who'"):
        read_interactions(path, user="wo", item="what")


def test_movielens_has_no_columns_to_name(tmp_path):
    path = LAYOUTS[0][0](tmp_path)
    with pytest.raises(DataError, match="MovieLens has no column names, got --user-column who"):
        read_interactions(path, user="who")


def test_svmlight_is_no_interactions(tmp_path):
    path = tmp_path / "small.svm"
    path.write_text("1 qid:1 1:2\n")
    with pytest.raises(DataError, match="svmlight has no named columns"):
        read_interactions(path)


ADJACENCY = "0 10 11\n1 12\n\n2\n3 10 12 13\n"


@pytest.mark.parametrize(("name", "format"), [("train.txt", "auto"), ("train", "adjacency")])
def test_a_line_for_each_user(tmp_path, name, format):
    path = tmp_path / name
    path.write_text(ADJACENCY)
    found = read_interactions(path, format=format)
    assert found.users == ("0", "1", "3")
    assert found.items == ("10", "11", "12", "13")
    pairs = [(found.users[u], found.items[i]) for u, i in zip(found.user, found.item, strict=True)]
    expected = [("0", "10"), ("0", "11"), ("1", "12"), ("3", "10"), ("3", "12"), ("3", "13")]
    assert pairs == expected
    assert found.value.tolist() == [1] * 6


def test_lines_of_users_that_cannot_be_read(tmp_path):
    path = tmp_path / "train.txt"
    path.write_text("0 10 11\n1 12 13 12\n")
    with pytest.raises(DataError, match="line 2: the pair of user 1 and item 12 was already in"):
        read_interactions(path)
    assert len(read_interactions(path, duplicates="last")) == 4
    with pytest.raises(DataError, match="adjacency has no column names, got --item-column what"):
        read_interactions(path, item="what")
    path.write_text("0\n1\n")
    with pytest.raises(DataError, match="has no interaction; a line is a user and their items"):
        read_interactions(path)
    path.write_bytes(b"0 \xff\n")
    with pytest.raises(DataError, match=r"train\.txt"):
        read_interactions(path, format="adjacency")


def test_published_names_of_columns_separated_by_tabs(tmp_path):
    path = tmp_path / "train.tsv"
    path.write_text("user_procid\titem_procid\n0\t7\n1\t3\n")
    found = read_interactions(path)
    assert (found.users, found.items, found.item.tolist()) == (("0", "1"), ("3", "7"), [1, 0])
