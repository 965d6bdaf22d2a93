"""Numbers as people write them."""

from __future__ import annotations

import polars as pl
import pytest

from rankwise.data.numbers import currency_of, numbers_in


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("2,231.55", 2231.55),
        ("1,234,567", 1234567),
        ("$6.06", 6.06),
        ("-$6", -6),
        ("$-6", -6),
        ("$ 1,000", 1000),
        ("6 $", 6),
        ("39.0%", 0.39),
        ("5 %", 0.05),
        ("(1,234.50)", -1234.5),
        ("($3.00)", -3),
        ("\u22125", -5),
        ("1 234.5", 1234.5),
        ("1\u00a0234", 1234),
        ("1'234", 1234),
        (" 7 ", 7),
        ("+7", 7),
        ("1e3", 1000),
        (".5", 0.5),
    ],
)
def test_amounts_percentages_and_negatives_of_accounting_are_numbers(word, value) -> None:
    assert numbers_in(pl.Series([word]), "$").to_list() == [pytest.approx(value)]


@pytest.mark.parametrize(
    "word",
    ["1,5", "0,125", "12,34,567", "12A", "12-3", "-(3)", "(5", "5)", "€5", "LHR 1", "$", "", "x"],
)  # fmt: skip
def test_codes_decimal_commas_and_other_currencies_are_no_numbers(word) -> None:
    assert numbers_in(pl.Series([word]), "$").to_list() == [None]


def test_the_currency_is_that_of_most_and_missing_stays_missing() -> None:
    words = pl.Series(["$1", "$2", "€3", "4", None])
    assert currency_of(words) == "$"
    assert numbers_in(words, "$").to_list() == [1, 2, None, 4, None]
    assert currency_of(pl.Series(["1", "2"])) is None
