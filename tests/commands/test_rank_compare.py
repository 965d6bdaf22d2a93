from __future__ import annotations

import json

import pytest
from tests.tasks.ranking.cases import random_files
from typer.testing import CliRunner

from rankwise.commands.rank import app
from rankwise.data.letor import read_run, write_run

RUN = CliRunner()


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture
def files(tmp_path):
    first, qrels = random_files(tmp_path, 0, False)
    other = {q: {d: -s for d, s in own.items()} for q, own in read_run(first).items()}
    del other["q5"]
    other["unjudged"] = {"d1": 1.0}
    write_run(tmp_path / "other.txt", other)
    return first, tmp_path / "other.txt", qrels


def test_paired_differences_with_p_values(files, tmp_path):
    first, other, qrels = files
    out = tmp_path / "numbers.json"
    asked = ["--metrics", "nDCG@10,ap", "--json", str(out)]
    done = RUN.invoke(app, ["compare", str(first), str(other), str(qrels), *asked])
    assert done.exit_code == 0, done.output
    numbers = json.loads(out.read_text())
    assert (numbers["queries_not_in_run_a"], numbers["queries_not_in_run_b"]) == (1, 2)
    assert list(numbers["metrics"]) == ["ndcg@10", "ap"]
    own = numbers["metrics"]["ap"]
    assert own["low"] < own["difference"] < own["high"]
    assert own["wins_a"] + own["wins_b"] + own["equal"] == own["queries"] == 30
    (row,) = (line for line in done.stdout.splitlines() if line.startswith(" ap "))
    assert f"{own['difference']:+.4f}" in row
    assert f"{own['p_value']:.3f}" in row
    assert f"{own['wins_a']}/{own['wins_b']}/{own['equal']}" in row
    said = done.stderr.replace("\n", "")
    assert "other.txt: 2 of 30 judged queries not in the run, counted as 0" in said
    assert "other.txt: 1 of 29 queries without judgments, left out" in said
    assert "run.txt: 1 of 30 judged queries not in the run" in said


def test_the_values_are_those_of_evaluate_and_none_is_cut_short(files):
    first, other, qrels = files
    done = RUN.invoke(app, ["compare", str(first), str(other), str(qrels)])
    assert "…" not in done.stdout
    for path in (first, other):
        alone = RUN.invoke(app, ["evaluate", str(path), str(qrels)])
        rows = [line.split() for line in alone.stdout.splitlines() if " ± " in line]
        for name, value, *_ in rows[:6]:
            (row,) = (line for line in done.stdout.splitlines() if line.split()[:1] == [name])
            assert value in row.split()


def test_what_is_wrong_is_one_line_and_2(files, tmp_path):
    first, other, qrels = files
    (tmp_path / "strange.txt").write_text("x Q0 a 1 1.0 t\n")
    for arguments, message in (
        ([first, tmp_path, qrels], "is a folder, not a run file; write the ranking"),
        ([first, tmp_path / "strange.txt", qrels], "has none of the 30 queries of"),
        ([first, tmp_path / "nowhere.txt", qrels], "there is no such file"),
        ([first, other, qrels, "--metrics", "auc"], "a metric of a run must be one of"),
        ([first, other, qrels, "--relevant", "0"], "relevant must be a finite number above 0"),
        ([first, other, qrels, "--json", other], "--json must be another file than"),
    ):
        done = RUN.invoke(app, ["compare", *map(str, arguments)])
        assert done.exit_code == 2, done.output
        assert message in done.output.strip().splitlines()[-1]


def test_several_runs_are_compared_in_pairs_with_adjusted_p_values(files, tmp_path):
    first, other, qrels = files
    third, out = tmp_path / "third.txt", tmp_path / "numbers.json"
    write_run(third, {q: {d: s + 1 for d, s in own.items()} for q, own in read_run(first).items()})
    runs = [str(first), str(other), str(third)]
    done = RUN.invoke(
        app, ["compare", *runs, str(qrels), "--metrics", "ap,mrr", "--json", str(out)]
    )
    assert done.exit_code == 0, done.output
    assert "adjusted for the number of pairs by randomized-tukey" in " ".join(done.stdout.split())
    numbers = json.loads(out.read_text())
    assert numbers["runs"] == runs
    pairs = {(each["a"], each["b"]): each for each in numbers["metrics"]["ap"]}
    assert set(pairs) == {(runs[0], runs[1]), (runs[0], runs[2]), (runs[1], runs[2])}
    assert pairs[runs[0], runs[2]]["p_value"] == 1  # the same order
    assert pairs[runs[0], runs[1]]["value_a"] == pairs[runs[0], runs[2]]["value_a"]
    alone = RUN.invoke(app, ["evaluate", str(other), str(qrels), "--metrics", "ap"])
    assert f"{pairs[runs[0], runs[1]]['value_b']:.4f}" in alone.stdout


def test_runs_to_compare_are_two_or_more_different_ones(files):
    first, other, qrels = map(str, files)
    for words, message in (
        ([first, qrels], "needs two run files and qrels, got 1 run file"),
        ([first, first, qrels], "every run file must be given once"),
        (
            [first, other, qrels, "--correction", "x"],
            "must be one of randomized-tukey",
        ),
    ):
        done = RUN.invoke(app, ["compare", *words])
        assert done.exit_code == 2
        assert message in done.stderr.replace("\n", " ")
