from __future__ import annotations

import polars as pl
import pytest
from typer.testing import CliRunner

from rankwise.cli import app
from rankwise.data.letor import read_run, write_run

RUN = CliRunner()


@pytest.fixture
def files(tmp_path):
    (tmp_path / "a.csv").write_text("q,d,score,y\n1,a,3,1\n1,b,2,0\n")
    (tmp_path / "b.csv").write_text("q,d,score\n1,b,7\n1,c,5\n")
    return str(tmp_path / "a.csv"), str(tmp_path / "b.csv")


def test_files_become_one(files, tmp_path):
    out = tmp_path / "fused.csv"
    asked = ["fuse", *files, "--id", "d", "--group", "q", "--keep", "y", "--k", "1"]
    done = RUN.invoke(app, [*asked, "--out", str(out)])
    assert done.exit_code == 0, done.output
    found = pl.read_csv(out)
    assert found["d"].to_list() == ["b", "a", "c"]
    assert found["score"].to_list() == pytest.approx([1 / 3 + 1 / 2, 1 / 2, 1 / 3])
    assert "3 rows, 2 of them not in every file" in done.stderr
    printed = RUN.invoke(app, asked)
    assert printed.stdout == out.read_text()


def test_methods_by_their_names(files):
    for method, first in (("combsum", "a"), ("combmnz", "b")):
        done = RUN.invoke(app, ["fuse", *files, "--id", "q,d", "--method", method])
        assert done.exit_code == 0, done.output
        assert done.stdout.splitlines()[1].startswith(f"1,{first},")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "--id must be given"),
        (["--id", "d", "--method", "borda"], "--method must be one of rrf, combsum, combmnz"),
        (["--id", "d", "--normalize", "z"], "--normalize must be min-max or none, got 'z'"),
        (["--id", "d", "--k", "0"], "--k must be above 0"),
        (["--id", " , "], "--id must name columns"),
        (["--id", "x"], "there is no id column 'x'"),
    ],
)
def test_bad_input_is_one_line_and_2(files, arguments, message):
    done = RUN.invoke(app, ["fuse", *files, *arguments])
    assert done.exit_code == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_scores_are_not_written_over(files):
    done = RUN.invoke(app, ["fuse", *files, "--id", "q,d", "--out", files[1]])
    assert done.exit_code == 2
    assert "--out must be another file than" in done.stderr


def test_run_files_become_one(tmp_path):
    runs = {"a": {"1": {"x": 3.0, "y": 2.0}, "2": {"x": 1.0}}, "b": {"1": {"y": 9.0, "z": 8.0}}}
    paths = [tmp_path / f"{name}.run" for name in runs]
    for path, run in zip(paths, runs.values(), strict=True):
        write_run(path, run)
    out = tmp_path / "fused.run"
    done = RUN.invoke(app, ["rank", "fuse", *map(str, paths), "--out", str(out)])
    assert done.exit_code == 0, done.output
    found = read_run(out)
    assert list(found["1"]) == ["y", "x", "z"]
    assert found["1"] == pytest.approx({"y": 1 / 62 + 1 / 61, "x": 1 / 61, "z": 1 / 62})
    assert found["2"] == pytest.approx({"x": 1 / 61})
    assert "4 documents of 2 queries" in done.stderr
    alone = RUN.invoke(app, ["rank", "fuse", str(paths[0]), "--out", str(out)])
    assert alone.exit_code == 2
    assert "at least two run files, got 1" in alone.stderr
