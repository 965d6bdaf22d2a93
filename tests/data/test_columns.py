from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from rankwise.data import read_table
from rankwise.data._columns import Wishes, decide, suspect_number

N = 40
WORDS = ["red", "green", "blue", "red"]


def column(name, values) -> pl.Series:
    return pl.Series(name, values, strict=False)


@pytest.mark.parametrize(
    ("values", "kind", "remark"),
    [
        ([f"{n},231.55" for n in range(1, N)], "numeric", ""),
        ([f"${n}.06" for n in range(N)], "numeric", "amounts in $"),
        ([f"{n}.0%" for n in range(N)], "numeric", "percentages, divided by 100"),
        (
            [f"01/{n % 28 + 1:02d}/2023 10:0{n % 10}" for n in range(N)],
            "time",
            "read as mm/dd/yyyy",
        ),
        ([f"{n % 20 + 1} Jan 2023" for n in range(N)], "time", "read as %d %B %Y"),
        ([f"0{n % 9 + 1}/02/2023" for n in range(N)], "time", "--date-format %d/%m/%Y"),
        ([20230101 + n % 28 for n in range(N)], "time", "read as %Y%m%d"),
        ([f"{n % 24}:30" for n in range(N)], "numeric", "a time of day, in hours"),
        ([n % 2 == 0 for n in range(N)], "numeric", "true is 1, false is 0"),
        (WORDS * 10, "categorical", ""),
        ([None, "yes"] * 20, "categorical", ""),  # being there says something
        ([1.5, 2.0, None, 3.0] * 10, "numeric", ""),
        ([3 * n for n in range(N)], "numeric", ""),  # different, but not consecutive
    ],
)
def test_numbers_dates_and_words_are_features(values, kind, remark) -> None:
    found = decide(column("a", values), Wishes())
    assert found.rule is not None
    assert found.rule.kind == kind
    assert found.info.left_out is None
    assert remark in found.info.said


TEXT = [f"the item number {n} was late and broken" for n in range(N)]


@pytest.mark.parametrize(
    ("name", "values", "taken", "why"),
    [
        ("n", list(range(5, N)), "id", "consecutive numbers, different in every row; --use n"),
        ("n", np.random.default_rng(0).permutation(N).tolist(), "id", "--use n keeps it"),
        ("id", [7 * n % 5 for n in range(N)], "id", "its name looks like an id; --use id keeps it"),
        ("store_id", [n % 4 for n in range(N)], "id", "--use store_id keeps it"),
        ("User_ID", WORDS * 10, "id", "--use User_ID keeps it"),
        ("c", [7] * N, "constant", "has the same value in every row"),
        ("c", ["x"] * N, "constant", "has the same value in every row"),
        ("e", [None] * N, "empty", "has no value"),
        ("mail", [f"u{n}@x.org" for n in range(N)], "words", "different in every row; --use mail"),
        (
            "mail",
            ["a", *(f"u{n}" for n in range(N)), "a"],
            "words",
            "different in almost every row",
        ),
        ("said", TEXT, "text", "free text; --text said learns from its words"),
        ("l", [[1]] * N, "lists", "holds lists"),
    ],
)
def test_ids_constants_names_and_text_are_left_out_with_the_reason(
    name, values, taken, why
) -> None:
    found = decide(column(name, values), Wishes())
    assert found.rule is None
    assert found.info.taken_for == taken
    assert why in found.info.said
    assert found.info.said.startswith("left out: ")


@pytest.mark.parametrize(
    ("name", "values", "kind"),
    [
        ("n", list(range(N)), "numeric"),
        ("store_id", [n % 4 for n in range(N)], "categorical"),  # its numbers are names
        ("mail", [f"u{n}@x.org" for n in range(N)], "categorical"),
        ("said", TEXT, "categorical"),
        ("c", [7] * N, "numeric"),
    ],
)
def test_use_takes_what_would_be_left_out(name, values, kind) -> None:
    found = decide(column(name, values), Wishes(use=[name]))
    assert found.rule is not None
    assert (found.rule.kind, found.info.left_out) == (kind, None)


def test_text_is_learned_from_on_request() -> None:
    found = decide(column("said", TEXT), Wishes(text=["said"]))
    assert found.rule is not None
    assert (found.rule.kind, found.info.taken_for) == ("text", "text")


def test_levels_and_missing_values_are_counted() -> None:
    info = decide(column("a", ["x", "y", None, "x"]), Wishes()).info
    assert (info.levels, info.missing) == (2, 1)
    info = decide(column("a", [1.0, float("nan"), None, 2.0]), Wishes()).info
    assert (info.levels, info.missing) == (2, 2)


def test_a_column_named_weight_is_remarked_on() -> None:
    info = decide(column("sample_weight", [0.5, 1.5, 0.5]), Wishes()).info
    assert info.said == "if it is a sample weight: --weight sample_weight"


def words(*values: str | None) -> pl.Series:
    return pl.Series("a", values, dtype=pl.String)


def test_one_word_among_numbers_is_named_with_its_row() -> None:
    found = suspect_number(words("1", None, " 2.5", "-3e4", "", "oops", "7", "nan"))
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
def test_words_and_codes_are_not_suspect(values: tuple[str | None, ...]) -> None:
    assert suspect_number(words(*values)) is None


def test_decimal_commas_are_named() -> None:
    found = suspect_number(words("0,12", "-1,5", "3,0", None, "?"))
    assert found is None  # three of four
    found = suspect_number(words("0,12", "-1,5", "3,0", " 4,25 ", "?"))
    assert found is not None
    assert "decimal comma, such as '0,12'; write a point" in found


def test_the_first_word_is_named_and_not_the_first_value() -> None:
    found = suspect_number(words("1", None, " ", "x", *map(str, range(9)), "y"))
    assert found is not None
    assert "10 of 12 values are numbers, but 'x' in row 4 is not" in found


def test_a_table_has_warnings(tmp_path) -> None:
    rows = "\n".join(f"{i % 2},{i}.5,{'x' if i % 3 else 'y'}" for i in range(20))
    path = tmp_path / "t.csv"
    path.write_text(f"y,a,b\n{rows}\n1,oops,x\n")
    table = read_table(path, target="y")
    (warning,) = table.warnings
    assert "20 of 21 values are numbers, but 'oops' in row 21 is not" in warning
    path.write_text(f"y,a,b\n{rows}\n")
    assert read_table(path, target="y").warnings == ()
