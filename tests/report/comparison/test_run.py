from __future__ import annotations

import json
import math

import numpy as np
import pytest
from tests.report.comparison.sample import BASELINE, RECOMMENDED, write_run

from rankwise.report.comparison.run import Estimate, read_run


def test_what_is_read(tmp_path, held, found):
    run = read_run(write_run(tmp_path, held, found))
    assert run.recommended.name == "boosted, ap"
    assert run.baseline is run.candidates[BASELINE]
    assert run.baseline.difference is None
    assert run.recommended.difference.p == found["candidates"][RECOMMENDED]["difference"]["p"]
    assert len(run.drawn) == 6
    assert not run.grouped
    assert (run.predictions.weight == 1).all()
    assert np.array_equal(run.predictions.scores[0], held["score_0"])


def test_what_is_not_known_is_nan_and_not_an_error(tmp_path, held):
    rows = [{"name": "a", "baseline": True, "test": {"value": None}}, {"seconds": "long"}]
    run = read_run(write_run(tmp_path, held, {"candidates": rows, "recommended": 0}))
    assert math.isnan(run.recommended.test.value)
    assert math.isnan(run.candidates[1].seconds)
    assert run.candidates[1].name == "candidate 2"
    assert run.candidates[1].trials is None
    assert run.candidates[1].curve == ()


@pytest.mark.parametrize(
    ("low", "high", "known"),
    [(0.1, 0.2, True), (math.nan, 0.2, False), (0.1, math.nan, False), (math.nan, math.nan, False)],
)
def test_an_interval_has_two_ends(low, high, known):
    assert Estimate(0.15, low, high).has_interval is known


@pytest.mark.parametrize("name", ["results.json", "config.json", "predictions.npz"])
def test_a_missing_or_broken_file_is_named(tmp_path, held, found, name):
    path = write_run(tmp_path, held, found) / name
    path.write_bytes(b"\x00{")
    with pytest.raises(ValueError, match=rf"{name} is not") as broken:
        read_run(tmp_path)
    assert "\n" not in str(broken.value)
    path.unlink()
    with pytest.raises(ValueError, match=rf"{name} is missing"):
        read_run(tmp_path)


def test_no_folder(tmp_path):
    with pytest.raises(ValueError, match="folder must be that of a run"):
        read_run(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"candidates": []}, "must hold 'candidates', a list of objects"),
        ({"candidates": [1]}, "must hold 'candidates', a list of objects"),
        ({"recommended": 6}, "must hold 'recommended', a number from 0 to 5"),
        ({"recommended": None}, "must hold 'recommended'"),
    ],
)
def test_results_that_do_not_fit(tmp_path, held, found, change, message):
    write_run(tmp_path, held, {**found, **change})
    with pytest.raises(ValueError, match=message):
        read_run(tmp_path)


def test_results_that_are_no_object(tmp_path, held, found):
    write_run(tmp_path, held, found)
    (tmp_path / "results.json").write_text(json.dumps([1]))
    with pytest.raises(ValueError, match="must hold a JSON object, got list"):
        read_run(tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"target": np.zeros(0)}, "must hold 'target'"),
        ({"target": np.zeros(5000)}, "zeros and ones, both of them"),
        ({"target": np.arange(5000)}, "zeros and ones, both of them"),
        ({"score_2": np.zeros(4)}, r"score_2 must have the 5000 rows of target, got \(4,\)"),
        ({"score_2": np.full(5000, np.nan)}, "score_2 must not hold NaN"),
        ({"score_2": np.full(5000, "a")}, "score_2 must hold numbers"),
        ({"group": np.zeros(3)}, "group must have the 5000 rows"),
        ({"weight": np.zeros(5000)}, "weight must be ≥ 0, and above 0 somewhere in each class"),
        ({"score_3": None}, "must hold 'score_3', that of the recommended"),
        ({"score_0": np.array([{}] * 5000)}, "not a file of plain arrays: Object arrays"),
    ],
)
def test_predictions_that_do_not_fit(tmp_path, held, found, change, message):
    changed = {k: v for k, v in {**held, **change}.items() if v is not None}
    with pytest.raises(ValueError, match=message):
        read_run(write_run(tmp_path, changed, found))
