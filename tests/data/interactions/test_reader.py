from __future__ import annotations

import pytest

from rankwise.data import DataError
from rankwise.data.interactions import read_interactions


def written(folder, *lines, name="u.data"):
    path = folder / name
    path.write_text("".join(line.replace(" ", "\t") + "\n" for line in lines))
    return path


def test_a_rating_out_of_range_is_named_with_its_line(tmp_path):
    path = written(tmp_path, "1 1 5 10", "1 2 6 20", "2 1 0 30")
    with pytest.raises(DataError) as error:
        read_interactions(path)
    assert f"{path}: line 2: the rating 6 is out of range, 1 to 5; 2 of 3 ratings are" in str(
        error.value
    )


def test_a_range_can_be_given(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("user,item,rating\n1,1,90\n1,2,101\n")
    assert len(read_interactions(path)) == 2
    with pytest.raises(DataError, match="line 3: the rating 101 is out of range, 0 to 100"):
        read_interactions(path, rating_range=(0, 100))


def test_a_range_without_ratings_makes_no_sense(tmp_path):
    path = tmp_path / "clicks.csv"
    path.write_text("user,item\n1,1\n")
    with pytest.raises(DataError, match="has no rating column"):
        read_interactions(path, rating_range=(1, 5))


def test_a_pair_twice_is_an_error_with_both_lines(tmp_path):
    path = written(tmp_path, "1 9 5 10", "2 9 4 20", "1 8 4 20", "2 9 3 30", "1 9 1 5")
    with pytest.raises(DataError) as error:
        read_interactions(path)
    assert (
        f"{path}: line 4: the pair of user 2 and item 9 was already in line 2; 2 of 5 rows are such"
    ) in str(error.value)


def test_the_last_of_a_pair_counts_on_request(tmp_path):
    path = written(tmp_path, "1 9 5 10", "2 9 4 20", "2 9 3 30", "1 9 1 5")
    found = read_interactions(path, duplicates="last")
    assert found.value.tolist() == [5, 3]  # by time: the fourth line is older than the first
    assert found.replaced == 2


def test_without_time_the_last_is_the_last_in_the_file(tmp_path):
    path = tmp_path / "small.csv"
    path.write_text("user,item,rating\n1,1,2\n1,1,4\n")
    assert read_interactions(path, duplicates="last").value.tolist() == [4]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("user,item,rating\n1,1,good\n", "line 2: the rating must be a number, got 'good'"),
        ("user,item,rating\n1,1,\n1,2,3\n", "line 2: the rating must be a number, got None"),
        ("user,item,time\n1,1,noon\n", "line 2: the time must be a number, got 'noon'"),
        ("user,item\n1,1\n,2\n", "line 3: the user is missing; 1 of 2 are"),
    ],
)
def test_columns_with_what_does_not_belong(tmp_path, text, message):
    path = tmp_path / "small.csv"
    path.write_text(text)
    with pytest.raises(DataError) as error:
        read_interactions(path)
    assert message in str(error.value)


def test_folders_and_files_that_are_not_there(tmp_path):
    with pytest.raises(DataError, match=r"must hold one of u\.data.*got none of them"):
        read_interactions(tmp_path)
    with pytest.raises(DataError, match="there is no such file"):
        read_interactions(tmp_path / "u.data")
    written(tmp_path, "1 1 1 1")
    written(tmp_path, "user_id:token item_id:token", "1 1", name="x.inter")
    with pytest.raises(DataError, match=r"got u\.data, x\.inter"):
        read_interactions(tmp_path)


def test_options_are_checked(tmp_path):
    path = written(tmp_path, "1 1 1 1")
    with pytest.raises(ValueError, match="duplicates"):
        read_interactions(path, duplicates="first")
    with pytest.raises(ValueError, match="format"):
        read_interactions(path, format="netflix")
