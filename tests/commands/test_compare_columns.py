"""What ``rankwise compare`` says of the columns before it trains."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from tests.tasks.compare.stubs import stubbed, table
from typer.testing import CliRunner

from rankwise.cli import app
from rankwise.files import read_npz

__all__ = ["stubbed"]

RUN = CliRunner()
SMALL = ["--target", "y", "--trials", "1", "--candidates", "linear:log_loss"]

pytestmark = pytest.mark.usefixtures("stubbed")


@pytest.fixture
def data(tmp_path, monkeypatch, stubbed):
    monkeypatch.setenv("COLUMNS", "200")
    days = np.datetime64("2022-01-01") + np.arange(600).astype("timedelta64[D]")
    frame = table().drop("day").with_columns(
        id=np.arange(600),
        store_id=np.arange(600) % 7,
        price=pl.Series([f"${1000 + n:,}.50" for n in range(600)]),
        when=pl.Series([day.item().strftime("%m/%d/%Y") for day in days]),
        said=pl.Series([f"the order number {n} came late today" for n in range(600)]),
        y=pl.when(pl.int_range(pl.len()) % 60 != 7).then("y"),
    )  # fmt: skip
    frame.write_csv(tmp_path / "data.csv")
    return tmp_path / "data.csv"


def compare(data, *more):
    out = data.parent / "run"
    done = RUN.invoke(app, ["compare", str(data), *SMALL, "--out", str(out), *more])
    assert done.exit_code == 0, done.output
    return done.stdout, json.loads((out / "results.json").read_text()), out


def row_of(printed: str, name: str) -> list[str]:
    line = next(line for line in printed.splitlines() if line.split()[:1] == [name])
    return line.strip().split(maxsplit=4)


def test_the_table_of_columns_is_printed_kept_and_on_the_report(data) -> None:
    printed, results, out = compare(data)
    assert row_of(printed, "price") == ["price", "number", "590", "0", "amounts in $"]
    assert row_of(printed, "store_id")[4].rstrip().endswith("--use store_id keeps it")
    assert row_of(printed, "said")[1] == "text"
    assert row_of(printed, "when")[1:] == ["date", "590", "0", "read as mm/dd/yyyy"]
    assert row_of(printed, "y")[1] == "target"
    assert "10 rows without a target are left out" in printed
    assert printed.index("columns of the data") < printed.index("on the test part")
    assert results["data"]["rows_without_target"] == 10
    kept = {each["name"]: each for each in results["columns"]}
    assert kept["id"]["left_out"]
    assert kept["word"] == {
        "name": "word", "taken_for": "category", "levels": 3, "missing": 0,
        "left_out": None, "remark": None,
    }  # fmt: skip
    page = (out / "index.html").read_text()
    for each in results["columns"]:
        assert f'<th scope="row">{each["name"]}</th><td>{each["taken_for"]}</td>' in page
    assert "its name looks like an id; --use store_id keeps it" in page


def test_the_period_of_every_part_is_printed_kept_and_on_the_report(data) -> None:
    printed, results, out = compare(data, "--time", "when")
    assert "train: 354 rows, when 2022-01-01 to 2022-12-" in printed
    assert results["data"]["periods"]["test"].endswith("to 2023-08-23")
    assert results["data"]["periods"]["test"] in (out / "index.html").read_text()


def test_what_was_asked_of_the_columns_is_in_the_command_of_the_report(data) -> None:
    asked = ["--use", "store_id", "--text", "said", "--weight", "user", "--date-format", "%m/%d/%Y"]
    printed, _, out = compare(data, *asked)
    assert row_of(printed, "store_id")[1] == "category"
    assert row_of(printed, "said")[1] == "text"
    page = (out / "index.html").read_text()
    for option in ("--use store_id", "--text said", "--weight user", "--date-format %m/%d/%Y"):
        assert option in page
    done = RUN.invoke(app, ["predict", str(out), str(data)])
    assert done.exit_code == 0, done.output
    assert pl.read_csv(done.stdout.encode()).height == 600


def test_the_test_part_is_found_again_among_rows_without_a_target(data) -> None:
    _, results, out = compare(data)
    scores = data.parent / "scores.csv"
    keep = ["--part", "test", "--keep", "id,y", "--out", str(scores)]
    done = RUN.invoke(app, ["predict", str(out), *keep])
    assert done.exit_code == 0, done.output
    found = pl.read_csv(scores)
    assert found.height == results["data"]["test"]
    assert found["y"].null_count() == 0
    arrays = read_npz(out / "predictions.npz")
    np.testing.assert_array_equal(found["id"], arrays["row"])
    np.testing.assert_allclose(found["score"], arrays[f"score_{results['recommended']}"])


def test_predict_says_how_many_values_it_could_not_read(data) -> None:
    _, _, out = compare(data)
    frame = pl.read_csv(data, infer_schema=False)
    frame.with_columns(price=pl.lit("much")).write_csv(data.parent / "new.csv")
    done = RUN.invoke(app, ["predict", str(out), str(data.parent / "new.csv")])
    assert done.exit_code == 0
    assert "'price': 600 of 600 values cannot be read as numbers, as in training" in done.stderr
    assert done.stdout.startswith("score,probability")


def test_plain_numbers_of_a_wide_table_are_only_counted(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    rng = np.random.default_rng(0)
    wide = pl.DataFrame({f"n{n}": rng.normal(size=600) for n in range(50)})
    table().hstack(wide).drop("user", "day").write_csv(tmp_path / "data.csv")
    printed, _, _ = compare(tmp_path / "data.csv")
    assert "and 53 columns of plain numbers" in printed  # a, b, c and n0 to n49
    assert row_of(printed, "word")[1] == "category"
