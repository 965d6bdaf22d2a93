from __future__ import annotations

from datetime import datetime

import polars as pl
import pytest

from rankwise.data.reading import (
    are_compact,
    currency_of,
    find_format,
    nearest_format,
    read_dates,
    read_hours,
    read_numbers,
)


@pytest.mark.parametrize(
    ("words", "form", "first"),
    [
        (["2023-01-25", "2023-02-01"], "%Y-%m-%d", datetime(2023, 1, 25)),
        (["2023-01-25T10:00:00Z"], "%Y-%m-%d", datetime(2023, 1, 25, 10)),
        (["2023-01-25 10:00:00+02:00"], "%Y-%m-%d", datetime(2023, 1, 25, 8)),
        (["2023-01-25 10:00", "2023-01-26"], "%Y-%m-%d", datetime(2023, 1, 25, 10)),
        (["2023/01/25"], "%Y/%m/%d", datetime(2023, 1, 25)),
        (["01/25/2023", "2/1/2023"], "%m/%d/%Y", datetime(2023, 1, 25)),
        (["1/5/2023 10:30", "12/25/2023 09:00:05"], "%m/%d/%Y", datetime(2023, 1, 5, 10, 30)),
        (["25/01/2023", "01/02/2023"], "%d/%m/%Y", datetime(2023, 1, 25)),
        (["25/01/2023 10:00:01"], "%d/%m/%Y", datetime(2023, 1, 25, 10, 0, 1)),
        (["01/25/2023 10:30 PM"], "%m/%d/%Y", datetime(2023, 1, 25, 22, 30)),
        (["25.01.2023"], "%d.%m.%Y", datetime(2023, 1, 25)),
        (["25 Jan 2023", "1 February 2023"], "%d %B %Y", datetime(2023, 1, 25)),
        (["Jan 25, 2023", "March 3, 2023 10:30"], "%B %d, %Y", datetime(2023, 1, 25)),
        (["25-Jan-2023"], "%d-%B-%Y", datetime(2023, 1, 25)),
        (["20230125", "19991231"], "%Y%m%d", datetime(2023, 1, 25)),
        (["2023-01", "2023-02"], "%Y-%m", datetime(2023, 1, 1)),
    ],
)
def test_the_format_is_the_one_that_reads_every_value(words, form, first) -> None:
    column = pl.Series("when", [*words, None])
    found = find_format(column)
    assert found is not None
    assert (found.format, found.other) == (form, None)
    read = read_dates(column, form)
    assert read[0] == first
    assert read.null_count() == 1


@pytest.mark.parametrize(
    "words", [["red"], ["2023-02-30"], ["01/02/23"], ["2023-01-25", "soon"], ["12345678"], [None]]
)
def test_what_is_no_date_has_no_format(words) -> None:
    assert find_format(pl.Series("when", words, dtype=pl.String)) is None


def test_day_and_month_that_cannot_be_told_apart_are_said_to_be_so() -> None:
    both = find_format(pl.Series(["01/02/2023", "03/04/2023"]))
    assert both is not None
    assert (both.format, both.other) == ("%m/%d/%Y", "%d/%m/%Y")
    same = find_format(pl.Series(["03/03/2023", "04/04/2023"]))
    assert same is not None
    assert same.other is None
    given = find_format(pl.Series(["01/02/2023"]), "%d/%m/%Y")
    assert given is not None
    assert (given.format, given.other) == ("%d/%m/%Y", None)


def test_a_given_format_may_have_two_digits_of_a_year_and_no_padding() -> None:
    assert read_dates(pl.Series(["1/5/23 10:00"]), "%m/%d/%y")[0] == datetime(2023, 1, 5, 10)
    assert read_dates(pl.Series(["5.1.2023"]), "%-d.%-m.%Y")[0] == datetime(2023, 1, 5)
    assert read_dates(pl.Series(["202301"]), "%Y%m")[0] == datetime(2023, 1, 1)


def test_whole_numbers_are_dates_only_where_every_one_is_a_day() -> None:
    assert are_compact(pl.Series([20230125, None, 19991231]))
    assert not are_compact(pl.Series([20230125, 20231301]))
    assert not are_compact(pl.Series([1_674_600_000, 1_674_700_000]))  # seconds stay numbers
    assert not are_compact(pl.Series([2021, 2022]))


def test_the_nearest_format_and_times_of_day() -> None:
    assert nearest_format(pl.Series(["2023-01-25", "soon", "2023-01-26"])) == "%Y-%m-%d"
    assert read_hours(pl.Series(["9:30", "21:15:36", "x"])).to_list() == [9.5, 21.26, None]


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
    assert read_numbers(pl.Series([word]), "$").to_list() == [pytest.approx(value)]


@pytest.mark.parametrize(
    "word",
    ["1,5", "0,125", "12,34,567", "12A", "12-3", "-(3)", "(5", "5)", "€5", "LHR 1", "$", "", "x"],
)  # fmt: skip
def test_codes_decimal_commas_and_other_currencies_are_no_numbers(word) -> None:
    assert read_numbers(pl.Series([word]), "$").to_list() == [None]


def test_the_currency_is_that_of_most_and_missing_stays_missing() -> None:
    words = pl.Series(["$1", "$2", "€3", "4", None])
    assert currency_of(words) == "$"
    assert read_numbers(words, "$").to_list() == [1, 2, None, 4, None]
    assert currency_of(pl.Series(["1", "2"])) is None
