from __future__ import annotations

import json

import polars as pl
import pytest
from tests.tasks.ranking.cases import written
from tests.tasks.ranking.click_simulator import simulated, write
from typer.testing import CliRunner

from rankwise.commands.rank import _options, app
from rankwise.training import RunFolder

RUN = CliRunner()
SMALL = ["--metric", "ndcg@3", "--metrics", "ndcg@3,ap", "--set", "epochs=3", "--set", "hidden=[4]"]


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rank")
    train, test = written(folder / "train.txt"), written(folder / "test.txt", seed=1)
    out = folder / "run"
    done = RUN.invoke(
        app,
        ["train", str(train), "--test", str(test), *SMALL, "--objective", "listnet",
         "--validation", str(test), "--out", str(out)],
        env={"COLUMNS": "200"},
    )  # fmt: skip
    return test, out, done


def one_line(done, code=2):
    assert done.exit_code == code, done.output
    assert len(done.output.strip().splitlines()) == 1
    return done.output


def test_trains_and_says_what_it_found(trained):
    _, out, done = trained
    assert done.exit_code == 0, done.output
    for words in ("144 documents of 24 queries, 3 features", "validation", "± 0.", "index.html"):
        assert words in done.output
    config = json.loads((out / "config.json").read_text())
    assert config["settings"]["options"] == {"epochs": 3, "hidden": [4]}
    assert json.loads((out / "run.json").read_text())["command"] == "rankwise rank"


def test_resumes_only_when_asked(trained):
    test, out, done = trained
    data = test.parent / "train.txt"
    same = ["train", str(data), "--test", str(test), *SMALL, "--objective", "listnet",
            "--validation", str(test), "--out", str(out)]  # fmt: skip
    refused = RUN.invoke(app, same)
    assert refused.exit_code == 2
    assert "pass --resume to continue it" in refused.output
    again = RUN.invoke(app, [*same, "--resume"])
    assert again.exit_code == 0, again.output
    assert again.output == done.output


def test_evaluates_and_speaks_trec(trained, tmp_path):
    test, out, _ = trained
    run, qrels, table = tmp_path / "run.txt", tmp_path / "qrels.txt", tmp_path / "by_query.csv"
    done = RUN.invoke(
        app,
        ["evaluate", str(out), str(test), "--metrics", "mrr", "--write-run", str(run),
         "--write-qrels", str(qrels), "--out", str(table)],
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "q0d3" in run.read_text()
    assert pl.read_csv(table).columns == ["query", "mrr"]
    again = RUN.invoke(app, ["evaluate", str(run), str(qrels), "--metrics", "mrr"])
    assert again.exit_code == 0, again.output
    line = next(line for line in done.output.splitlines() if line.strip().startswith("mrr"))
    assert line in again.output  # the same ranking, by its own judgments


def values_of(done):
    """The numbers of the table by metric, from what a command printed."""
    assert done.exit_code == 0, done.output
    rows = [line.split() for line in done.stdout.splitlines() if " ± " in line]
    return {name: (value, spread) for name, value, sign, spread in (r for r in rows if r[2] == "±")}


def test_one_ranking_has_one_number_from_lists_and_from_its_run_and_qrels(trained, tmp_path):
    test, out, _ = trained
    more = "".join(f"2 qid:90 1:{n} 2:0 3:1 #docid = all{n}\n" for n in range(4))
    more += "".join(f"0 qid:91 1:{n} 2:0 3:1 #docid = none{n}\n" for n in range(4))
    lists = tmp_path / "lists.txt"
    lists.write_text(test.read_text() + more)
    run, qrels = tmp_path / "run.txt", tmp_path / "qrels.txt"
    asked = ["--metrics", "ndcg@10,ap,mrr,precision@2,recall@2"]
    written = ["--write-run", str(run), "--write-qrels", str(qrels)]
    first = RUN.invoke(app, ["evaluate", str(out), str(lists), *asked, *written])
    second = RUN.invoke(app, ["evaluate", str(run), str(qrels), *asked])
    assert values_of(first) == values_of(second)
    assert len(values_of(first)) == 5
    for done in (first, second):
        assert "Means over the queries with a relevant document, 25 of" in done.output
        assert "1 query without a relevant document is left out of ndcg@10, ap," in done.output


def test_ties_that_matter_are_reported_with_their_rule(trained, tmp_path):
    _, out, _ = trained
    lists, run, qrels = (tmp_path / name for name in ("lists.txt", "run.txt", "qrels.txt"))
    lists.write_text("".join(f"{n % 2} qid:1 1:1 2:1 3:1\n" for n in range(4)))
    written = ["--write-run", str(run), "--write-qrels", str(qrels)]
    done = RUN.invoke(app, ["evaluate", str(out), str(lists), "--metrics", "mrr", *written])
    assert "1 query has documents of different relevance with one score" in done.output
    assert "the mean over their orders" in done.output
    done = RUN.invoke(app, ["evaluate", str(run), str(qrels), "--metrics", "mrr"])
    assert "they are ordered by document id, last first" in done.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--objective", "ndgc@10"], "ndgc"),
        (["--model", "forest"], "model must be one of linear, mlp, boosted"),
        (["--set", "epochs"], "--set must be name=value"),
        (["--set", "layers=3"], "mlp has no option 'layers'"),
        (["--set", "epochs=0"], "epochs"),
        (["--metrics", "ndcg@3,foo"], "foo"),
        (["--validation", "nowhere.txt"], "nowhere.txt: there is no such file"),
    ],
)
def test_what_is_wrong_is_one_line_and_2(tmp_path, arguments, message):
    data, out = written(tmp_path / "train.txt"), tmp_path / "run"
    done = RUN.invoke(app, ["train", str(data), *SMALL, *arguments, "--out", str(out)])
    assert done.exit_code == 2, done.output
    assert message in done.output.strip().splitlines()[-1]
    assert not out.exists()


def test_malformed_lines_and_folders(tmp_path):
    wrong = tmp_path / "wrong.txt"
    wrong.write_text("1 qid:1 1:1\n0 qid:1 1=2\n")
    assert "wrong.txt: line 2: '1=2' is not feature:value" in one_line(
        RUN.invoke(app, ["train", str(wrong)])
    )
    assert "is not a finished run" in one_line(
        RUN.invoke(app, ["evaluate", str(tmp_path), str(wrong)])
    )
    run = tmp_path / "run.txt"
    run.write_text("x Q0 a 1 1.0 t\n")
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("q 0 a 1\n")
    done = RUN.invoke(app, ["evaluate", str(run), str(qrels)])
    assert "has none of the 1 queries" in one_line(done)
    done = RUN.invoke(app, ["evaluate", str(run), str(qrels), "--write-run", "x"])
    assert "are for the folder of a run" in one_line(done)
    done = RUN.invoke(app, ["evaluate", str(run), str(qrels), "--relevant", "1.5"])
    assert "--relevant must be one" in one_line(done)
    run.write_text("q Q0 a 1 1.0 t\n")
    done = RUN.invoke(app, ["evaluate", str(run), str(qrels), "--relevant", "0"])
    assert "relevant must be a finite number above 0, got 0" in one_line(done)


@pytest.mark.parametrize(
    ("option", "name"),
    [("--out", "qrels.txt"), ("--out", "run.txt"), ("--write-run", "qrels.txt")],
)
def test_what_is_read_is_not_written_over(tmp_path, option, name):
    (tmp_path / "run.txt").write_text("q Q0 a 1 1.0 t\n")
    (tmp_path / "qrels.txt").write_text("q 0 a 1\n")
    files = [str(tmp_path / "run.txt"), str(tmp_path / "qrels.txt")]
    before = (tmp_path / name).read_text()
    done = RUN.invoke(app, ["evaluate", *files, option, str(tmp_path / name)])
    assert f"{option} must be another file than" in one_line(done)
    assert (tmp_path / name).read_text() == before


def test_the_run_of_another_command_is_left_alone(tmp_path):
    data, out = written(tmp_path / "train.txt"), tmp_path / "run"
    with RunFolder(out, "compare").opened():
        (out / "config.json").write_text('{"command": "rankwise compare", "data": "a.csv"}')
    for more in ([], ["--resume"]):
        done = RUN.invoke(app, ["train", str(data), *SMALL, "--out", str(out), *more])
        assert "holds a run of rankwise compare, not of rankwise rank" in one_line(done)
    assert {path.name for path in out.iterdir()} == {"config.json", "run.json"}


def test_a_file_is_no_folder_of_a_run(tmp_path):
    data = written(tmp_path / "train.txt")
    done = RUN.invoke(app, ["train", str(data), *SMALL, "--out", str(data)])
    assert "--out must be a folder" in one_line(done)


def test_a_seed_that_is_too_large_leaves_nothing(tmp_path):
    data, out = written(tmp_path / "train.txt"), tmp_path / "run"
    done = RUN.invoke(app, ["train", str(data), "--seed", "9" * 23, "--out", str(out)])
    assert done.exit_code == 2
    assert "seed must be a whole number" in done.output
    assert not out.exists()


def test_options_are_numbers_lists_or_words():
    given = ["a=.2", "b=50", "c=1e-3", "d=[64, 32]", "e=xgboost", "f=null", "g = true"]
    found = _options(given)
    assert found == {"a": 0.2, "b": 50, "c": 0.001, "d": [64, 32], "e": "xgboost", "f": None} | {
        "g": True
    }
    assert type(found["b"]) is int


@pytest.fixture(scope="module")
def clicked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clicks")
    return write(folder, *simulated(queries=30, sessions=40))


def test_trains_on_a_click_log(clicked, tmp_path):
    lists, clicks = clicked
    train = ["train", str(lists), "--clicks", str(clicks), "--model", "linear"]
    done = RUN.invoke(app, [*train, "--out", str(tmp_path / "run")])
    assert done.exit_code == 0, done.output
    assert "estimated propensities of the positions 1, 2, …: 1, " in done.output
    assert "ndcg@10(gain=linear)" in done.output
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert config["data"]["clicks"] == str(clicks)
    known = tmp_path / "run" / "propensities.csv"
    lines = known.read_text().splitlines()
    assert lines[0] == "position,propensity"
    assert [line.partition(",")[0] for line in lines[1:]] == [str(k) for k in range(1, 11)]
    again = RUN.invoke(
        app, [*train, "--propensities", str(known), "--out", str(tmp_path / "again")]
    )
    assert again.exit_code == 0, again.output
    models = [(tmp_path / name / "config.json").read_text() for name in ("run", "again")]
    assert models[0] == models[1]


def test_propensities_without_clicks_are_refused(clicked, tmp_path):
    train = ["train", str(clicked[0]), "--propensities", str(clicked[1])]
    assert "pass --clicks" in one_line(RUN.invoke(app, [*train, "--out", str(tmp_path / "run")]))
