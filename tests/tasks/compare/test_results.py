from __future__ import annotations

import csv
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score
from tests.tasks.compare.stubs import problem, stubbed

from rankwise.tasks.compare.candidates import Candidate
from rankwise.tasks.compare.fit import Fitted, FoldScores, fit_members
from rankwise.tasks.compare.model import Model, load_model
from rankwise.tasks.compare.results import Outcome
from rankwise.tasks.compare.selection import Choice, Evaluation, choose

__all__ = ["stubbed"]

pytestmark = pytest.mark.usefixtures("stubbed")


def results_of(fitted, choice, here, left_out):
    return Outcome(here, fitted, choice, Evaluation([(here, fitted)])).results(left_out)


def write_results(out, choice, fitted, here):
    outcome = Outcome(here, fitted, choice, Evaluation([(here, fitted)]))
    found = outcome.results({})
    outcome.write(out, found)
    return found


def done(here, objective, seed, model=None):
    """Scores of noise about the target, the same in every split."""
    noise = np.random.default_rng(seed).normal(size=len(here.table))
    scores = here.table.target + noise
    folds = tuple(
        FoldScores(scores[rows], scores[rows], here.value(scores[rows], rows))
        for _, rows in here.plan.splits
    )
    test = scores[here.plan.parts.test]
    probability = 1 / (1 + np.exp(-test))
    candidate = Candidate("linear", objective)
    return Fitted(
        candidate,
        {"alpha": 2.0},
        3,
        1.5,
        [[0.5, 0.25]],
        folds,
        test,
        test,
        probability,
        model,
    )


def two(here):
    return [done(here, "log_loss", 1), done(here, "ap", 2)]


def with_models(here):
    members = fit_members(Candidate("linear", "ap"), {}, here, here.plan.parts.train, range(1))
    return [
        replace(each, model=Model(members, here.table.reading, {"number": number}))
        for number, each in enumerate(two(here))
    ]


def test_the_numbers_are_of_the_test_part(tmp_path):
    here = problem(tmp_path)
    fitted = two(here)
    found = results_of(fitted, Choice(1, 0, "because"), here, {"neural, ap": "no"})
    target = here.table.target[here.plan.parts.test]
    values = [average_precision_score(target, each.test) for each in fitted]
    plain, metrical = found["candidates"]
    assert plain["test"]["value"] == pytest.approx(values[0])
    assert metrical["test"]["value"] == pytest.approx(values[1])
    assert metrical["difference"]["value"] == pytest.approx(values[1] - values[0])
    assert metrical["difference"]["low"] < values[1] - values[0] < metrical["difference"]["high"]
    assert plain["difference"] is None
    assert [row["baseline"] for row in (plain, metrical)] == [True, False]
    assert metrical["validation"]["mean"] == pytest.approx(np.mean(fitted[1].values))
    assert (metrical["name"], metrical["objective"]) == ("linear, ap", "ap")
    assert (metrical["trials"], metrical["seconds"]) == (3, 1.5)
    assert metrical["params"] == {"alpha": 2.0}
    assert (found["recommended"], found["why"]) == (1, "because")
    assert found["left_out"] == {"neural, ap": "no"}


def test_what_it_says_of_the_data(tmp_path):
    here = problem(tmp_path)
    found = results_of(two(here), Choice(0, 0, ""), here, {})["data"]
    assert found["path"] == str(tmp_path / "table.csv")
    assert (found["rows"], found["features"], found["positives"]) == (600, 4, 60)
    assert found["train"] + found["validation"] + found["test"] == 600
    assert found["test"] == 120


def test_other_metrics_are_there_for_every_candidate(tmp_path):
    here = problem(tmp_path)
    fitted = two(here)
    found = results_of(fitted, Choice(0, 0, ""), here, {})["other_metrics"]
    target = here.table.target[here.plan.parts.test]
    assert "ap" not in found
    assert found["auc"] == pytest.approx([roc_auc_score(target, each.test) for each in fitted])
    first = [target[np.argsort(-each.test)[:10]].mean() for each in fitted]
    assert found["precision@10"] == pytest.approx(first)


def test_the_choice_says_how_many_folds_it_rests_on(tmp_path):
    here = problem(tmp_path)
    fitted = two(here)
    some = [replace(each, folds=each.folds[:5]) for each in fitted]
    assert results_of(fitted, Choice(0, 0, ""), here, {})["choice"].startswith(
        "5-fold cross-validation × 2"
    )
    assert results_of(some, Choice(0, 0, ""), here, {})["choice"].startswith(
        "5-fold cross-validation ("
    )


def test_looking_at_the_test_part_does_not_change_the_choice(tmp_path):
    here = problem(tmp_path)
    fitted = two(here)
    best = choose(fitted, "ap")
    worse = [replace(each, test=-each.test) for each in fitted]
    before, after = (results_of(each, best, here, {}) for each in (fitted, worse))
    assert before["recommended"] == after["recommended"] == best.recommended
    for one, other in zip(before["candidates"], after["candidates"], strict=True):
        assert one["validation"] == other["validation"]
        assert one["test"]["value"] > other["test"]["value"]


def test_what_is_no_number_is_null_or_empty(tmp_path):
    here, out = problem(tmp_path), tmp_path / "run"
    fitted = with_models(here)
    first = replace(fitted[0].folds[0], value=math.nan)
    fitted[0] = replace(fitted[0], folds=(first, *fitted[0].folds[1:]))
    found = write_results(out, Choice(1, 0, ""), fitted, here)
    validation = found["candidates"][0]["validation"]
    assert (validation["mean"], validation["low"], validation["high"]) == (None, None, None)
    assert json.loads((out / "results.json").read_text()) == found
    plain, metrical = csv.DictReader((out / "tables.csv").read_text().splitlines())
    assert plain["validation mean"] == ""
    assert 0 < float(metrical["validation mean"]) < 1


def test_the_files_go_together(tmp_path):
    here, out = problem(tmp_path), tmp_path / "run"
    fitted = with_models(here)
    found = write_results(out, Choice(1, 0, "because"), fitted, here)
    assert {path.name for path in out.iterdir()} == {
        "model", "parts.npz", "predictions.npz", "results.json", "tables.csv"
    }  # fmt: skip
    assert json.loads((out / "results.json").read_text()) == found
    assert load_model(out).about == {"number": 1}
    rows = here.plan.parts.test
    with np.load(out / "predictions.npz") as arrays:
        assert set(arrays) == {
            "target", "row", "score_0", "score_1", "probability_0", "probability_1"
        }  # fmt: skip
        np.testing.assert_array_equal(arrays["row"], rows)
        np.testing.assert_array_equal(arrays["target"], here.table.target[rows])
        np.testing.assert_array_equal(arrays["score_1"], fitted[1].test)
        np.testing.assert_array_equal(arrays["probability_0"], fitted[0].probability)


def test_the_table_has_a_row_for_each_and_no_difference_for_the_baseline(tmp_path):
    here, out = problem(tmp_path), tmp_path / "run"
    fitted = with_models(here)
    found = write_results(out, Choice(1, 0, ""), fitted, here)
    plain, metrical = csv.DictReader((out / "tables.csv").read_text().splitlines())
    assert (plain["candidate"], metrical["candidate"]) == ("linear, log-loss", "linear, ap")
    assert float(metrical["test value"]) == found["candidates"][1]["test"]["value"]
    assert float(metrical["validation low"]) == found["candidates"][1]["validation"]["low"]
    assert float(metrical["difference p"]) == found["candidates"][1]["difference"]["p"]
    assert [plain[f"difference {key}"] for key in ("value", "low", "high", "p")] == [""] * 4
    assert (plain["seconds"], plain["trials"]) == ("1.5", "3")


def test_with_lists_the_predictions_say_which(tmp_path):
    here, out = problem(tmp_path, group="user", drop=("day",), metric="ndcg@5"), tmp_path / "run"
    fitted = with_models(here)
    write_results(out, Choice(0, 0, ""), fitted, here)
    with np.load(out / "predictions.npz") as arrays:
        np.testing.assert_array_equal(arrays["group"], here.truth(here.plan.parts.test).groups)


def test_without_all_the_rest_there_are_no_results(tmp_path):
    here, out = problem(tmp_path), tmp_path / "run"
    fitted = with_models(here)
    (out / "predictions.npz").mkdir(parents=True)  # a place where no file can be written
    with pytest.raises(OSError, match="predictions"):
        write_results(out, Choice(1, 0, ""), fitted, here)
    assert load_model(out).about == {"number": 1}
    assert not (out / "results.json").exists()
    assert not (out / "tables.csv").exists()
    assert not list(out.glob(".*"))
