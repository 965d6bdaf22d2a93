from __future__ import annotations

import pytest

from rankwise.commands.interactions import read
from rankwise.data import DataError
from rankwise.errors import UsageError

NOBODY = (None, None, None, None)


def test_reads_as_the_options_say(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("who,item,stars\na,1,3\na,1,4\n")
    found = read(path, "columns", ("who", None, "stars", None), "1:5", "last")
    assert found.users == ("a",)
    assert found.value.tolist() == [4]


@pytest.mark.parametrize(
    ("format", "limits", "duplicates", "message"),
    [
        ("netflix", None, "error", "format"),
        ("auto", "five", "error", "--rating-range must be two numbers such as 1:5, got 'five'"),
        ("auto", "5:5", "error", "--rating-range must go upwards"),
        ("auto", None, "both", "duplicates"),
    ],
)
def test_wrong_options_are_wrong_usage(tmp_path, format, limits, duplicates, message):
    path = tmp_path / "log.csv"
    path.write_text("user,item,rating\na,1,3\n")
    with pytest.raises(UsageError, match=message):
        read(path, format, NOBODY, limits, duplicates)


def test_wrong_data_stay_what_they_are(tmp_path):
    with pytest.raises(DataError, match="there is no such file"):
        read(tmp_path / "log.csv", "auto", NOBODY, None, "error")
