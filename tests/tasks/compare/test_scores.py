from __future__ import annotations

import json
import math

import polars as pl
import pytest
from tests.tasks.compare.stubs import settings, stubbed, table

from rankwise.data import DataError
from rankwise.errors import UsageError
from rankwise.metrics import Interval
from rankwise.tasks.compare import EvaluationResult, evaluate_run, evaluate_scores, run

__all__ = [
    "stubbed",
]

# By score: a finds 1, 0, 0, 1; b has positives only, c none; d finds 0, 1.
LISTS = "q,y,s\na,1,3\na,0,2\na,0,1\na,1,0\nb,1,1\nb,1,2\nc,0,1\nc,0,0\nd,0,3\nd,1,2\n"
# By score: 2, 0, 1 and 0, 1; c has nothing to find, d nothing else.
GRADES = "q,y,s\na,2,3\na,0,2\na,1,1\nb,0,2\nb,1,1\nc,0,1\nc,0,0\nd,1,2\nd,1,1\n"


def written(tmp_path, text):
    path = tmp_path / "scores.csv"
    path.write_text(text)
    return path


def test_one_list_by_hand(tmp_path):
    path = written(tmp_path, "y,s\n1,4\n0,3\n1,2\n0,1\n")
    found = evaluate_scores(path, target="y", score="s")
    assert found.caption == "4 rows, 2 positives"
    assert (found.lists, found.left_out) == (None, 0)
    values = {name: each.value for name, each in found.metrics.items()}
    assert values["ap"] == pytest.approx((1 + 2 / 3) / 2)
    assert values["auc"] == pytest.approx(3 / 4)
    assert values["r_precision"] == pytest.approx(1 / 2)
    assert (values["precision@1"], values["recall@1"]) == (1, 0.5)  # ten are more than there are
    assert "precision@10" not in values


def test_a_mean_over_lists_by_hand(tmp_path):
    path = written(tmp_path, LISTS)
    asked = ["ap", "mrr", "auc", "precision@2"]
    found = evaluate_scores(path, target="y", score="s", group="q", metrics=asked)
    assert list(found.metrics) == asked
    values = {name: each.value for name, each in found.metrics.items()}
    assert values["ap"] == pytest.approx(((1 + 1 / 2) / 2 + 1 / 2) / 2)
    assert values["mrr"] == pytest.approx((1 + 1 / 2) / 2)
    assert values["auc"] == pytest.approx((2 / 4 + 0) / 2)
    assert values["precision@2"] == pytest.approx((1 / 2 + 1 / 2) / 2)
    assert (found.lists, found.left_out) == (4, 2)
    assert found.caption == (
        "10 rows, 5 positives, mean over 2 lists (2 of one class only, left out)"
    )


def test_without_a_list_to_leave_out_nothing_is_said_of_it(tmp_path):
    path = written(tmp_path, "q,y,s\na,1,2\na,0,1\nb,1,2\nb,0,3\n")
    found = evaluate_scores(path, target="y", score="s", group="q", metrics=["ap"])
    assert found.caption == "4 rows, 2 positives, mean over 2 lists"
    assert found.metrics["ap"].value == pytest.approx(3 / 4)


def test_relevances_by_hand(tmp_path):
    path = written(tmp_path, GRADES)
    found = evaluate_scores(path, target="y", score="s", group="q", metrics=["ndcg"])
    first = (3 + 1 / math.log2(4)) / (3 + 1 / math.log2(3))
    second = 1 / math.log2(3)
    assert found.metrics["ndcg"].value == pytest.approx((first + second + 1) / 3)
    assert found.positives == 5
    assert (found.lists, found.left_out) == (4, 1)


def test_relevances_are_refused_where_one_metric_takes_none(tmp_path):
    path = written(tmp_path, GRADES)
    for metrics in (["ndcg", "ap"], None):
        with pytest.raises(DataError, match="has 3 values"):
            evaluate_scores(path, target="y", score="s", group="q", metrics=metrics)


def test_metrics_are_checked_before_the_file_is_read(tmp_path):
    nowhere = tmp_path / "nowhere.csv"
    with pytest.raises(DataError, match='no metric is called "aap"'):
        evaluate_scores(nowhere, target="y", score="s", metrics=["ap", "aap"])
    with pytest.raises(DataError, match='metric "mrr" is a mean over lists'):
        evaluate_scores(nowhere, target="y", score="s", metrics=["mrr"])
    with pytest.raises(DataError, match=r"nowhere\.csv"):
        evaluate_scores(nowhere, target="y", score="s", metrics=["ap"])


def test_the_positive_value_turns_the_ranking_round(tmp_path):
    path = written(tmp_path, "y,s\nyes,4\nno,3\nyes,2\nno,1\n")
    yes, no = (
        evaluate_scores(path, target="y", score="s", positive=word, metrics=["auc"])
        for word in ("yes", "no")
    )
    assert yes.metrics["auc"].value == pytest.approx(3 / 4)
    assert no.metrics["auc"].value == pytest.approx(1 / 4)


def test_the_seed_draws_the_intervals_and_not_the_values(tmp_path):
    rows = "".join(f"{int(n % 7 == 0)},{(n * 37) % 101}\n" for n in range(100))
    path = written(tmp_path, "y,s\n" + rows)
    name = "opauc(max_fpr=0.5)"
    asked = dict(target="y", score="s", metrics=[name])
    one, same, other = (evaluate_scores(path, **asked, seed=seed) for seed in (1, 1, 2))
    assert one == same
    assert one.metrics[name].value == other.metrics[name].value
    assert one.metrics[name] != other.metrics[name]


def test_as_a_file_holds_it(tmp_path):
    path = written(tmp_path, LISTS)
    found = evaluate_scores(path, target="y", score="s", group="q", metrics=["ap"])
    undefined = Interval(math.nan, math.nan, math.nan, 0.95, "bootstrap")
    made = EvaluationResult(path, 10, 5, 4, 2, {**found.metrics, "pap@10": undefined})
    again = json.loads(json.dumps(made.as_json(), allow_nan=False))
    assert again["data"] == str(path)
    assert (again["rows"], again["positives"]) == (10, 5)
    assert (again["lists"], again["lists_left_out"]) == (4, 2)
    assert again["metrics"]["ap"]["value"] == found.metrics["ap"].value
    assert again["metrics"]["ap"]["low"] <= again["metrics"]["ap"]["value"]
    assert again["metrics"]["pap@10"] == {
        "value": None,
        "low": None,
        "high": None,
        "method": "bootstrap",
    }


def test_lists_of_positives_count_in_ndcg_and_the_caption_says_so(tmp_path):
    path = written(tmp_path, LISTS)
    found = evaluate_scores(path, target="y", score="s", group="q", metrics=["ap", "ndcg@10"])
    assert found.caption.endswith("; ndcg@10: over 1 more, all positive")
    first = (1 + 1 / math.log2(5)) / (1 + 1 / math.log2(3))
    expected = (first + 1 + 1 / math.log2(3)) / 3
    assert found.metrics["ndcg@10"].value == pytest.approx(expected)


@pytest.mark.parametrize(
    "asked", [{}, {"metric": "opauc(max_fpr=0.3)", "seed": 3}, {"group": "user"}]
)
def test_a_run_is_evaluated_with_the_numbers_of_its_results(tmp_path, stubbed, asked):
    options = {"trials": 1, "drop": ("day",) if "group" in asked else ("user", "day"), **asked}
    results = run(settings(tmp_path, **options), tmp_path / "run").results
    (tmp_path / "table.csv").unlink()  # the run has kept the scores
    found = evaluate_run(tmp_path / "run")
    best = results["candidates"][results["recommended"]]
    assert list(found.metrics) == [results["metric"], *results["other_metrics"]]
    first = found.metrics[results["metric"]]
    assert best["test"] == {"value": first.value, "low": first.low, "high": first.high}
    for name, values in results["other_metrics"].items():
        assert found.metrics[name].value == pytest.approx(values[results["recommended"]])
        assert found.metrics[name].low <= found.metrics[name].value <= found.metrics[name].high
    assert found.candidate == best["name"]
    assert found.rows == results["data"]["test"]
    assert (found.lists is not None) == ("group" in asked)
    assert found.caption.startswith(f"{best['name']}, held-out test rows of {tmp_path / 'run'}: ")
    assert found.warning is None


def test_a_run_of_relevances_takes_only_metrics_of_relevances(tmp_path, stubbed):
    graded = pl.col("y") + (pl.col("a") > 0)
    table().with_columns(y=graded).write_csv(tmp_path / "table.csv")
    asked = settings(tmp_path, trials=1, metric="ndcg@10", group="user", drop=("day",))
    results = run(asked, tmp_path / "run").results
    found = evaluate_run(tmp_path / "run")
    assert list(found.metrics) == ["ndcg@10", "ndcg", "ndcg@5"]
    best = results["candidates"][results["recommended"]]["test"]
    assert found.metrics["ndcg@10"].value == best["value"]
    with pytest.raises(DataError, match="target holds relevances, which metric 'ap' does not take"):
        evaluate_run(tmp_path / "run", metrics=["ap"])
    assert list(evaluate_run(tmp_path / "run", metrics=["ndcg@3"]).metrics) == ["ndcg@3"]


RULE = "alerts<=5/day"


def test_a_run_knows_its_rows_per_day(tmp_path, stubbed):
    days = pl.date(2024, 1, 1) + pl.duration(days=pl.col("day") // 20)  # 30 days of 20 rows
    table().with_columns(when=days).write_csv(tmp_path / "table.csv")
    run(settings(tmp_path, trials=1, time="when"), tmp_path / "run")
    (tmp_path / "table.csv").unlink()
    points = evaluate_run(tmp_path / "run", rules=[RULE]).points
    given = evaluate_run(tmp_path / "run", rules=[RULE], rows_per_day=20).points
    other = evaluate_run(tmp_path / "run", rules=[RULE], rows_per_day=100).points
    assert points[RULE].threshold == given[RULE].threshold < other[RULE].threshold


def test_a_run_that_was_given_its_rows_per_day_keeps_them(tmp_path, stubbed):
    run(settings(tmp_path, trials=1, threshold=RULE, rows_per_day=20), tmp_path / "run")
    points = evaluate_run(tmp_path / "run", rules=[RULE]).points
    given = evaluate_run(tmp_path / "run", rules=[RULE], rows_per_day=20).points
    assert points[RULE].threshold == given[RULE].threshold


@pytest.mark.parametrize("time", [None, "day"])
def test_of_a_run_without_dates_no_column_of_dates_is_asked_for(tmp_path, stubbed, time):
    drop = ("user",) if time else ("user", "day")
    run(settings(tmp_path, trials=1, time=time, drop=drop), tmp_path / "run")
    with pytest.raises(DataError, match=r"needs the number of rows per day: pass --rows-per-day$"):
        evaluate_run(tmp_path / "run", rules=[RULE])


def test_only_a_finished_run_is_evaluated(tmp_path, stubbed):
    run(settings(tmp_path, trials=1), tmp_path / "run")
    with pytest.raises(DataError, match="holds no run; pass the folder of a run"):
        evaluate_run(tmp_path)
    (tmp_path / "run" / "predictions.npz").write_bytes(b"none")
    with pytest.raises(UsageError, match=r"predictions\.npz: was changed or damaged"):
        evaluate_run(tmp_path / "run")
    (tmp_path / "run" / "results.json").unlink()
    with pytest.raises(DataError, match="the run is not finished"):
        evaluate_run(tmp_path / "run")


@pytest.mark.parametrize("words", [("true", "false"), ("True", "False"), ("1", "0")])
def test_rows_marked_as_trained_on_are_reported(tmp_path, words):
    yes, no = words
    text = f"y,s,in_training\n1,4,{yes}\n0,3,{no}\n1,2,{yes}\n0,1,{yes}\n"
    found = evaluate_scores(written(tmp_path, text), target="y", score="s", metrics=["auc"])
    assert found.warning is not None
    assert found.warning.startswith(
        "3 of 4 rows equal a row the model was trained on: these numbers are not an estimate for "
        "new rows"
    )
    assert found.as_json()["rows_trained_on"] == 3


def test_without_marks_nothing_is_said_of_training(tmp_path):
    for text, count in (("y,s\n1,4\n0,3\n", None), ("y,s,in_training\n1,4,false\n0,3,\n", 0)):
        found = evaluate_scores(written(tmp_path, text), target="y", score="s", metrics=["auc"])
        assert found.warning is None
        assert found.as_json()["rows_trained_on"] == count


def test_metrics_of_users_by_hand(tmp_path):
    path = written(tmp_path, GRADES)
    name = "err@2(max_relevance=2)"
    found = evaluate_scores(path, target="y", score="s", group="q", metrics=[name, "ndcg"])
    # Of a, b and d: R = 3/4 at rank 1, R = 1/4 at rank 2, and 1/4 at both.
    assert found.metrics[name].value == pytest.approx((3 / 4 + 1 / 8 + 1 / 4 + 3 / 32) / 3)
    large = written(tmp_path, GRADES.replace("a,2,3", "a,7,3"))
    with pytest.raises(DataError, match=r"relevances up to 4, got 7; .* err@10\(max_relevance=7"):
        evaluate_scores(large, target="y", score="s", group="q", metrics=["err@10"])
    with pytest.raises(DataError, match='metric "rbp" is a mean over lists'):
        evaluate_scores(path, target="y", score="s", metrics=["rbp"])


def test_rows_without_a_target_do_not_change_bpref_and_are_refused_for_infap(tmp_path):
    path = written(tmp_path, "y,s\n1,4\n,3.5\n0,3\n1,2\n0,1\n")
    found = evaluate_scores(path, target="y", score="s", metrics=["bpref"])
    assert found.metrics["bpref"].value == pytest.approx((1 + 1 / 2) / 2)
    with pytest.raises(DataError, match="1 rows have no target, which infap takes as labels"):
        evaluate_scores(path, target="y", score="s", metrics=["infap"])
