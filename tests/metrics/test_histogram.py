import math
import tempfile
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.metrics.test_every_metric import METRICS

from rankwise import metrics as m
from rankwise.files import read_npz, write_npz
from rankwise.metrics._buckets import bucket_of
from rankwise.metrics._setting import _kernels

NAMES = [name for name, (metric, _) in METRICS.items() if _kernels[metric].takes_buckets]
LARGE = np.random.default_rng(0)


@st.composite
def items(draw):
    """Scores that share buckets, tie, overflow float32 and have both signs; both classes."""
    near = st.integers(0, 40).map(lambda step: 1 + step * 2.0**-16)  # one bucket of 12 bits is 2⁻³
    far = st.sampled_from([0.0, -0.0, -1.0, -1.0000001, 1e-45, 3e38, 1e300, np.inf, -np.inf])
    scores = draw(st.lists(st.one_of(near, far), min_size=2, max_size=25))
    target = draw(st.lists(st.integers(0, 1), min_size=len(scores), max_size=len(scores)))
    target[0], target[1] = 0, 1
    return np.array(scores), np.array(target)


def counted(scores, target, bits=12):
    histogram = m.ScoreHistogram(bits)
    histogram.add(scores, target)
    return histogram


@pytest.mark.filterwarnings("ignore:some lists have fewer")
@pytest.mark.parametrize("ties", ["standard", "against"])
@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=25)
@given(items(), st.integers(1, 30), st.integers(1, 6), st.integers(1, 24))
def test_bounds_hold_the_exact_value_and_further_passes_make_them_meet(
    name, ties, case, most, piece, cut
):
    function, options = METRICS[name]
    metric = m.Metric(function, **options, ties=ties)
    scores, target = case
    exact = float(function(scores, target, **options, ties=ties))
    histogram = counted(scores, target)
    low, high = histogram.bounds(metric)
    assert low <= exact <= high
    parts = [(scores[:cut], target[:cut]), (scores[cut:], target[cut:])]
    with patch("rankwise.metrics._refinement.MOST_POSITIVES", piece):
        (resolved,) = histogram.refine(parts, [metric], max_items=most)
    assert resolved[0] <= exact <= resolved[1]
    assert resolved == pytest.approx((exact, exact), abs=1e-10)


@given(items(), st.integers(1, 24))
def test_merged_is_whole(case, cut):
    scores, target = case
    halves = counted(scores[:cut], target[:cut]) + counted(scores[cut:], target[cut:])
    whole = counted(scores, target)
    np.testing.assert_array_equal(halves.counts, whole.counts)
    assert halves.counts.sum(1).tolist() == [(target == 0).sum(), (target == 1).sum()]


@given(items())
def test_buckets_are_ordered_like_the_scores(case):
    scores, _ = case
    buckets = bucket_of(scores, 12)
    order = np.argsort(scores)
    assert (np.diff(buckets[order]) >= 0).all()
    assert buckets.min() >= 0
    assert buckets.max() < 2**12


def test_bounds_are_close_for_many_items_and_meet_after_a_second_pass():
    target = LARGE.random(50_000) < 0.1
    scores = (LARGE.standard_normal(50_000) + target).astype(np.float32)
    histogram = counted(torch.tensor(scores), torch.tensor(target), bits=20)
    for metric in (m.Metric(m.auroc), m.Metric(m.average_precision)):
        exact = float(metric.value(scores, target))
        low, high = histogram.bounds(metric)
        assert low <= exact <= high
        assert 1e-6 < high - low < 2e-3
        ((low, high),) = histogram.refine([(scores, target)], [metric])
        assert low <= exact <= high
        assert high - low < 1e-11


def test_bad_input_and_one_class():
    histogram = counted(np.array([1.0, 2.0]), np.array([0, 0]))
    assert math.isnan(histogram.bounds(m.Metric(m.auroc))[0])
    with pytest.raises(ValueError, match="scores contains NaN"):
        histogram.add(np.array([np.nan]), np.array([1]))
    with pytest.raises(ValueError, match="target must contain only 0 and 1"):
        histogram.add(np.array([1.0]), np.array([2]))
    with pytest.raises(ValueError, match="metric must be a sum over two classes"):
        histogram.bounds(m.Metric(m.ndcg))
    with pytest.raises(ValueError, match="bits must be from 9 to 26, got 30"):
        m.ScoreHistogram(30)
    with pytest.raises(ValueError, match="bits must be the same to add, got 12 and 20"):
        histogram + m.ScoreHistogram()
    scores, target = np.array([1.0, 1.0, 1.0]), np.array([0, 1, 1])
    both = counted(scores, target)
    for most in (1, 8):
        with pytest.raises(ValueError, match="got 2 of 3"):
            both.refine([(scores[:2], target[:2])], [m.Metric(m.auroc)], max_items=most)
        more = (np.append(scores, 1.0), np.append(target, 1))
        with pytest.raises(ValueError, match="parts must be the items that were added"):
            both.refine([more], [m.Metric(m.auroc)], max_items=most)


def test_items_of_any_shape_are_counted():
    scores, target = np.array([0.1, 0.2, 0.9]), np.array([0, 1, 1])
    column = counted(scores[:, None], target[:, None])
    assert np.array_equal(column.counts, counted(scores, target).counts)


def test_an_iterator_is_enough_for_one_pass_and_refused_for_more():
    scores, target = np.array([1.0, 1.0, 2.0, 2.0]), np.array([0, 1, 0, 1])
    histogram, metric = counted(scores, target), m.Metric(m.auroc)
    assert histogram.refine(iter([(scores, target)]), [metric])[0] == pytest.approx((0.5, 0.5))
    with pytest.raises(ValueError, match="got an iterator; pass a list"):
        histogram.refine(iter([(scores, target)]), [metric], max_items=2)


def test_only_what_matters_to_a_metric_is_read_again():
    rng = np.random.default_rng(0)
    target = rng.random(3000) < 0.3
    scores = (rng.standard_normal(3000) + target).astype(np.float32)
    reads = []

    class Parts:
        def __iter__(self):
            reads.append(1)
            return iter([(scores, target)])

    histogram = counted(scores, target)
    with patch("rankwise.metrics._refinement.MOST_POSITIVES", 50):
        found = histogram.refine(Parts(), [m.Metric(m.precision_at_k, k=200)], max_items=500)
        assert len(reads) == 1
        found += histogram.refine(Parts(), [m.Metric(m.auroc)], max_items=500)
    assert len(reads) - 1 >= 3000 // 500 - 1
    exact = [float(m.precision_at_k(scores, target, k=200)), float(m.auroc(scores, target))]
    assert [low for low, _ in found] == pytest.approx(exact, abs=1e-10)
    assert [high for _, high in found] == pytest.approx(exact, abs=1e-10)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_bucket_beyond_memory_is_resolved_by_its_different_scores(dtype):
    rng = np.random.default_rng(0)
    scores = 1 + rng.integers(0, 5, 900).astype(dtype) * dtype(2.0**-20)
    target = rng.random(900) < 0.4
    parts = [(scores[:400], target[:400]), (scores[400:], target[400:])]
    histogram, metrics = counted(scores, target), [m.Metric(m.average_precision), m.Metric(m.auroc)]
    assert (histogram.counts.any(0)).sum() == 1
    found = histogram.refine(parts, metrics, max_items=100)
    for metric, bounds in zip(metrics, found, strict=True):
        exact = float(metric.value(scores, target))
        assert bounds == pytest.approx((exact, exact), abs=1e-10)
    with patch("rankwise.metrics._pass.MOST_DISTINCT", 4):
        loose = histogram.refine(parts, metrics, max_items=100)
    assert loose == [pytest.approx(histogram.bounds(each), abs=1e-10) for each in metrics]


@given(items(), st.integers(1, 24))
def test_saved_and_loaded_histograms_add_up_to_the_whole(case, cut):
    scores, target = case
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, name) for name in ("monday.npz", "tuesday.npz")]
        for path, rows in zip(paths, (slice(0, cut), slice(cut, None)), strict=True):
            counted(scores[rows], target[rows]).save(path)
        monday, tuesday = map(m.ScoreHistogram.load, paths)
    np.testing.assert_array_equal((monday + tuesday).counts, counted(scores, target).counts)


def test_the_smallest_histogram_is_loaded(tmp_path):
    counted(np.array([1.0, 2.0]), np.array([0, 1]), bits=9).save(tmp_path / "a.npz")
    assert m.ScoreHistogram.load(tmp_path / "a.npz").bits == 9


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": np.array("other")}, "its format is other"),
        ({"bits": np.array(30)}, "bits is 30"),
        ({"bucket": np.array([3, 2])}, "not ascending"),
        ({"bucket": np.array([3, 3])}, "not ascending"),
        ({"bucket": np.array([3, 2**12])}, "outside of the histogram"),
        ({"bucket": np.array([-1, 2])}, "outside of the histogram"),
        ({"negatives": np.array([1, -1])}, "a count is negative"),
        ({"positives": np.array([1])}, "not of one length"),
        ({"positives": np.array([1.0, 2.0])}, "others than int64"),
        ({"more": np.array(1)}, "it holds"),
    ],
)
def test_a_file_of_other_content_is_refused(tmp_path, change, message):
    counted(np.array([1.0, 2.0]), np.array([0, 1])).save(tmp_path / "a.npz")
    assert m.ScoreHistogram.load(tmp_path / "a.npz").counts.sum(1).tolist() == [1, 1]
    write_npz(tmp_path / "a.npz", read_npz(tmp_path / "a.npz") | change)
    with pytest.raises(
        ValueError, match=rf"a\.npz is not a file of ScoreHistogram.save: .*{message}"
    ):
        m.ScoreHistogram.load(tmp_path / "a.npz")


def test_a_damaged_file_is_refused(tmp_path):
    path = tmp_path / "a.npz"
    counted(np.array([1.0, 2.0]), np.array([0, 1])).save(path)
    whole = path.read_bytes()
    for content in (b"", b"none", whole[:-40], whole[:200] + b"\xff" + whole[201:]):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"is not a file of ScoreHistogram\.save"):
            m.ScoreHistogram.load(path)
