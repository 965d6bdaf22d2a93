from __future__ import annotations

import numpy as np
import pytest
import torch

from rankwise.boosting.gradient import ObjectiveGradient, log_loss_gradient
from rankwise.boosting.objectives import gradient_of, stateless_objective
from rankwise.boosting.rows import Rows

from .cases import differences, ranked, second_differences

# Where a part of the objective is held fixed (the spread, the gain, the true positive rate, the
# selected items), a finite difference of the whole would see it move: those are compared with it
# where nothing of that kind happens.
SMOOTH = [
    "ap(false_positives=Logistic(1.0), true_positives=ZeroOne, score_scale=1.0, gain=fixed)",
    "auc",
    "auc(Logistic(1.0))",
    "opauc(max_fpr=.3)",
    "opauc(max_fpr=.3, form=kl)",
    "tpauc(.5, .3)",
    "pap@5",
    "pap@5(ramp)",
    "ndcg",
    "listnet",
    "cross_entropy",
    "focal",
]
EVERY = [*SMOOTH, "ap", "ap(score_scale=auto)", "opauc(max_fpr=.3, form=cvar)", "ndcg@5"]
CONVEX = [SMOOTH[0], "auc", "auc(Logistic(1.0))", "opauc(max_fpr=.3)", "tpauc(.5, .3)"]

SIGMOIDS = [
    "auc(sigmoid)",
    "pu_auc(.1)",
    "opauc(max_fpr=.3, surrogate=sigmoid)",
    "tpr_at_fpr(.05)",
    "fpr_at_tpr(.8)",
    "precision_at_recall(.5)",
    "recall_at_precision(.6)",
]


def risk(name: str, rows: Rows):
    objective = stateless_objective(name)
    beside = {
        key: None if value is None else torch.from_numpy(value)
        for key, value in (("weight", rows.weight), ("groups", rows.groups))
    }
    return lambda scores: float(
        objective(torch.from_numpy(scores), torch.from_numpy(rows.target), **beside)
    )


def grouped(scores, rows) -> Rows:
    groups = np.arange(len(scores)) % 3
    order = np.argsort(groups, kind="stable")
    return Rows(rows.target, rows.weight, groups[order])


@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize("kind", ["plain", "weight", "groups"])
def test_gradient_is_that_of_finite_differences(name, kind) -> None:
    scores, rows = ranked(40, weight=kind == "weight")
    if kind == "groups":
        rows = grouped(scores, rows)
    found, _ = ObjectiveGradient(stateless_objective(name)).derivatives(scores, rows)
    np.testing.assert_allclose(found, differences(risk(name, rows), scores), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("curvature", ["expected", "bound"])
@pytest.mark.parametrize("far", [1.0, 1e3])
def test_curvature_is_above_zero_and_all_is_finite(name, curvature, far) -> None:
    scores, rows = ranked(60)
    slope, bend = ObjectiveGradient(stateless_objective(name), curvature)(far * scores, rows)
    assert np.isfinite(slope).all()
    assert np.isfinite(bend).all()
    assert (bend > 0).all()


@pytest.mark.parametrize("name", CONVEX)
def test_bound_is_above_the_true_diagonal(name) -> None:
    scores, rows = ranked(40)
    gradient = ObjectiveGradient(stateless_objective(name), "bound")
    _, bound = gradient.derivatives(scores, rows)
    true = second_differences(risk(name, rows), scores)
    assert (bound >= true - 1e-3 * np.abs(true).max()).all()
    assert bound.sum() < 5 * true.clip(0).sum()  # and not far above it


def test_items_have_the_curvature_of_a_weighted_log_loss() -> None:
    scores, rows = ranked(40)
    slope, bend = ObjectiveGradient(stateless_objective("cross_entropy")).derivatives(scores, rows)
    expected = log_loss_gradient(scores, rows)
    np.testing.assert_allclose((slope * 40, bend * 40), expected, rtol=1e-6)
    slope, bend = ObjectiveGradient(stateless_objective("focal")).derivatives(scores, rows)
    weight = slope / expected[0]
    np.testing.assert_allclose(bend, weight * expected[1], rtol=1e-6)


@pytest.mark.parametrize("name", ["auc", "ap(score_scale=auto)"])
def test_expected_has_the_sum_of_the_bound(name) -> None:
    scores, rows = ranked(200)
    objective = stateless_objective(name)
    both = [ObjectiveGradient(objective, kind) for kind in KINDS]
    sums = [gradient.derivatives(scores, rows)[1].sum() for gradient in both]
    assert sums[0] == pytest.approx(sums[1], rel=1e-3)


KINDS = ("expected", "bound")


@pytest.mark.parametrize("factor", [0.1, 7.0])
@pytest.mark.parametrize("kind", KINDS)
def test_automatic_scale_moves_leaves_in_proportion(kind, factor) -> None:
    # G/H is a step of scores: for scores of another unit it must be of that unit.
    scores, rows = ranked(80)
    gradient = ObjectiveGradient(stateless_objective("ap(score_scale=auto)"), kind)
    (slope, bend), (other, other_bend) = gradient(scores, rows), gradient(factor * scores, rows)
    np.testing.assert_allclose(other / other_bend, factor * slope / bend, rtol=1e-6)


@pytest.mark.parametrize("name", ["ap", "auc", "listnet", "focal"])
def test_weight_two_is_the_row_twice(name) -> None:
    scores, rows = ranked(60, weight=True)
    times = np.repeat(np.arange(60), rows.weight.astype(int))
    gradient = ObjectiveGradient(stateless_objective(name))
    once = gradient(scores, rows)
    each = gradient(scores[times], Rows(rows.target[times]))
    for weighted, single in zip(once, each, strict=True):
        np.testing.assert_allclose((weighted / rows.weight)[times], single, rtol=1e-6)


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("weighted", [False, True])
def test_curvatures_add_up_to_those_of_log_loss_at_its_start(name, weighted) -> None:
    scores, rows = ranked(60, weight=weighted)
    _, curvature = ObjectiveGradient(stateless_objective(name), floor=0.0)(scores, rows)
    rate = np.average(rows.positive, weights=rows.weight)
    _, start = log_loss_gradient(np.full(60, np.log(rate / (1 - rate))), rows)
    assert curvature.sum() == pytest.approx(start.sum())


@pytest.mark.parametrize("name", SIGMOIDS)
@pytest.mark.parametrize("curvature", ["expected", "bound"])
@pytest.mark.parametrize("spread", [0.0, 1e-9, 1e-4])
def test_equal_scores_move_by_units_though_a_sigmoid_has_no_curvature(
    name, curvature, spread
) -> None:
    scores, rows = ranked(400)
    slope, bend = ObjectiveGradient(stateless_objective(name), curvature)(spread * scores, rows)
    # A leaf of one class moves by ΣG / ΣH: at most a few units of the surrogate's scale, 1.
    moves = [abs(slope[leaf].sum()) / bend[leaf].sum() for leaf in (rows.positive, ~rows.positive)]
    assert max(moves) < 10
    assert spread > 0 or min(moves) > 0.01  # an automatic scale is as small as the spread


def test_a_perfect_ranking_has_no_gradient_and_breaks_nothing() -> None:
    rows = Rows(np.array([0.0, 1]))
    slope, bend = ObjectiveGradient(stateless_objective("auc"))(np.array([0.0, 9]), rows)
    assert slope.tolist() == [0, 0]
    assert bend.tolist() == [1, 1]


def test_lists_of_one_class_have_no_gradient() -> None:
    rows = Rows(np.array([0.0, 0, 1, 0]), None, np.array([0, 0, 1, 1]))
    slope, bend = ObjectiveGradient(stateless_objective("ap"))(np.arange(4.0), rows)
    assert slope[:2].tolist() == [0, 0]
    assert slope[2] < 0 < slope[3]
    assert (bend > 0).all()


def test_log_loss_is_that_of_differences() -> None:
    scores, rows = ranked(30, weight=True)

    def loss(s):
        toward = np.where(rows.positive, s, -s)
        return float((rows.weight * np.logaddexp(0, -toward)).sum())

    slope, bend = log_loss_gradient(scores, rows)
    np.testing.assert_allclose(slope, differences(loss, scores), rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(bend, second_differences(loss, scores), rtol=1e-4, atol=1e-6)
    for value in log_loss_gradient(np.array([-1e4, 1e4]), Rows(np.array([1.0, 0]))):
        assert np.isfinite(value).all()


def test_threads_are_given_back() -> None:
    before = torch.get_num_threads()
    scores, rows = ranked()
    ObjectiveGradient(stateless_objective("ap"))(scores, rows)
    assert torch.get_num_threads() == before


def test_wrong_options_are_refused() -> None:
    with pytest.raises(ValueError, match="curvature must be one of 'expected', 'bound'"):
        ObjectiveGradient(stateless_objective("ap"), "none")
    with pytest.raises(ValueError, match="scores contains NaN"):
        gradient_of("ap")(np.array([np.nan, 1]), Rows(np.array([0.0, 1])))
