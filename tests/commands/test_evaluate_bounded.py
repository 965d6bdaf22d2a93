"""``rankwise evaluate`` in bounded memory: large files, several files, files of counts."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from rankwise.cli import app

RUN = CliRunner()
COLUMNS = ("--target", "y", "--score", "s")
TWO = ("--metric", "ap", "--metric", "auc")


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")


@pytest.fixture
def days(tmp_path):
    """Three days of scores, and all of them in one file."""
    rng = np.random.default_rng(0)
    y = (rng.random(12_000) < 0.1).astype(np.int8)
    # Close together: the counts of the first pass do not know the order.
    s = (0.5 + (y + rng.normal(size=12_000)) / 1000).astype(np.float32)
    frame = pl.DataFrame({"s": s, "user": rng.integers(9, size=12_000), "y": y})
    frame.write_parquet(tmp_path / "all.parquet")
    paths = []
    for number, start in enumerate(range(0, 12_000, 4_000)):
        paths.append(tmp_path / f"day{number}.parquet")
        frame[start : start + 4_000].write_parquet(paths[-1], row_group_size=1_000)
    return paths, tmp_path / "all.parquet", frame


def evaluated(tmp_path, *arguments):
    out = tmp_path / "out.json"
    done = RUN.invoke(app, ["evaluate", *map(str, arguments), "--json", str(out)])
    assert done.exit_code == 0, done.output
    return json.loads(out.read_text()), done.stdout


def refused(*arguments):
    done = RUN.invoke(app, ["evaluate", *map(str, arguments)])
    assert done.exit_code == 2, done.output
    assert done.stderr.count("\n") == 1
    return done.stderr


def assert_same(found, whole):
    assert (found["rows"], found["positives"]) == (whole["rows"], whole["positives"])
    assert list(found["metrics"]) == list(whole["metrics"])
    for name, each in whole["metrics"].items():
        other = found["metrics"][name]
        assert other["is_exact"]
        assert other["method"] == each["method"]
        for key in ("value", "low", "high"):
            assert other[key] == pytest.approx(each[key], abs=1e-9)


def test_bounded_numbers_are_those_of_all_rows(days, tmp_path):
    paths, joined, _ = days
    whole, printed = evaluated(tmp_path, joined, *COLUMNS)
    assert whole["memory"] == "all"
    assert "bounds of the value" not in printed
    found, printed = evaluated(tmp_path, joined, *COLUMNS, "--memory", "bounded")
    assert_same(found, whole)
    assert "bounds of the value" in printed
    assert printed.count("exact") == len(whole["metrics"])
    merged, printed = evaluated(tmp_path, *paths, *COLUMNS)
    assert_same(merged, whole)
    assert merged["data"] == list(map(str, paths))
    assert "3 files: 12000 rows" in printed
    pattern, _ = evaluated(tmp_path, tmp_path / "day*.parquet", *COLUMNS, *TWO)
    assert pattern["data"] == merged["data"]
    assert pattern["metrics"]["ap"] == merged["metrics"]["ap"]


def test_a_csv_file_and_one_of_parquet_are_one_list(days, tmp_path):
    paths, joined, frame = days
    whole, _ = evaluated(tmp_path, joined, *COLUMNS, *TWO)
    # As float64, which the other files do not have: the same order.
    frame[8_000:].with_columns(pl.col("s").cast(pl.Float64)).write_csv(tmp_path / "day2.csv")
    found, _ = evaluated(tmp_path, *paths[:2], tmp_path / "day2.csv", *COLUMNS, *TWO)
    assert_same(found, whole)


def test_saved_counts_are_added_and_their_bounds_hold_the_value(days, tmp_path):
    paths, joined, _ = days
    whole, _ = evaluated(tmp_path, joined, *COLUMNS, *TWO)
    counts = []
    for path in paths[:2]:
        counts.append(path.with_suffix(".npz"))
        found, printed = evaluated(tmp_path, path, *COLUMNS, *TWO, "--save-histogram", counts[-1])
        assert found["metrics"]["ap"]["is_exact"]
        assert str(counts[-1]) in printed.replace("\n", "")
    both = tmp_path / "both.npz"
    evaluated(tmp_path, *counts, *TWO, "--save-histogram", both)
    found, printed = evaluated(tmp_path, both, paths[2], *COLUMNS, *TWO)
    assert found["rows"] == 12_000
    for name, each in whole["metrics"].items():
        other = found["metrics"][name]
        assert other["low"] <= other["lowest"] <= each["value"] <= other["highest"] <= other["high"]
    ap = found["metrics"]["ap"]
    assert not ap["is_exact"]
    assert f"{ap['lowest']:.6f} – {ap['highest']:.6f}" in printed


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("values", "arguments"),
    [
        (["no", "yes"], []),
        (["few", "many"], ["--positive", "many"]),
        (["many", "few"], ["--positive", "Few"]),
        ([0.0, 1.0], []),
        ([1.0, 2.0], ["--positive", "1"]),
        ([False, True], []),
        ([2, 10], []),
    ],
)
def test_classes_are_read_as_with_all_rows(tmp_path, days, form, values, arguments):
    frame = days[2][:300].with_columns(y=pl.col("y").replace_strict([0, 1], values))
    path = tmp_path / f"words.{form}"
    # The first value that is read is positive in one order and negative in the other.
    for rows in (frame.sort("y"), frame.sort("y", descending=True)):
        rows.write_csv(path) if form == "csv" else rows.write_parquet(path)
        asked = (path, *COLUMNS, *arguments, "--metric", "auc")
        whole, _ = evaluated(tmp_path, *asked)
        found, _ = evaluated(tmp_path, *asked, "--memory", "bounded")
        assert found["positives"] == whole["positives"]
        value = whole["metrics"]["auc"]["value"]
        assert found["metrics"]["auc"]["value"] == pytest.approx(value, abs=1e-9)


def test_rows_without_a_target_are_left_out_and_trained_rows_reported(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("y,s,in_training\n1,4,true\n0,3,false\nNA,9,false\n1,2,true\n0,1,false\n")
    found, printed = evaluated(tmp_path, path, *COLUMNS, "--memory", "bounded")
    assert found["metrics"]["auc"]["value"] == pytest.approx(3 / 4)
    assert (found["rows"], found["positives"]) == (4, 2)
    assert (found["rows_without_target"], found["rows_trained_on"]) == (1, 2)
    assert "2 of 4 rows equal a row the model was trained on" in printed


def test_a_day_of_one_class_can_be_saved_where_the_positive_value_is_named(tmp_path):
    for name, rows in (("mon", "0,1\n0,3\n"), ("tue", "1,2\n1,4\n")):
        (tmp_path / f"{name}.csv").write_text("y,s\n" + rows)
    monday, tuesday = tmp_path / "mon.csv", tmp_path / "tue.csv"
    save = ("--save-histogram", tmp_path / "mon.npz")
    assert "needs --positive" in refused(monday, *COLUMNS, *save)
    evaluated(tmp_path, monday, *COLUMNS, "--positive", "1", *save)
    found, _ = evaluated(tmp_path, tmp_path / "mon.npz", tuesday, *COLUMNS, "--positive", "1")
    assert found["metrics"]["auc"]["value"] == pytest.approx(3 / 4)
    assert "has one class only" in refused(monday, *COLUMNS, "--memory", "bounded")


def test_large_files_are_bounded_without_being_asked(days, tmp_path, monkeypatch):
    _, joined, frame = days
    frame.write_csv(tmp_path / "all.csv")
    monkeypatch.setattr("rankwise.data.scores.LARGE_ROWS", 10_000)
    monkeypatch.setattr("rankwise.data.scores.LARGE_BYTES", 10_000)
    for path in (joined, tmp_path / "all.csv"):
        asked = (path, *COLUMNS, "--metric", "auc")
        assert evaluated(tmp_path, *asked)[0]["memory"] == "bounded"
        assert evaluated(tmp_path, *asked, "--memory", "all")[0]["memory"] == "all"
        assert evaluated(tmp_path, *asked, "--group", "user")[0]["memory"] == "all"


def test_what_counts_cannot_do_is_refused(days, tmp_path):
    paths, joined, _ = days
    refusal = "cannot be combined with"
    assert refusal in refused(*paths, *COLUMNS, "--group", "user")
    assert "several files are evaluated in bounded memory; leave out --memory all" in refused(
        *paths, *COLUMNS, "--memory", "all"
    )
    assert refusal in refused(joined, *COLUMNS, "--memory", "bounded", "--group", "user")
    assert "--memory must be auto, all or bounded, got 'half'" in refused(
        joined, *COLUMNS, "--memory", "half"
    )
    assert "must be a file *.npz" in refused(joined, *COLUMNS, "--save-histogram", "counts")
    assert "is named twice" in refused(joined, joined, *COLUMNS)
    assert "there is no such file" in refused(tmp_path / "no*.parquet", *COLUMNS)
    assert "is a folder; name its files" in refused(tmp_path, joined, *COLUMNS)
    assert "--target and --score must be given" in refused(*paths)
    asked = ("--metric", "fpr_at_tpr(.9)")
    assert "needs every row" in refused(joined, *COLUMNS, "--memory", "bounded", *asked)
    (tmp_path / "bad.npz").write_bytes(b"none")
    assert "is not a file of ScoreHistogram.save" in refused(tmp_path / "bad.npz")
    (tmp_path / "a.svm").write_text("1 1:2\n0 1:3\n")
    assert "svmlight has no column of scores" in refused(
        tmp_path / "a.svm", *COLUMNS, "--memory", "bounded"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("y,s\n1,4\n0,x\n", "the score column 's' must hold numbers, got 'x' in row 2"),
        ("y,s\n1,4\n0,\n", "the score column 's' is missing in 1 of 2 rows"),
        ("y,s\n1,4\n0,nan\n", "the score column 's' is missing in 1 of 2 rows"),
        ("y,s\na,4\nb,3\nc,3\n", "say which one is to be found with --positive"),
        ("y,s\na,4\nb,3\n", "say which one is to be found with --positive"),
        ("y,t\n1,4\n0,3\n", "there is no score column 's'"),
        ("y,s\n,4\n,3\n", "the target 'y' has no value in any row"),
        ("", "is empty"),
    ],
)
def test_bad_tables_are_refused_as_with_all_rows(tmp_path, text, message):
    path = tmp_path / "a.csv"
    path.write_text(text)
    assert message in refused(path, *COLUMNS, "--memory", "bounded")
    assert not (tmp_path / "out.json").exists()
