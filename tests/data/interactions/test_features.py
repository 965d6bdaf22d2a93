from __future__ import annotations

import numpy as np
import pytest

from rankwise.data import DataError
from rankwise.data.interactions import read_features

ATOMIC = """item_id:token\ttitle:token_seq\tclass:token_seq\tyear:float
1\tToy Story\tComedy Animation\t1995
2\tHeat\tAction\t1997
3\tPsycho\tAction Comedy\t
4\tCasino\tAction\t1996
5\tFargo\tAction\t
6\tAlien\tAction\t
"""


def test_words_and_standardized_numbers_by_id(tmp_path):
    path = tmp_path / "films.item"
    path.write_text(ATOMIC)
    found = read_features(path, ["2", "9", "1", "3"])
    assert found.left_out == ("title",)
    assert found.names == ("class=Action", "class=Comedy", "year")  # Animation comes only once
    third = (2 / 3) ** 0.5  # the deviation of 1995, 1996, 1997
    expected = [[1, 0, 1 / third], [0, 0, 0], [0, 1, -1 / third], [1, 1, 0]]
    np.testing.assert_allclose(found.values, expected, rtol=1e-5)
    assert found.without == 1


def test_a_csv_with_the_id_elsewhere(tmp_path):
    path = tmp_path / "users.csv"
    path.write_text("age,who\n20,7\n40,8\n")
    found = read_features(path, ["8", "7"], id_column="who")
    assert found.names == ("age",)
    np.testing.assert_allclose(found.values, [[1], [-1]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("who,age\n7,1\n7,2\n", "the id '7' is there more than once"),
        ("who,age\nx,1\ny,2\n", "has none of the 2 ids of the interactions, such as '7'"),
        ("who,age\n7,1\n8,inf\n", "the column 'age' holds inf in row 2; write a number there"),
        ("who,age\n7,-inf\n8,NA\n", "the column 'age' holds -inf in row 1"),
        ("who,age\n7,1\n8,1\n", "has no column of features next to 'who'"),
    ],
)
def test_what_cannot_be_used(tmp_path, text, message):
    path = tmp_path / "users.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        read_features(path, ["7", "8"])
    with pytest.raises(DataError, match="no such file"):
        read_features(tmp_path / "nobody.csv", ["7"])
    with pytest.raises(DataError, match="no id column 'nobody'"):
        read_features(path, ["7"], id_column="nobody")
