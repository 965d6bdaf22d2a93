from __future__ import annotations

import json
import re
import shutil
import time

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import average_precision_score
from tests.tasks.compare.stubs import (
    StubRanker,
    evaluate_split,
    problem,
    replace_models,
    settings,
    stubbed,
)

from rankwise.data import DataError
from rankwise.errors import UsageError
from rankwise.estimators.limits import time_is_up
from rankwise.seals import read_sealed_json, sealed_json
from rankwise.tasks.compare import pipeline
from rankwise.tasks.compare.budget import Cost
from rankwise.tasks.compare.candidates import Candidate
from rankwise.tasks.compare.model import load_model
from rankwise.tasks.compare.pipeline import finish, run
from rankwise.tasks.compare.search import Search, Tuned

__all__ = ["stubbed"]

TWO = "linear:log_loss,linear:ap"  # without their mean, and so without its control
PLAIN, FREE = Candidate("linear", "log_loss"), Cost(0.0, 0.0, 0.0)
pytestmark = pytest.mark.usefixtures("stubbed")


def results(folder):
    return json.loads((folder / "results.json").read_text())


def test_a_run_is_written_whole(tmp_path):
    out = tmp_path / "run"
    asked = settings(tmp_path, candidates="linear,boosted")
    events = []
    found = run(asked, out, on_event=events.append)
    assert found.results == results(out)
    assert not found.results["left_out"]
    rows = found.results["candidates"]
    assert [row["name"] for row in rows][:4] == [
        "linear, log-loss",
        "linear, ap",
        "linear, log-loss + ap",
        "linear, two log-losses",
    ]
    assert len(rows) == 8
    arrays = np.load(out / "predictions.npz")
    frame = pl.read_csv(asked.data)
    np.testing.assert_array_equal(frame["y"].to_numpy()[arrays["row"]], arrays["target"])
    for number, row in enumerate(rows):
        value = average_precision_score(arrays["target"], arrays[f"score_{number}"])
        assert row["test"]["value"] == pytest.approx(value)
        assert row["test"]["low"] < row["test"]["value"] < row["test"]["high"]
        assert (
            (arrays[f"probability_{number}"] >= 0) & (arrays[f"probability_{number}"] <= 1)
        ).all()
    (base,) = [row for row in rows if row["baseline"]]
    assert base["objective"] == "log_loss"
    assert base["difference"] is None
    best = rows[found.results["recommended"]]
    assert best["validation"]["mean"] == max(row["validation"]["mean"] for row in rows)
    assert best["validation"]["mean"] >= base["validation"]["mean"]
    assert best["difference"] is None or 0 < best["difference"]["p"] <= 1
    model = load_model(out)
    assert model.about["candidate"] == best["name"]
    features = frame.with_columns(pl.col("b").cast(pl.Float64).fill_null(float("nan")))
    scores = model.scores(features[arrays["row"]])
    np.testing.assert_allclose(scores, arrays[f"score_{found.results['recommended']}"])
    assert found.report == out / "index.html"
    assert found.report.exists()
    assert "linear, log-loss + ap" in (out / "tables.csv").read_text()
    config = json.loads((out / "config.json").read_text())
    assert config["metric"] == "ap"
    assert config["features"]["word"] == "categorical"
    assert {event.name for event in events} >= {"linear, ap", "boosted, log-loss", "testing"}
    assert not list(out.rglob(".*"))


def test_stopped_and_resumed_it_comes_to_the_same(tmp_path, monkeypatch):
    asked = settings(tmp_path)
    whole = run(asked, tmp_path / "whole").results
    real, fits = StubRanker._fit_scores, []

    def stop(self, data):
        fits.append(self.objective)
        if len(fits) == 30:  # in the second candidate
            raise KeyboardInterrupt
        real(self, data)

    monkeypatch.setattr(StubRanker, "_fit_scores", stop)
    out = tmp_path / "stopped"
    with pytest.raises(KeyboardInterrupt):
        run(asked, out)
    assert not (out / "results.json").exists()
    kept = {path.name: path.read_bytes() for path in out.glob("candidates/*/result.json")}
    fitted = [path.parent.name for path in out.glob("candidates/*/result.json")]
    assert fitted == ["linear-log-loss"]
    again = run(asked, out, resume=True).results
    assert {p.name: p.read_bytes() for p in out.glob("candidates/linear-log-loss/*.json")} == kept
    for one, other in zip(whole["candidates"], again["candidates"], strict=True):
        for row in (one, other):
            row.pop("seconds")
            row.pop("curve")
        assert one == other
    assert whole["recommended"] == again["recommended"]
    # A finished run is resumed without a fit.
    monkeypatch.setattr(StubRanker, "_fit_scores", None)
    assert run(asked, out, resume=True).results["candidates"]


def test_a_folder_that_is_removed_during_the_run_is_reported(tmp_path):
    out = tmp_path / "run"

    def remove(event):
        if event.trials:
            shutil.rmtree(out, ignore_errors=True)

    with pytest.raises(UsageError, match=r"was removed .*while the run was writing into it"):
        run(settings(tmp_path, candidates=TWO), out, on_event=remove)


def test_a_run_of_a_version_without_controls_is_resumed_without_them(tmp_path, monkeypatch):
    asked, out = settings(tmp_path, trials=1), tmp_path / "run"
    whole = run(asked, out).results
    shutil.rmtree(out / pipeline.CANDIDATES / "linear-log-loss-second-fit")
    timing = read_sealed_json((out / "timing.json").read_bytes())
    for known in ("costs", "seconds", "shares"):
        del timing[known]["linear-log-loss-second-fit"]
    (out / "timing.json").write_bytes(sealed_json(timing))
    monkeypatch.setattr(StubRanker, "_fit_scores", None)  # nothing is trained
    said = []
    again = run(asked, out, resume=True, on_warning=said.append).results
    assert said == [
        "not in this run, which an earlier rankwise began: linear, log-loss, second fit; "
        "pass another --out to train them"
    ]
    kept = ("name", "test", "validation")
    rows = [[{key: row[key] for key in kept} for row in r["candidates"]] for r in (whole, again)]
    assert rows[1] == rows[0][:3]
    assert not any(row["against_control"] for row in again["candidates"])


def test_the_control_averages_two_fits_of_log_loss_that_differ(tmp_path, monkeypatch):
    real, seen = StubRanker._fit_scores, []

    def watched(self, data):
        seen.append((self.objective, self.random_state))
        real(self, data)

    monkeypatch.setattr(StubRanker, "_fit_scores", watched)
    out = tmp_path / "run"
    found = run(settings(tmp_path, trials=1, seeds=2, seed=5), out).results
    assert {state for objective, state in seen if objective == "ap"} == {5, 6}
    assert {state for objective, state in seen if objective == "log_loss"} == {5, 6, 7, 8}
    control = found["candidates"][3]
    parts = [np.load(out / pipeline.CANDIDATES / f"linear-log-loss{which}" / "scores.npz")
             for which in ("", "-second-fit")]  # fmt: skip
    ranked = [each["test_ranked"] for each in parts]
    assert not np.array_equal(*ranked)
    scores = np.load(out / "predictions.npz")["score_3"]
    np.testing.assert_allclose(scores, (ranked[0] + ranked[1]) / 2)
    assert control["objective"] == "two log-losses"
    compared = [row["name"] for row in found["candidates"] if row["against_control"]]
    assert len(compared) == 1
    (row,) = [row for row in found["candidates"] if row["against_control"]]
    expected = row["test"]["value"] - control["test"]["value"]
    assert row["against_control"]["value"] == pytest.approx(expected)


def test_with_time_the_choice_rests_on_folds_twice_and_nothing_is_cut_short(tmp_path):
    said = []
    found = run(settings(tmp_path, trials=1), tmp_path / "run", on_warning=said.append).results
    assert found["choice"] == "5-fold cross-validation × 2 (stratified split)"
    assert not any(row["cut_short"] for row in found["candidates"])
    assert said == found["remarks"] == []


def slow(monkeypatch, seconds):
    """Every fit on more than the rows of a pilot would take so long, in steps that can be ended.

    On a clock that fits move, and a microsecond whoever reads it: what they take must not depend
    on the load of the machine.
    """
    real, now = StubRanker._fit_scores, [0.0]

    def read():
        now[0] += 1e-6
        return now[0]

    def steps(self, data):
        real(self, data)
        now[0] += 0.01
        ends = now[0] + (seconds if len(data.train.target) > 150 else 0.0)
        while now[0] < ends and not time_is_up():
            now[0] += 0.01

    monkeypatch.setattr(StubRanker, "_fit_scores", steps)
    for clock in ("perf_counter", "process_time"):
        monkeypatch.setattr(time, clock, read)
    monkeypatch.setattr("rankwise.tasks.compare.budget._SIZES", (100, 150))


def test_the_budget_holds_where_every_fit_would_take_longer_than_its_share(tmp_path, monkeypatch):
    slow(monkeypatch, 5.0)
    out, budget = tmp_path / "run", 4.0
    found = run(settings(tmp_path, budget=budget), out).results
    timing = json.loads((out / "timing.json").read_text())
    assert sum(timing["seconds"].values()) + timing["pilot_seconds"] <= 1.15 * budget
    assert [row["trials"] for row in found["candidates"]] == [1, 1, 2, 2]
    assert all(row["cut_short"] for row in found["candidates"])
    names = (
        "a linear model trained on log-loss; a linear model trained on average precision; "
        "the mean of two linear models trained on log-loss"
    )
    said = f"stopped by --budget, a larger budget may improve: {names}"
    assert said in found["remarks"]


def busy(monkeypatch, seconds_per_row):
    """Fits on the metric that keep the processor busy, and cannot be ended."""
    real = StubRanker._fit_scores

    def work(self, data):
        real(self, data)
        ends = time.process_time() + seconds_per_row * len(data.train.target)
        while self.objective != "log_loss" and time.process_time() < ends:
            pass

    monkeypatch.setattr(StubRanker, "_fit_scores", work)


def test_a_candidate_longer_than_the_budget_is_announced_before_and_left_out(tmp_path, monkeypatch):
    busy(monkeypatch, 2e-3)
    said, events = [], []

    def told(event):
        events.append((event.name, len(said)))

    asked = settings(tmp_path, budget=1.5, candidates=TWO)
    found = run(asked, tmp_path / "run", on_warning=said.append, on_event=told).results
    assert [row["name"] for row in found["candidates"]] == ["linear, log-loss"]
    (why,) = found["left_out"].values()
    assert why in said
    assert re.fullmatch(
        r"linear, ap: one trial takes about [\d.]+ s, longer than its share of 0\.\d s of "
        r"--budget 1\.5s; it is left out: pass --budget \S+, or fewer --candidates",
        why,
    )
    assert "left out, too long for --budget: linear, ap" in found["remarks"]
    trained = [notes for name, notes in events if name == "linear, log-loss"]
    assert trained
    assert all(notes == len(said) for notes in trained)


def test_a_budget_too_short_for_anything_announces_its_only_trial_as_longer(tmp_path):
    said = []
    found = run(settings(tmp_path, budget=1e-6), tmp_path / "run", on_warning=said.append).results
    assert [row["name"] for row in found["candidates"]] == ["linear, log-loss"]
    assert found["choice"] == "one validation part (stratified split)"
    assert any(
        "one trial takes about" in words and "longer than the 0.0 s that --budget" in words
        for words in said
    )
    assert any("too short for 5-fold cross-validation" in words for words in said)


def test_what_was_decided_by_timing_is_the_same_when_resumed(tmp_path, monkeypatch):
    busy(monkeypatch, 2e-3)
    asked, out = settings(tmp_path, budget=1.5, candidates=TWO), tmp_path / "run"
    slowed, fits = StubRanker._fit_scores, []

    def stop(self, data):
        fits.append(len(data.train.target))
        if sum(rows > 280 for rows in fits) == 4:  # behind the pilots, in the middle of the trials
            raise KeyboardInterrupt
        slowed(self, data)

    monkeypatch.setattr(StubRanker, "_fit_scores", stop)
    with pytest.raises(KeyboardInterrupt):
        run(asked, out)
    before = json.loads((out / "timing.json").read_text())
    assert list(before["left_out"]) == ["linear, ap"]
    monkeypatch.undo()
    replace_models(monkeypatch)  # now every fit would be in time
    found = run(asked, out, resume=True).results
    assert found["left_out"] == before["left_out"]
    after = json.loads((out / "timing.json").read_text())
    for name in ("budget", "costs", "one_part", "left_out", "announced", "pilot_seconds"):
        assert after[name] == before[name]
    for name, share in before["shares"].items():
        assert after["shares"][name] == share
    more = run(settings(tmp_path, budget=500.0, candidates=TWO), out, resume=True).results
    assert not more["left_out"]  # with more time they are all trained
    assert len(more["candidates"]) == 2


def test_seeds_are_averaged_and_saved_together(tmp_path):
    out = tmp_path / "run"
    run(settings(tmp_path, seeds=2, trials=1), out)
    name = results(out)["candidates"][results(out)["recommended"]]["name"]
    assert len(load_model(out).members) == (4 if "+" in name or "two" in name else 2)


@pytest.mark.parametrize(
    "options",
    [
        {"time": "day", "drop": ("user",)},
        {"group": "user", "drop": ("day",), "metric": "ndcg@5"},
        {"metric": "auc"},
        {"metric": "opauc(max_fpr=0.1)"},
    ],
)
def test_other_splits_and_metrics(tmp_path, options):
    out = tmp_path / "run"
    found = run(settings(tmp_path, trials=1, **options), out).results
    assert found["metric"] == options.get("metric", "ap")
    assert not found["left_out"]
    assert len(found["candidates"]) == 4
    arrays = np.load(out / "predictions.npz")
    assert ("group" in arrays) == ("group" in options)
    assert found["metric"] not in found["other_metrics"]


def test_relevances(tmp_path):
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {"x": rng.normal(size=400), "z": rng.normal(size=400), "q": np.arange(400) // 8}
    )
    grade = (frame["x"] + 0.5 * rng.normal(size=400)).to_numpy()
    frame = frame.with_columns(y=pl.Series(np.clip(np.round(grade), 0, 2).astype(int)))
    frame.write_csv(tmp_path / "table.csv")
    asked = settings(tmp_path, metric="ndcg@5", group="q", drop=(), trials=1)
    found = run(asked, tmp_path / "run").results
    assert not found["left_out"]
    assert all(row["test"]["value"] > 0.8 for row in found["candidates"])


def test_one_that_fails_is_left_out_and_named(tmp_path, monkeypatch):
    real = StubRanker._fit_scores

    def fail(self, data):
        if self.objective == "ap":
            raise ValueError("no")
        real(self, data)

    monkeypatch.setattr(StubRanker, "_fit_scores", fail)
    found = run(settings(tmp_path, trials=1), tmp_path / "run")
    assert found.results["left_out"] == {"linear, ap": "linear, ap: no"}
    rest = ["linear, log-loss", "linear, two log-losses"]
    assert [row["name"] for row in found.results["candidates"]] == rest
    assert found.results["remarks"] == ["left out, it failed: linear, ap: no"]
    monkeypatch.setattr(StubRanker, "_fit_scores", lambda self, data: 1 / 0)
    with pytest.raises(RuntimeError, match="no log-loss model could be fitted"):
        run(settings(tmp_path, trials=1), tmp_path / "other")


def test_a_folder_that_is_taken(tmp_path):
    asked = settings(tmp_path, trials=1)
    out = tmp_path / "run"
    run(asked, out)
    with pytest.raises(UsageError, match="already holds a run; pass --resume"):
        run(asked, out)
    other = settings(tmp_path, trials=1, metric="auc")
    with pytest.raises(DataError, match="other settings: metric was 'ap' and is 'auc'"):
        run(other, out, resume=True)
    run(settings(tmp_path, trials=2, budget=9.0), out, resume=True)
    frame = pl.read_csv(asked.data)
    frame.head(500).write_csv(asked.data)
    with pytest.raises(DataError, match="cannot be resumed with other data"):
        run(asked, out, resume=True)
    full = tmp_path / "full"
    full.mkdir()
    (full / "thesis.txt").write_text("")
    with pytest.raises(DataError, match="exists and holds no run"):
        run(asked, full, resume=True)
    (out / "config.json").write_text("{}")
    with pytest.raises(UsageError, match=r"config\.json: was changed or damaged"):
        run(asked, out, resume=True)


def test_nothing_is_written_for_a_table_that_cannot_be_used(tmp_path):
    (tmp_path / "table.csv").write_text("y\n" + "0\n1\n" * 50)
    with pytest.raises(DataError, match="no column left to learn from"):
        run(settings(tmp_path, drop=()), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_half_written_candidate_is_done_again(tmp_path):
    asked = settings(tmp_path, trials=1)
    out = tmp_path / "run"
    before = run(asked, out).results
    (out / pipeline.CANDIDATES / "linear-ap" / "scores.npz").write_bytes(b"PK")
    after = run(asked, out, resume=True).results
    values = [[row["test"] for row in found["candidates"]] for found in (before, after)]
    assert values[0] == values[1]


def known_options(here, seconds, per_fit):
    folds = tuple(
        evaluate_split(PLAIN, {}, here, split, here.seeds)
        for split in here.plan.splits[: here.plan.tuned]
    )
    return Tuned({}, folds, 1, seconds, per_fit, [])


def finished(here, tuned, seconds):
    return finish(Search(PLAIN, here, None, None, seconds, FREE), tuned)


def test_further_splits_are_judged_only_where_there_is_time_for_them(tmp_path):
    here = problem(tmp_path)
    with_time = finished(here, known_options(here, 1.0, 0.01), 100.0)
    without = finished(here, known_options(here, 1.0, 0.01), 1.01)
    assert (len(with_time.folds), len(without.folds)) == (10, 5)
    assert not with_time.cut


def test_the_last_fit_has_as_long_as_those_it_was_chosen_by_even_where_the_time_is_up(
    tmp_path, monkeypatch
):
    here = problem(tmp_path)
    known, steps = known_options(here, 1.0, 0.2), []
    real = StubRanker._fit_scores

    def slow(self, data):
        real(self, data)
        began = time.perf_counter()
        while not time_is_up():
            time.sleep(0.01)
        steps.append(time.perf_counter() - began)

    monkeypatch.setattr(StubRanker, "_fit_scores", slow)
    found = finished(here, known, 0.5)
    assert found.cut
    (taken,) = steps
    assert taken > 0.15
