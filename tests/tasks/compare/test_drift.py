from __future__ import annotations

import json
import math

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from rankwise.data import DataError
from rankwise.metrics import population_stability_index
from rankwise.tasks.compare import measure_drift


def made(rng, n, shift=0.0, gain=1.5):
    y = (rng.random(n) < 0.2).astype(int)
    return pl.DataFrame({"y": y, "score": gain * y + shift + rng.normal(size=n)})


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(0)
    frames = [made(rng, 1500), made(rng, 1000, shift=0.4, gain=0.8)]
    paths = [tmp_path / "before.csv", tmp_path / "after.csv"]
    for path, frame in zip(paths, frames, strict=True):
        frame.write_csv(path)
    return paths, frames


def largest_gap(a, b):
    """The Kolmogorov–Smirnov distance, at every score."""
    return max(abs(np.mean(a <= s) - np.mean(b <= s)) for s in np.concatenate([a, b]))


def newcombe(x, n, other, m, z=1.959963984540054):
    """The difference of two shares with the roots of (p − π)² = z²·π(1 − π)/n as their limits."""
    ends = []
    for count, total in ((x, n), (other, m)):
        p = count / total
        ends.append((p, *np.sort(np.roots([1 + z**2 / total, -2 * p - z**2 / total, p**2]).real)))
    (p, low, high), (q, other_low, other_high) = ends
    below = math.hypot(p - low, other_high - q)
    return p - q - below, p - q + math.hypot(high - p, q - other_low)


def test_the_distances_are_those_of_the_definitions(files):
    paths, frames = files
    found = measure_drift(*paths)
    a, b = (frame["score"].to_numpy() for frame in frames)
    assert found.ks_distance == pytest.approx(largest_gap(a, b))
    assert found.psi == population_stability_index(a, b)
    assert found.ks_p_value < 0.001
    assert found.psi > found.psi_by_chance
    assert found.verdict.startswith("The scores have changed: ")
    assert found.rows == (1500, 1000)


def test_shares_have_newcombes_interval_and_quantiles_are_scores(files):
    paths, frames = files
    found = {each.what: each for each in measure_drift(*paths, thresholds=[1.0]).changes}
    a, b = (frame["score"].to_numpy() for frame in frames)
    share = found["share from 1 on"]
    above = int((b >= 1).sum()), 1000, int((a >= 1).sum()), 1500
    assert share.difference == pytest.approx(above[0] / 1000 - above[2] / 1500)
    assert (share.low, share.high) == pytest.approx(newcombe(*above))
    median = found["50% quantile"]
    assert median.before == np.sort(a)[749]
    assert median.after == np.sort(b)[499]
    assert median.low < median.difference < median.high


def test_by_default_the_share_is_that_above_the_highest_twentieth(files):
    paths, frames = files
    (share,) = [e for e in measure_drift(*paths).changes if e.what.startswith("share from")]
    threshold = np.sort(frames[0]["score"].to_numpy())[1424]
    assert share.before == pytest.approx(76 / 1500)
    assert share.after == pytest.approx((frames[1]["score"] >= threshold).mean())


def test_with_labels_the_metrics_are_compared(files):
    paths, frames = files
    found = {each.what: each for each in measure_drift(*paths, target="y").changes}
    for name, metric in (("ap", average_precision_score), ("auc", roc_auc_score)):
        before, after = (metric(frame["y"], frame["score"]) for frame in frames)
        assert found[name].before == pytest.approx(before)
        assert found[name].difference == pytest.approx(after - before)
        assert found[name].high < 0
        assert found[name].p_value < 0.001
    positives = found["share of positives"]
    assert positives.before == pytest.approx(frames[0]["y"].mean())
    asked = measure_drift(*paths, target="y", metrics=["precision@10"]).changes
    assert asked[-1].what == "precision@10"


def test_intervals_of_quantiles_and_p_values_keep_their_level(tmp_path):
    """Of tables without a change 5 % of the rows have p < 0.05."""
    rng = np.random.default_rng(2)
    paths = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    ks, medians = [], []
    for _ in range(150):
        for path, n in zip(paths, (300, 200), strict=True):
            pl.DataFrame({"score": rng.normal(size=n)}).write_parquet(path)
        found = measure_drift(*paths)
        ks.append(found.ks_p_value < 0.05)
        medians += [each.low <= 0 <= each.high for each in found.changes if "50%" in each.what]
    assert np.mean(ks) < 0.12
    assert 0.88 < np.mean(medians) <= 1


def test_a_table_does_not_differ_from_itself(files):
    paths, _ = files
    found = measure_drift(paths[0], paths[0], target="y")
    assert (found.ks_distance, found.psi) == (0, 0)
    assert found.verdict.startswith("The scores show no change: ")
    assert all(each.difference == 0 for each in found.changes)


def test_as_files_hold_it(files):
    found = measure_drift(*files[0], target="y")
    listed = json.loads(json.dumps(found.as_json(), allow_nan=False))
    assert [each["what"] for each in listed["changes"]] == [e.what for e in found.changes]
    frame = found.as_frame()
    assert frame["what"].to_list()[:2] == ["ks", "psi"]
    assert frame["difference"].to_list()[2:] == [e.difference for e in found.changes]


def test_what_is_refused(files, tmp_path):
    paths, _ = files
    with pytest.raises(DataError, match="metrics need labels: name the target column"):
        measure_drift(*paths, metrics=["auc"])
    with pytest.raises(DataError, match="there is no score column 'sore'"):
        measure_drift(*paths, score="sore")
    other = tmp_path / "other.csv"
    other.write_text("y,score\n0,1\n2,2\n")
    with pytest.raises(DataError, match=r"positive class is '1' in .* and '2' in .* --positive"):
        measure_drift(paths[0], other, target="y")
    with pytest.raises(DataError, match="--threshold must be a finite score, got nan"):
        measure_drift(*paths, thresholds=[0.5, math.nan])
    other.write_text("y,score\n")
    with pytest.raises(DataError, match=r"other\.csv: is empty: a header and no rows"):
        measure_drift(paths[0], other)


def test_a_quantile_of_too_few_rows_has_no_interval(files, tmp_path):
    few = tmp_path / "few.csv"
    few.write_text("score\n" + "".join(f"{n}\n" for n in range(20)))
    found = {each.what: each for each in measure_drift(files[0][0], few).changes}
    # Nothing is below the lowest of 20 scores, and the 5 % quantile may be (0.95^20 = 36 %).
    assert math.isnan(found["5% quantile"].low)
    assert math.isnan(found["5% quantile"].p_value)
    assert found["50% quantile"].low < found["50% quantile"].high
    listed = {e["what"]: e for e in measure_drift(files[0][0], few).as_json()["changes"]}
    assert listed["5% quantile"]["low"] is None
