from __future__ import annotations

import io

import polars as pl
import pytest
from tests.tasks.ranking.cases import written
from typer.testing import CliRunner

from rankwise.commands.rank import app
from rankwise.data.letor import read_letor, read_run
from rankwise.tasks.ranking import Settings, as_run, load_run, run, scores_of

RUN = CliRunner()


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("predict")
    train = read_letor(written(folder / "train.txt"))
    run(
        Settings(objective="listnet", model="linear", metric="ndcg@3"),
        folder / "run",
        train,
        metrics=["ap"],
    )
    return folder / "run", written(folder / "new.txt", queries=4, seed=1)


def unjudged(path, folder):
    """The same lists without their relevances."""
    lines = [line.partition(" ")[2] for line in path.read_text().splitlines()]
    (folder / "unjudged.txt").write_text("\n".join(lines) + "\n")
    return folder / "unjudged.txt"


def test_documents_that_nobody_has_judged_get_scores_as_a_run(finished, tmp_path):
    folder, data = finished
    out = tmp_path / "run.txt"
    done = RUN.invoke(
        app, ["predict", str(folder), str(unjudged(data, tmp_path)), "--out", str(out)]
    )
    assert done.exit_code == 0, done.output
    assert f"24 documents of 4 queries: {out}" in done.stderr.replace("\n", "")
    lists = read_letor(data)
    assert read_run(out) == as_run(lists, scores_of(load_run(folder)[1], lists))


def test_scores_are_printed_as_csv_in_the_order_of_the_file(finished, tmp_path):
    folder, data = finished
    done = RUN.invoke(app, ["predict", str(folder), str(unjudged(data, tmp_path))])
    assert done.exit_code == 0, done.output
    frame = pl.read_csv(io.StringIO(done.stdout))
    assert frame.columns == ["query", "document", "rank", "score"]
    assert frame["document"].to_list()[:7] == [f"q0d{n}" for n in range(6)] + ["q1d0"]
    for _, own in frame.group_by("query"):
        assert own.sort("score", descending=True)["rank"].to_list() == [1, 2, 3, 4, 5, 6]
    table = tmp_path / "scores.csv"
    RUN.invoke(app, ["predict", str(folder), str(data), "--out", str(table)])
    assert table.read_text() == done.stdout  # relevances, where there are any, change nothing


def test_what_is_wrong_is_one_line_and_2(finished, tmp_path):
    folder, data = finished
    wrong = tmp_path / "wrong.txt"
    wrong.write_text("qid:1 1:1\nqid:1 1=2\n")
    wide = tmp_path / "wide.txt"
    wide.write_text("qid:1 9:1\n")
    for arguments, message in (
        ([str(folder), str(wrong)], "line 2: '1=2' is not feature:value"),
        ([str(folder), str(wide)], "has feature 9, the last of the model is 3"),
        ([str(tmp_path), str(data)], "is not a finished run"),
        ([str(folder), str(data), "--out", str(data)], "--out must be another file than"),
    ):
        done = RUN.invoke(app, ["predict", *arguments])
        assert done.exit_code == 2, done.output
        assert message in done.output
        assert len(done.output.strip().splitlines()) == 1
