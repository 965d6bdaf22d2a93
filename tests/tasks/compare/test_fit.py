from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from tests.tasks.compare.stubs import StubRanker, evaluate_split, problem, stubbed, table

from rankwise.serving.calibration import apply_ranks
from rankwise.tasks.compare.candidates import Candidate
from rankwise.tasks.compare.fit import (
    Fitted,
    ensemble,
    fit_members,
    load_candidate,
    ranker_of,
    save_candidate,
    scored,
)
from rankwise.tasks.compare.model import Model

__all__ = [
    "stubbed",
]

METRIC = Candidate("linear", "ap")
PLAIN = Candidate("linear", "log_loss")


def members(here, candidate=METRIC, seeds=1, **params):
    return fit_members(candidate, params, here, here.plan.parts.train, range(seeds))


@pytest.mark.parametrize("model", ["linear", "boosted", "neural"])
def test_an_estimator_is_told_what_it_is_fitted_and_judged_by(model):
    made = ranker_of(Candidate(model, "pap@10"), {}, 400, metric="auc", random_state=11)
    known = made.get_params()
    assert (known["objective"], known["metric"], known["random_state"]) == ("pap@10", "auc", 11)


def test_chosen_options_are_the_estimators(stubbed):
    made = ranker_of(METRIC, {"alpha": 0.25}, 400, metric="ap")
    assert made.alpha == 0.25
    with pytest.raises(TypeError, match="beta"):
        ranker_of(METRIC, {"beta": 1.0}, 400, metric="ap")


def test_a_member_for_every_seed(stubbed, tmp_path):
    here = problem(tmp_path)
    made = fit_members(METRIC, {}, here, here.plan.parts.train, range(4, 7))
    assert [member.ranker.random_state for member in made] == [4, 5, 6]
    assert all(member.ranker.metric == "ap" for member in made)


def test_nothing_is_learned_from_the_rows_it_is_judged_by(stubbed, tmp_path):
    here = problem(tmp_path)
    fitted, folds = here.plan.splits[0]
    target, frame = here.table.target.copy(), here.table.features
    target[folds] = 1 - target[folds]
    told = np.isin(np.arange(600), folds)
    words = np.where(told, "purple", frame["word"].to_numpy())
    other = replace(
        here,
        table=replace(
            here.table, target=target, features=frame.with_columns(word=pl.Series(words))
        ),
    )
    one, two = (fit_members(METRIC, {}, each, fitted, range(1)) for each in (here, other))
    rows = fitted[:50]
    np.testing.assert_array_equal(scored(one, here, rows)[0], scored(two, other, rows)[0])
    np.testing.assert_array_equal(one[0].knots[0], two[0].knots[0])


def test_a_judgment_is_the_metric_of_the_scores_of_its_own_rows(stubbed, tmp_path):
    here = problem(tmp_path)
    fitted, rows = here.plan.splits[2]
    found = evaluate_split(METRIC, {"alpha": 2.0}, here, (fitted, rows), range(2))
    made = fit_members(METRIC, {"alpha": 2.0}, here, fitted, range(2))
    scores, ranked = scored(made, here, rows)
    np.testing.assert_array_equal(found.scores, scores)
    np.testing.assert_array_equal(found.ranked, ranked)
    assert found.value == here.value(scores, rows)
    assert found.value > 2 * here.table.target[rows].mean()  # it has learned something


def test_ranks_of_one_member_are_in_the_order_of_its_scores(stubbed, tmp_path):
    here = problem(tmp_path)
    made, rows = members(here), here.plan.parts.test
    scores, ranked = scored(made, here, rows)
    np.testing.assert_array_equal(scores, made[0].scores(here.table.of(rows)))
    np.testing.assert_allclose(ranked, apply_ranks(made[0].knots[0], scores))
    assert (np.diff(ranked[np.argsort(scores)]) >= 0).all()


@pytest.mark.parametrize(
    ("objective", "classes"), [("log_loss", {0.0, 1.0}), ("ndcg@5", {0.0, 1.0, 2.0})]
)
def test_log_loss_knows_of_relevances_only_some_and_none(
    stubbed, tmp_path, monkeypatch, objective, classes
):
    real, seen = StubRanker._fit_scores, []

    def watched(self, data):
        seen.append(set(np.unique(data.train.target).tolist()))
        real(self, data)

    monkeypatch.setattr(StubRanker, "_fit_scores", watched)
    table().with_columns(y=np.arange(600) % 3).write_csv(tmp_path / "table.csv")
    here = problem(tmp_path, metric="ndcg@5", group="user", drop=("day",))
    members(here, Candidate("linear", objective))
    assert seen == [classes]


def test_lists_are_given_whole(stubbed, tmp_path, monkeypatch):
    seen = []

    def fit(self, X, y, groups=None, sample_weight=None):
        assert sample_weight is None
        seen.append((len(y), groups))
        return self

    monkeypatch.setattr(StubRanker, "fit", fit)
    monkeypatch.setattr(StubRanker, "decision_function", lambda self, X: np.zeros(len(X)))
    here = problem(tmp_path, group="user", drop=("day",), metric="ndcg@5")
    rows = here.plan.parts.train
    members(here)
    ((count, groups),) = seen
    assert count == len(rows)
    np.testing.assert_array_equal(groups, here.table.groups[rows])


def test_a_poor_fit_does_not_speak_of_it(stubbed, tmp_path, monkeypatch):
    real = StubRanker._fit_scores

    def loud(self, data):
        warnings.warn("it has not converged", UserWarning, stacklevel=2)
        real(self, data)

    monkeypatch.setattr(StubRanker, "_fit_scores", loud)
    assert len(members(problem(tmp_path))) == 1  # a warning would be an error here


@pytest.mark.parametrize("model", ["linear", "boosted"])
def test_words_and_gaps_are_prepared_as_by_the_estimator_alone(tmp_path, model):
    here = problem(tmp_path)
    (member,) = members(here, Candidate(model, "log_loss"))
    train = here.plan.parts.train
    alone = ranker_of(Candidate(model, "log_loss"), {}, len(train), metric="ap", random_state=0)
    alone.fit(here.table.of(train), here.table.target[train].astype(int))
    everything = here.table.of(np.arange(600))
    np.testing.assert_array_equal(member.scores(everything), alone.decision_function(everything))
    rows = here.plan.parts.test
    scores, _ = scored((member,), here, rows)
    assert np.isfinite(scores).all()
    assert here.value(scores, rows) > 2 * here.table.target[rows].mean()


pytestmark = pytest.mark.usefixtures("stubbed")


def done(here, objective):
    candidate, params = Candidate("linear", objective), {"alpha": 2.0}
    folds = tuple(evaluate_split(candidate, params, here, s, here.seeds) for s in here.plan.splits)
    members = fit_members(candidate, params, here, here.plan.parts.development, here.seeds)
    model = Model(members, here.table.reading, {})
    test, ranked = scored(members, here, here.plan.parts.test)
    probability = model.probabilities(here.table.of(here.plan.parts.test))
    return Fitted(candidate, params, 3, 1.5, [[0.5, 0.25]], folds, test, ranked, probability, model)


def test_a_candidate_survives_its_folder(tmp_path):
    here = problem(tmp_path)
    made = done(here, "ap")
    folder = tmp_path / "candidates" / "one"
    assert load_candidate(folder, made.candidate) is None
    save_candidate(folder, made)
    save_candidate(folder, made)  # in the place of an earlier one
    again = load_candidate(folder, made.candidate)
    assert (again.params, again.trials, again.seconds) == ({"alpha": 2.0}, 3, 1.5)
    assert again.curve == [[0.5, 0.25]]
    assert again.values == made.values
    assert again.mean == np.mean(made.values)
    for name in ("test", "test_ranked", "probability"):
        np.testing.assert_array_equal(getattr(again, name), getattr(made, name))
    (folder / "result.json").write_text("{")
    assert load_candidate(folder, made.candidate) is None


def test_an_ensemble_is_the_mean_of_the_ranks(tmp_path):
    here = problem(tmp_path)
    parts = [done(here, "log_loss"), done(here, "ap")]
    both = ensemble(Candidate("linear", "log_loss + ap", ("a", "b")), parts, here)
    np.testing.assert_allclose(both.test, (parts[0].test_ranked + parts[1].test_ranked) / 2)
    rows = here.plan.parts.test
    np.testing.assert_allclose(both.model.scores(here.table.of(rows)), both.test)
    np.testing.assert_allclose(both.model.probabilities(here.table.of(rows)), both.probability)
    assert both.seconds == 3
    assert both.trials == 6
    first = (parts[0].folds[0].ranked + parts[1].folds[0].ranked) / 2
    assert both.values[0] == here.value(first, here.plan.splits[0][1])
    assert both.model.about["candidate"] == "linear, log-loss + ap"
