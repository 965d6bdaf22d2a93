from __future__ import annotations

import json
import math

import numpy as np
import pytest
from sklearn.metrics import average_precision_score
from tests.tasks.compare.stubs import problem, settings, stubbed

from rankwise.data import DataError
from rankwise.errors import UsageError
from rankwise.metrics import logit_interval
from rankwise.tasks.compare.candidates import Candidate
from rankwise.tasks.compare.fit import Fitted, FoldScores
from rankwise.tasks.compare.metrics import corrected
from rankwise.tasks.compare.model import load_model
from rankwise.tasks.compare.pipeline import run
from rankwise.tasks.compare.predict import predict_file
from rankwise.tasks.compare.problem import plans_of_folds, read_problem
from rankwise.tasks.compare.run_files import rows_of_part
from rankwise.tasks.compare.selection import choose, on_common_splits, validation_of

__all__ = [
    "stubbed",
]

NOTHING = np.zeros(0)


def done(objective, *values, model="linear", scores=NOTHING):
    folds = tuple(FoldScores(scores, scores, value) for value in values)
    candidate = Candidate(model, objective)
    return Fitted(candidate, {}, 1, 1.0, [], folds, NOTHING, NOTHING, NOTHING, None)


def test_the_metric_is_recommended_where_it_wins():
    rows = [done("log_loss", 0.5, 0.7), done("ap", 0.6, 0.7), done("log_loss + ap", 0.6, 0.6)]
    found = choose(rows, "ap")
    assert (found.recommended, found.baseline) == (1, 0)
    assert found.why == (
        "A linear model trained on average precision (0.6500) has the best average precision on "
        "validation; the best on log-loss is a linear model trained on log-loss (0.6000)."
    )


@pytest.mark.parametrize("other", [0.4, 0.5])
def test_log_loss_where_it_wins_or_ties(other):
    rows = [done("log_loss", 0.3), done("ap", other), done("log_loss", 0.5, model="boosted")]
    found = choose(rows, "ap")
    assert (found.recommended, found.baseline) == (2, 2)
    won = "Log-loss won: gradient boosting trained on log-loss (0.5000) has the best average"
    assert found.why.startswith(won)
    near = f"the nearest is a linear model trained on average precision ({other:.4f})"
    assert near in found.why


def test_log_loss_alone():
    assert "is the only candidate" in choose([done("log_loss", 0.5)], "ap").why
    both = [done("log_loss", 0.5), done("log_loss", 0.6, model="neural")]
    assert choose(both, "ap").recommended == 1


def test_the_interval_over_folds_is_widened_by_what_they_share(tmp_path):
    values = [0.5, 0.7, 0.6, 0.6, 0.7, 0.5, 0.6, 0.6, 0.6, 0.6]
    here = problem(tmp_path)
    assert here.plan.cross_validated
    found = validation_of(done("ap", *values), here)
    # Student's quantile of nine degrees of freedom; a fold is a quarter of what is fitted on.
    variance = sum((value - 0.6) ** 2 for value in values) / 9
    reach = 2.2621571628 * math.sqrt(variance * (1 / 10 + 1 / 4))
    assert found.mean == pytest.approx(0.6)
    assert found.high - found.mean == pytest.approx(reach, rel=0.01)
    assert found.mean - found.low == pytest.approx(reach, rel=0.01)


def test_the_interval_of_one_part_is_that_of_the_metric(tmp_path):
    here = problem(tmp_path, time="day", drop=("user",))
    rows = here.plan.parts.validation
    scores = np.random.default_rng(0).normal(size=len(rows))
    found = validation_of(done("ap", here.value(scores, rows), scores=scores), here)
    expected = logit_interval(scores, here.table.target[rows])
    assert (found.mean, found.low, found.high) == (expected.value, expected.low, expected.high)


def test_all_are_compared_on_the_same_splits():
    rows = {"a": done("log_loss", 0.5, 0.9), "b": done("ap", 0.6)}
    found = on_common_splits(rows)
    assert {name: each.values for name, each in found.items()} == {"a": [0.5], "b": [0.6]}
    assert on_common_splits({}) == {}


pytestmark = pytest.mark.usefixtures("stubbed")


def test_repeated_cross_validation_tests_every_row_once_a_repeat(tmp_path):
    out = tmp_path / "run"
    asked = settings(tmp_path, repeats=2, trials=1)
    found = run(asked, out).results
    assert found["evaluation"] == "5-fold cross-validation of all rows × 2"
    assert found["data"]["test"] == 600
    arrays = np.load(out / "predictions.npz")
    assert arrays["row"].tolist() == list(range(600))
    table = read_problem(asked).table
    np.testing.assert_array_equal(arrays["target"], table.target)
    plans = plans_of_folds(table, 0, 2)
    assert len(plans) == 10
    folders = [out / "candidates" / f"fold-{n + 1}-linear-ap" for n in range(10)]
    tests = [np.load(folder / "scores.npz")["test"] for folder in folders]
    values = [
        average_precision_score(table.target[plan.parts.test], scores)
        for plan, scores in zip(plans, tests, strict=True)
    ]
    row = found["candidates"][1]
    expected = corrected(values, 480, 120).within(0, 1)
    assert row["name"] == "linear, ap"
    assert row["test"]["value"] == pytest.approx(expected.mean)
    assert row["test"]["low"] == pytest.approx(expected.low)
    assert row["test"]["high"] == pytest.approx(expected.high)
    base = next(each for each in found["candidates"] if each["baseline"])
    for each in found["candidates"]:
        if each is not base:
            gain = each["test"]["value"] - base["test"]["value"]
            assert each["difference"]["value"] == pytest.approx(gain)
            assert each["difference"]["low"] <= gain <= each["difference"]["high"]
            assert 0 <= each["difference"]["p"] <= 1
    assert load_model(out).about["candidate"] == found["candidates"][found["recommended"]]["name"]
    assert "chosen again within every fold" in found["remarks"][0]
    assert found["importance"]["rows"] == 600
    assert found["importance"]["part"] == found["evaluation"]


def test_the_rows_of_a_fold_have_no_say_in_what_it_tests(tmp_path):
    table = read_problem(settings(tmp_path)).table
    plans = plans_of_folds(table, 3, 2)
    for repeat in (plans[:5], plans[5:]):
        tested = np.concatenate([plan.parts.test for plan in repeat])
        assert sorted(tested) == list(range(600))
    assert plans[0].parts.test.tolist() != plans[5].parts.test.tolist()
    for plan in plans:
        assert plan.tuned == len(plan.splits) == 5
        seen = {*plan.parts.development, *(r for pair in plan.splits for p in pair for r in p)}
        assert not seen & {*plan.parts.test}
        assert len(seen) + len(plan.parts.test) == 600


def test_a_model_of_all_rows_has_no_test_part_and_knows_its_training_rows(tmp_path):
    out = tmp_path / "run"
    asked = settings(tmp_path, repeats=1, trials=1)
    run(asked, out)
    with pytest.raises(DataError, match="has no test part: it was tested by --repeats"):
        rows_of_part(out, "test")
    known = load_model(out).training_rows
    assert (len(known.hashes), known.held_out, known.repeated) == (600, 120, 0)
    predicted = predict_file(out, asked.data)
    assert "600 of 600 rows" in predicted.warning


def test_repeats_are_resumed_and_come_to_the_same(tmp_path):
    asked, out = settings(tmp_path, repeats=1, trials=1), tmp_path / "run"
    before = run(asked, out).results
    again = run(asked, out, resume=True).results
    assert again == before
    assert json.loads((out / "config.json").read_text())["repeats"] == 1


def test_lists_are_tested_in_turn_too(tmp_path):
    asked = settings(tmp_path, repeats=1, trials=1, group="user", drop=("day",), metric="ndcg@5")
    found = run(asked, tmp_path / "run").results
    assert found["data"]["test"] == 600
    assert not found["left_out"]


def test_repeats_cannot_go_with_time(tmp_path):
    with pytest.raises(
        UsageError, match=r"--repeats 2 cannot be combined with --time day.*leave out one"
    ):
        settings(tmp_path, repeats=2, time="day")
    with pytest.raises(UsageError, match="repeats must be a whole number >= 0, got -1"):
        settings(tmp_path, repeats=-1)
