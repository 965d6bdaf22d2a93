"""Every model of ``rankwise recommend`` from the file to the recommendations."""

from __future__ import annotations

import io
import json

import polars as pl
import pytest
from tests.tasks.recommendation.cases import written
from typer.testing import CliRunner

from rankwise.commands.recommend import app

RUN = CliRunner()
MODELS = {
    "lightgcn": ["--dimension", "4", "--batch", "64", "--epochs", "3", "--learning-rate", "0.05",
                 "--layers", "2", "--start", "random", "--schedule", "constant"],
    "ease": [],
    "ials": ["--dimension", "3", "--regularization", "0.1"],
    "itemknn": ["--neighbors", "4"],
}  # fmt: skip
CHOSEN = {
    "ease": {"regularization"},
    "ials": {"regularization", "unobserved_weight", "iterations"},
    "itemknn": {"neighbors", "shrinkage"},
}
METRICS = ["--metric", "ndcg@3", "--metrics", "ndcg@3,recall@5"]
CATALOG = {"coverage@5", "gini@5", "novelty@5"}


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")


@pytest.fixture(scope="module", params=MODELS)
def trained(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    data, out = written(folder / "kinds.csv", users=40, items=20, each=8), folder / "run"
    arguments = ["train", str(data), "--model", request.param, *MODELS[request.param], *METRICS,
                 "--refit", "--out", str(out)]  # fmt: skip
    return request.param, arguments, out, RUN.invoke(app, arguments, env={"COLUMNS": "200"})


def test_trains_and_resumes_to_the_same_output(trained):
    _, arguments, out, done = trained
    assert done.exit_code == 0, done.output
    for words in (
        "popularity",
        "recall@5",
        "coverage@5",
        "gini@5",
        "novelty@5",
        "verdict: ",
        "better than",
    ):
        assert words in done.output
    state = (out / "model.safetensors").read_bytes()
    again = RUN.invoke(app, [*arguments, "--resume"])
    assert again.stdout == done.stdout
    assert (out / "model.safetensors").read_bytes() == state


def test_what_was_chosen_is_recorded(trained):
    model, _, out, done = trained
    found = json.loads((out / "results.json").read_text())
    assert {name: set(values) for name, values in found["catalog"].items()} == {
        "popularity": CATALOG,
        "model": CATALOG,
    }
    assert found["catalog"]["model"]["coverage@5"] > found["catalog"]["popularity"]["coverage@5"]
    assert found["catalog"]["model"]["gini@5"] < found["catalog"]["popularity"]["gini@5"]
    config = json.loads((out / "config.json").read_text())["settings"]
    assert config["refit"] is True
    report = (out / "index.html").read_text()
    assert "novelty@5" in report
    if model not in CHOSEN:
        assert found["temperature"] == config["temperature"]
        assert found["refit_steps"] > 0
        return
    assert set(found["chosen"]) == CHOSEN[model]
    assert {name: config[name] for name in found["chosen"]} == found["chosen"]
    best = max(row["ndcg@3"] for row in found["tried"])
    assert {**found["chosen"], "ndcg@3": best} in found["tried"]
    assert "Hyperparameters" in report
    assert f"the best of {len(found['tried'])} combinations" in done.output


def test_a_finished_run_is_evaluated_and_recommends(trained, tmp_path):
    _, _, out, _ = trained
    found = json.loads((out / "results.json").read_text())
    users = tmp_path / "users.csv"
    done = RUN.invoke(app, ["evaluate", str(out), "--metrics", "recall@5", "--out", str(users)])
    assert done.exit_code == 0, done.output
    assert f"{found['test']['model']['recall@5']['value']:.4f}" in done.output
    for name, value in found["catalog"]["model"].items():
        assert name in done.output
        assert f"{value:.4f}" in done.output
    assert pl.read_csv(users).columns == ["user", "recall@5"]
    first = RUN.invoke(app, ["topk", str(out), "--k", "3"])
    frame = pl.read_csv(io.StringIO(first.stdout))
    assert frame.height == 40 * 3
    assert set(frame["source"]) == {"model"}
    # Even users take even items, with one exception each.
    user, item = (frame[name].str.slice(1).cast(pl.Int64) for name in ("user", "item"))
    assert ((user - item) % 2 == 0).mean() > 0.6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--model", "ease", "--objective", "ap"],
         "objective has no effect with model ease; leave it out, or use mf or two_tower or"),
        (["--model", "ials", "--temperature", "0.2"], "temperature has no effect with model ials"),
        (["--model", "itemknn", "--dimension", "8"], "dimension has no effect with model itemknn"),
        (["--neighbors", "8"], "neighbors has no effect with model mf; leave it out, or use item"),
        (["--layers", "2"], "layers has no effect with model mf; leave it out, or use lightgcn"),
        (["--model", "ease", "--regularization", "0"], "regularization must be a finite"),
        (["--model", "itemknn", "--neighbors", "0"], "neighbors must be a whole number >= 1"),
        (["--model", "lightgcn", "--layers", "0"], "layers must be a whole number >= 1"),
    ],
)  # fmt: skip
def test_options_without_effect_are_refused(tmp_path, arguments, message):
    data, out = written(tmp_path / "kinds.csv"), tmp_path / "run"
    done = RUN.invoke(app, ["train", str(data), *arguments, "--out", str(out)])
    assert done.exit_code == 2
    assert message in done.output.strip().splitlines()[-1]
    assert not out.exists()


def test_too_many_items_leave_no_folder(tmp_path, monkeypatch):
    monkeypatch.setattr("rankwise.tasks.recommendation.models.ease._MEMORY", 1 << 10)
    data, out = written(tmp_path / "kinds.csv"), tmp_path / "run"
    done = RUN.invoke(app, ["train", str(data), "--model", "ease", "--out", str(out)])
    assert done.exit_code == 2
    assert "--model ease needs a matrix of items × items" in done.output.strip().splitlines()[-1]
    assert not out.exists()


def test_features_are_for_two_towers(tmp_path):
    data = written(tmp_path / "kinds.csv")
    (tmp_path / "users.csv").write_text("user,age\nu0,3\nu1,4\n")
    arguments = ["--model", "ease", "--user-features", str(tmp_path / "users.csv")]
    done = RUN.invoke(app, ["train", str(data), *arguments, "--out", str(tmp_path / "run")])
    assert "features need --model two_tower: ease knows users and items by id only" in done.output
