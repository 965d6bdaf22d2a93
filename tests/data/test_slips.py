"""Columns of words that look like numbers with a slip in them."""

from __future__ import annotations

import polars as pl
import pytest

from rankwise.data import read_table
from rankwise.data.slips import first_word, slip_in


def column(*values: str | None) -> pl.Series:
    return pl.Series("a", values, dtype=pl.String)


def test_one_word_among_numbers_is_named_with_its_row() -> None:
    found = slip_in(column("1", None, " 2.5", "-3e4", "", "oops", "7", "nan"))
    assert found is not None
    assert "'a' is taken as words: 5 of 6 values are numbers, but 'oops' in row 6 is not" in found


@pytest.mark.parametrize(
    "values",
    [
        ("red", "green", "1"),
        ("12A", "12", "13B", "14"),
        ("1", "2", "3"),
        (None, None),
        ("", " "),
        (),
    ],
)
def test_words_and_codes_are_nothing_odd(values: tuple[str | None, ...]) -> None:
    assert slip_in(column(*values)) is None


def test_decimal_commas_are_named() -> None:
    found = slip_in(column("0,12", "-1,5", "3,0", None, "?"))
    assert found is None  # three of four
    found = slip_in(column("0,12", "-1,5", "3,0", " 4,25 ", "?"))
    assert found is not None
    assert "decimal comma, such as '0,12'; write a point" in found


def test_the_first_word_is_not_the_first_value() -> None:
    assert first_word(column("1", None, " ", "x", "y")) == ("x", 4)


def test_a_table_tells_of_its_slips(tmp_path) -> None:
    rows = "\n".join(f"{i % 2},{i}.5,{'x' if i % 3 else 'y'}" for i in range(20))
    path = tmp_path / "t.csv"
    path.write_text(f"y,a,b\n{rows}\n1,oops,x\n")
    table = read_table(path, target="y")
    (slip,) = table.slips
    assert "20 of 21 values are numbers, but 'oops' in row 21 is not" in slip
    path.write_text(f"y,a,b\n{rows}\n")
    assert read_table(path, target="y").slips == ()
