from __future__ import annotations

import json
import math

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import roc_auc_score

from rankwise.data import DataError
from rankwise.metrics import compare_independent, delong_interval, holm
from rankwise.tasks.compare import evaluate_scores, slice_remark, slice_tables


@pytest.fixture(scope="module")
def scored(tmp_path_factory):
    rng = np.random.default_rng(0)
    n = 900
    region = rng.choice(["north", "south", "east"], n)
    region[:12] = "tiny"
    y = (rng.random(n) < 0.3).astype(int)
    frame = pl.DataFrame(
        {
            "y": y,
            "s": y * np.where(region == "south", 0.0, 1.5) + rng.normal(size=n),
            "region": region,
            "device": rng.choice(["web", "app"], n),
            "user": rng.integers(60, size=n),
            "id": np.arange(n),
        }
    ).with_columns(market=pl.col("user") % 3)
    path = tmp_path_factory.mktemp("slices") / "scores.csv"
    frame.write_csv(path)
    return path, frame


def evaluated(path, *by, metrics=("auc",), **options):
    return evaluate_scores(path, target="y", score="s", by=by, metrics=metrics, **options)


def test_each_slice_has_the_value_of_its_rows_and_is_compared_with_the_others(scored):
    path, frame = scored
    found = evaluated(path, "region").slices
    assert {each.name for each in found} == {"north", "south", "east", "tiny"}
    expected = {}
    for each in found:
        rows = frame.filter(pl.col("region") == each.name)
        others = frame.filter(pl.col("region") != each.name)
        assert (each.rows, each.positives) == (len(rows), rows["y"].sum())
        assert each.found.value == pytest.approx(roc_auc_score(rows["y"], rows["s"]))
        assert each.others.value_b == pytest.approx(roc_auc_score(others["y"], others["s"]))
        both = [delong_interval(part["s"].to_numpy(), part["y"].to_numpy())
                for part in (rows, others)]  # fmt: skip
        assert each.others == compare_independent(*both)
        if each.name != "tiny":
            expected[each.name] = each.others.p_value
    adjusted = dict(zip(expected, holm(list(expected.values())), strict=True))
    assert {s.name: s.adjusted for s in found if s.too_few is None} == pytest.approx(adjusted)


def test_the_lowest_is_first_and_slices_with_too_few_rows_last_without_a_verdict(scored):
    found = evaluated(scored[0], "region").slices
    assert found[0].name == "south"
    assert found[0].verdict == "lower than the others"
    assert found[-1].name == "tiny"
    assert found[-1].verdict.startswith("too few to decide: ")
    assert math.isnan(found[-1].adjusted)
    values = [each.found.value for each in found[:-1]]
    assert values == sorted(values)


def test_of_a_metric_that_is_better_when_lower_the_highest_slice_is_first(scored):
    found = evaluated(scored[0], "region", metrics=["fpr_at_tpr(.9)"]).slices
    assert found[0].name == "south"
    assert found[-1].name == "tiny"
    values = [each.found.value for each in found[:-1]]
    assert values == sorted(values, reverse=True)


def test_several_columns_alone_and_combined(scored):
    path, frame = scored
    found = evaluated(path, "device", "region, device").slices
    assert {each.by for each in found} == {"device", "region × device"}
    names = {each.name for each in found if each.by == "region × device"}
    assert names == {f"{r} × {d}" for r, d in frame.select("region", "device").unique().rows()}
    one = next(each for each in found if each.name == "south × web")
    rows = frame.filter((pl.col("region") == "south") & (pl.col("device") == "web"))
    assert one.found.value == pytest.approx(roc_auc_score(rows["y"], rows["s"]))


def test_two_slices_are_one_comparison(scored):
    first, second = evaluated(scored[0], "device").slices
    assert first.others.p_value == pytest.approx(second.others.p_value)
    assert first.adjusted == first.others.p_value
    assert second.adjusted == pytest.approx(second.others.p_value)


def test_equal_rows_show_no_difference(scored):
    for each in evaluated(scored[0], "device").slices:
        assert each.verdict == "no difference shown"
        assert each.adjusted > 0.05


def test_with_lists_each_slice_is_the_mean_over_its_lists(scored):
    path, frame = scored
    found = evaluated(path, "market", metrics=["ap"], group="user").slices
    whole = evaluate_scores(path, target="y", score="s", group="user", metrics=["ap"])
    assert sum(each.lists for each in found) == whole.lists - whole.left_out
    weighted = sum(each.lists * each.found.value for each in found)
    total = sum(each.lists for each in found)
    assert weighted / total == pytest.approx(whole.metrics["ap"].value)
    assert len(frame["market"].unique()) == len(found)


def test_without_metrics_the_first_that_suits_the_data_is_compared(scored):
    found = evaluate_scores(scored[0], target="y", score="s", by=["region"])
    assert {each.metric for each in found.slices} == {next(iter(found.metrics))} == {"ap"}
    assert "the share of positives" in slice_remark(found.slices)


def test_rows_without_a_target_or_a_value(tmp_path):
    rows = ["1,3,a", "0,2,a", ",5,b", "1,1,", "0,4,"]
    path = tmp_path / "s.csv"
    path.write_text("y,s,r\n" + "\n".join(rows) + "\n")
    found = {each.name: each for each in evaluated(path, "r").slices}
    assert found.keys() == {"a", "(missing)"}
    assert found["a"].found.value == 1
    assert found["(missing)"].found.value == 0


def test_a_slice_of_one_class_has_no_value(tmp_path):
    path = tmp_path / "s.csv"
    path.write_text("y,s,r\n1,3,a\n0,2,a\n0,1,b\n0,4,b\n")
    found = {each.name: each for each in evaluated(path, "r", metrics=["ap", "auc"]).slices}
    assert math.isnan(found["b"].found.value)
    assert found["b"].verdict == "too few to decide: 0 positives"


def test_as_files_hold_it(scored):
    found = evaluated(scored[0], "region", metrics=["auc", "ap"])
    listed = json.loads(json.dumps(found.as_json(), allow_nan=False))["slices"]
    assert [each["slice"] for each in listed[:4]] == [s.name for s in found.slices[:4]]
    frame = found.as_frame()
    assert frame["slice"].to_list() == [None, None, *(s.name for s in found.slices)]
    assert frame["rows"][0] == 900
    assert frame["value"][2] == listed[0]["value"] == found.slices[0].found.value
    assert frame["adjusted_p_value"].null_count() == 2 + 2  # all rows, and tiny by two metrics
    plain = evaluated(scored[0]).as_frame()
    assert plain.columns == ["metric", "rows", "positives", "lists", "value", "low", "high",
                             "method"]  # fmt: skip


def test_one_table_for_each_metric_and_column(scored):
    found = evaluated(scored[0], "region", "device", metrics=["auc", "ap"]).slices
    titles = [title for title, _ in slice_tables(found)]
    assert titles == ["auc by region", "ap by region", "auc by device", "ap by device"]
    assert "10 comparisons" in slice_remark(found)
    assert "about 0.5 would have p < 0.05 by chance" in slice_remark(found)
    assert "2 more have too few rows" in slice_remark(found)


def test_a_column_of_ids_and_one_that_is_not_there(scored):
    with pytest.raises(DataError, match="--by id has 900 values, at most 200 are compared"):
        evaluated(scored[0], "id")
    with pytest.raises(DataError, match="no --by column 'regoin'; did you mean 'region'"):
        evaluated(scored[0], "regoin")
    with pytest.raises(DataError, match="--by must name a column"):
        evaluated(scored[0], ",")


def test_parquet_and_numbers(scored, tmp_path):
    path = tmp_path / "s.parquet"
    scored[1].write_parquet(path)
    assert [s.name for s in evaluated(path, "market").slices] == [
        s.name for s in evaluated(scored[0], "market").slices
    ]


def test_nan_of_a_parquet_file_is_missing(scored, tmp_path):
    path = tmp_path / "s.parquet"
    market = pl.Series(
        "market", [(1.0, np.nan, None)[n] for n in scored[1]["market"]], strict=False
    )
    scored[1].with_columns(market).write_parquet(path)
    assert {s.name for s in evaluated(path, "market").slices} == {"1.0", "(missing)"}
