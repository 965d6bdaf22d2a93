"""Tests of ``rankwise recommend``."""

from __future__ import annotations

import io
import json

import polars as pl
import pytest
from tests.tasks.recommendation.cases import written
from typer.testing import CliRunner

from rankwise.commands.recommend import ReadingOptions, app
from rankwise.data import DataError
from rankwise.errors import UsageError
from rankwise.tasks.classification.settings import Settings as Classification
from rankwise.training import RunFolder
from rankwise.vision.files import write_config as write_classification


def test_reads_as_the_options_say(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("who,item,stars\na,1,3\na,1,4\n")
    found = ReadingOptions(
        format="columns",
        user_column="who",
        rating_column="stars",
        rating_range="1:5",
        duplicates="last",
    ).read(path)
    assert found.users == ("a",)
    assert found.value.tolist() == [4]


@pytest.mark.parametrize(
    ("format", "limits", "duplicates", "message"),
    [
        ("netflix", None, "error", "format"),
        ("auto", "five", "error", "--rating-range must be two numbers such as 1:5, got 'five'"),
        ("auto", "5:5", "error", "--rating-range must go upwards"),
        ("auto", None, "both", "duplicates"),
    ],
)
def test_wrong_options_are_wrong_usage(tmp_path, format, limits, duplicates, message):
    path = tmp_path / "log.csv"
    path.write_text("user,item,rating\na,1,3\n")
    with pytest.raises(UsageError, match=message):
        ReadingOptions(format=format, rating_range=limits, duplicates=duplicates).read(path)


def test_wrong_data_stay_what_they_are(tmp_path):
    with pytest.raises(DataError, match="there is no such file"):
        ReadingOptions().read(tmp_path / "log.csv")


RUN = CliRunner()
SMALL = ["--dimension", "4", "--batch", "16", "--negatives", "6", "--epochs", "2",
         "--warm-start", "1", "--metric", "ndcg@3", "--metrics", "ndcg@3,pap@2,mrr"]  # fmt: skip


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recommend")
    data, out = written(folder / "kinds.csv"), folder / "run"
    arguments = ["train", str(data), *SMALL, "--objective", "pap@2", "--out", str(out)]
    return arguments, out, RUN.invoke(app, arguments, env={"COLUMNS": "200"})


def one_line(done, code):
    assert done.exit_code == code, done.output
    assert len(done.output.strip().splitlines()) == 1
    return done.output


def test_trains_and_says_what_it_found(trained):
    arguments, out, done = trained
    assert done.exit_code == 0, done.output
    for words in ("120 interactions of 20 users with 16 items", "popularity", "pap@2", "± 0.",
                  "and is the model", str(out / "index.html")):  # fmt: skip
        assert words in done.output
    assert json.loads((out / "config.json").read_text())["settings"]["objective"] == "pap@2"
    assert "already holds a run; pass --resume" in one_line_at_end(RUN.invoke(app, arguments))
    again = RUN.invoke(app, [*arguments, "--resume"])
    assert again.exit_code == 0
    assert again.stdout == done.stdout


def one_line_at_end(done):
    assert done.exit_code == 2
    return done.output.strip().splitlines()[-1]


def test_evaluates_again_and_by_user(trained, tmp_path):
    _, out, _ = trained
    table = tmp_path / "users.csv"
    done = RUN.invoke(app, ["evaluate", str(out), "--metrics", "hit@2", "--out", str(table)])
    assert done.exit_code == 0, done.output
    assert "hit@2" in done.output
    assert pl.read_csv(table).columns == ["user", "hit@2"]
    assert pl.read_csv(table).height == 20


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_writes_recommendations(trained, tmp_path, ending):
    _, out, _ = trained
    path = tmp_path / f"first.{ending}"
    done = RUN.invoke(app, ["topk", str(out), "--k", "3", "--out", str(path)])
    assert done.exit_code == 0, done.output
    assert "20 users, 60 rows" in done.output
    frame = pl.read_csv(path) if ending == "csv" else pl.read_parquet(path)
    assert frame.columns == ["user", "rank", "item", "score", "source"]
    assert frame["source"].unique().to_list() == ["model"]


def test_recommendations_are_printed_without_a_file(trained, tmp_path, monkeypatch):
    _, out, _ = trained
    monkeypatch.chdir(tmp_path)
    done = RUN.invoke(app, ["topk", str(out), "--k", "3", "--users", "u3,u5"])
    assert done.exit_code == 0, done.output
    frame = pl.read_csv(io.StringIO(done.stdout))
    assert frame.columns == ["user", "rank", "item", "score", "source"]
    assert frame["user"].to_list() == ["u3"] * 3 + ["u5"] * 3
    assert done.stderr.strip() == "2 users, 6 rows"
    assert not list(tmp_path.iterdir())


def test_unknown_users_get_the_popular_items_marked_as_such(trained):
    _, out, _ = trained
    done = RUN.invoke(app, ["topk", str(out), "--k", "3", "--users", "u1,nobody,u2,none"])
    assert done.exit_code == 0, done.output
    frame = pl.read_csv(io.StringIO(done.stdout))
    assert frame["user"].to_list() == [u for u in ("u1", "nobody", "u2", "none") for _ in range(3)]
    assert frame["source"].to_list() == (["model"] * 3 + ["popular"] * 3) * 2
    assert "2 users are unknown to the model and get popular items: 'nobody', 'none'" in (
        done.stderr
    )


def test_some_users_from_a_file(trained, tmp_path):
    _, out, _ = trained
    (tmp_path / "who.txt").write_text("u3\nu5\n")
    path = tmp_path / "first.csv"
    arguments = ["topk", str(out), "--users", str(tmp_path / "who.txt"), "--out", str(path)]
    assert "2 users, 20 rows" in RUN.invoke(app, arguments).output


def test_unknown_ids_are_one_line_and_2(trained, tmp_path):
    _, out, _ = trained
    done = RUN.invoke(app, ["topk", str(out), "--users", ","])
    assert "users must name at least one user, got none" in one_line(done, 2)
    data = tmp_path / "later.csv"
    data.write_text("user_id,item_id\nu1,new\n")
    done = RUN.invoke(app, ["evaluate", str(out), "--data", str(data)])
    assert "1 unknown item id: 'new'; the model knows the 16 items" in one_line(done, 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--objective", "ndgc@10"], "ndcg"),
        (["--metric", "auc"], "a metric must be one of ndcg@k"),
        (["--metrics", "ndcg@3,,x"], "a metric must be one of ndcg@k"),
        (["--metrics", ","], "--metrics must name at least one"),
        (["--model", "svd"], "model must be one of mf, two_tower"),
        (["--hidden", "8,x"], "--hidden must be whole numbers"),
        (["--rating-range", "5"], "--rating-range must be two numbers such as 1:5"),
        (["--rating-range", "5:1"], "--rating-range must go upwards"),
        (["--rating-range", "1:4"], "is out of range, 1 to 4"),
        (["--duplicates", "first"], "duplicates"),
        (["--format", "ml-2m"], "format"),
        (["--user-column", "who"], "there is no user column 'who'"),
        (["--threshold", "9"], "no positive: no rating is 9 or more; lower --threshold"),
        (["--split", "time", "--time-column", "rating", "--test", "2.5"], "test must be a share"),
        (["--item-features", "nowhere.csv", "--model", "two_tower"], "there is no such file"),
    ],
)
def test_what_is_wrong_is_one_line_and_2(tmp_path, arguments, message):
    data, out = written(tmp_path / "kinds.csv"), tmp_path / "run"
    done = RUN.invoke(app, ["train", str(data), *SMALL, *arguments, "--out", str(out)])
    assert message in one_line_at_end(done)
    assert not out.exists()


def test_a_training_that_runs_away_fails_with_1_and_says_why(tmp_path):
    data = written(tmp_path / "kinds.csv")
    wild = [*SMALL, "--scores", "dot", "--learning-rate", "1e30", "--out", str(tmp_path / "run")]
    done = RUN.invoke(app, ["train", str(data), *wild])
    assert done.exit_code == 1
    assert "scores contains" in done.output


def test_stopped_by_hand_it_says_how_to_go_on(tmp_path, monkeypatch):
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("rankwise.tasks.recommendation.run", stop)
    done = RUN.invoke(app, ["train", str(written(tmp_path / "kinds.csv")), *SMALL])
    assert done.exit_code == 1
    assert "the same command with --resume continues" in done.output


def test_folders_and_files_that_are_no_use(tmp_path):
    done = RUN.invoke(app, ["evaluate", str(tmp_path)])
    assert "is not a run" in one_line(done, 2)
    done = RUN.invoke(app, ["topk", str(tmp_path), "--out", "x.txt"])
    assert "--out must end in .csv or .parquet" in one_line(done, 2)
    done = RUN.invoke(app, ["train", str(tmp_path / "u.data")])
    assert "there is no such file" in one_line(done, 2)


def test_the_run_of_another_command_is_left_alone(trained, tmp_path):
    arguments, _, _ = trained
    out = tmp_path / "run"
    with RunFolder(out, "classify").opened():
        write_classification(out, Classification())
    before = (out / "config.yaml").read_bytes()
    for more in ([], ["--resume"]):
        done = RUN.invoke(app, [*arguments[:-1], str(out), *more])
        words = "holds a run of rankwise classify, not of rankwise recommend"
        assert words in one_line_at_end(done)
    assert {path.name for path in out.iterdir()} == {"config.yaml", "run.json"}
    assert (out / "config.yaml").read_bytes() == before


def test_a_file_is_no_folder_of_a_run(trained):
    arguments, _, _ = trained
    done = RUN.invoke(app, [*arguments[:-1], arguments[1]])
    assert "--out must be a folder" in one_line(done, 2)


def test_a_seed_that_is_too_large_leaves_nothing(trained, tmp_path):
    arguments, _, _ = trained
    done = RUN.invoke(app, [*arguments[:-1], str(tmp_path / "run"), "--seed", "9" * 23])
    assert done.exit_code == 2
    assert "seed must be a whole number" in done.output
    assert not list(tmp_path.iterdir())


def test_what_is_read_is_not_written_over(trained, tmp_path):
    _, out, _ = trained
    who = tmp_path / "who.csv"
    who.write_text("u3\nu5\n")
    done = RUN.invoke(app, ["topk", str(out), "--users", str(who), "--out", str(who)])
    assert "--out must be another file than" in one_line(done, 2)
    later = written(tmp_path / "later.csv")
    before = later.read_bytes()
    done = RUN.invoke(app, ["evaluate", str(out), "--data", str(later), "--out", str(later)])
    assert "--out must be another file than" in one_line(done, 2)
    assert who.read_text() == "u3\nu5\n"
    assert later.read_bytes() == before


def test_more_ids_than_a_name_of_a_file_has_letters(trained, tmp_path):
    _, out, _ = trained
    many = ",".join(f"u{n % 20}" for n in range(200))
    path = tmp_path / "first.csv"
    done = RUN.invoke(app, ["topk", str(out), "--users", many, "--out", str(path)])
    assert done.exit_code == 0, done.output


def test_interactions_named_as_a_file_of_the_run_are_kept(tmp_path):
    data = written(tmp_path / "metrics.csv")
    before = data.read_bytes()
    done = RUN.invoke(app, ["train", str(data), *SMALL, "--out", str(tmp_path)])
    assert "metrics.csv in --out must be another file than" in one_line(done, 2)
    assert data.read_bytes() == before


def test_a_published_split(tmp_path):
    data = written(tmp_path / "kinds.csv", users=40, items=20, each=9)
    whole = data.read_text().splitlines()[1:]
    rows = [line.split(",")[:2] for line in whole]
    kept = [row for n, row in enumerate(rows) if n % 3]
    held = [row for n, row in enumerate(rows) if n % 3 == 0]
    (tmp_path / "train.tsv").write_text(
        "user_procid\titem_procid\n" + "".join(f"{u}\t{i}\n" for u, i in kept)
    )
    (tmp_path / "test.csv").write_text(
        "user,item\n" + "".join(f"{u},{i}\n" for u, i in [*held, ("stranger", "i1"), ("u0", "new")])
    )
    out = tmp_path / "run"
    files = [str(tmp_path / "train.tsv"), "--test-file", str(tmp_path / "test.csv")]
    small = ["--dimension", "4", "--batch", "64", "--epochs", "6", "--metric", "ndcg@3"]
    few = RUN.invoke(app, ["train", *files, *small, "--validation", "0.01", "--out", str(out)])
    assert "the validation part has no positive; take one of each user with --validation 1" in (
        one_line_at_end(few)
    )
    small += ["--validation", "1", "--learning-rate", "0.05", "--start", "random"]
    arguments = ["train", *files, *small, "--metrics", "ndcg@3", "--out", str(out)]
    done = RUN.invoke(app, arguments)
    assert done.exit_code == 0, done.output
    for words in (
        "test.csv: 1 of 122 interactions left out, of users without any to train on (the first: "
        "user stranger, item i1)",
        "with 21 items", "1 items without training interactions", "temperature 0.2: ndcg@3",
        "training and validation part: a new training of", "The model was then trained again",
    ):  # fmt: skip
        assert words in done.output
    found = json.loads((out / "results.json").read_text())
    assert found["counts"]["test positives"] == 121
    assert found["refit_steps"] > 0
    assert "left out" in found["notes"][0]
    chosen = json.loads((out / "config.json").read_text())["settings"]
    assert chosen["temperature"] == found["temperature"]
    assert str(found["temperature"]) in found["temperatures"]
    assert chosen["refit"] is True
    again = RUN.invoke(app, [*arguments, "--resume"])
    assert again.stdout == done.stdout
    value = found["test"]["model"]["ndcg@3"]["value"]
    measured = RUN.invoke(app, ["evaluate", str(out), "--metrics", "ndcg@3"])
    assert f"{value:.4f}" in measured.output
    first = RUN.invoke(app, ["topk", str(out), "--users", "u0,stranger", "--k", "2"])
    assert "1 user is unknown to the model" in first.stderr
    had = {i for u, i in [*kept, *held, ("u0", "new")] if u == "u0"}
    frame = pl.read_csv(io.StringIO(first.stdout)).filter(user="u0")
    assert frame.height == 2
    assert not had & set(frame["item"])


def test_a_validation_file_chooses(tmp_path):
    data = written(tmp_path / "kinds.csv")
    lines = data.read_text().splitlines()
    (tmp_path / "train.csv").write_text("\n".join([lines[0], *lines[1::2]]))
    (tmp_path / "valid.csv").write_text("\n".join([lines[0], *lines[2::2]]))
    out = tmp_path / "run"
    arguments = ["train", str(tmp_path / "train.csv"), *SMALL, "--out", str(out)]
    done = RUN.invoke(app, [*arguments, "--validation-file", str(tmp_path / "valid.csv")])
    assert done.exit_code == 0, done.output
    counts = json.loads((out / "results.json").read_text())["counts"]
    assert counts["validation positives"] == 60
    assert counts["test positives"] + counts["training positives"] == 60
