from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace

import numpy as np
import optuna
import pytest
from tests.tasks.compare.stubs import StubRanker, problem, stubbed

from rankwise.errors import UsageError
from rankwise.tasks.compare import trial
from rankwise.tasks.compare.budget import Cost
from rankwise.tasks.compare.candidates import Candidate
from rankwise.tasks.compare.fit import FoldScores
from rankwise.tasks.compare.search import CandidateError, Event, Search
from rankwise.tasks.compare.storage import open_storage

__all__ = ["stubbed"]

PLAIN = Candidate("linear", "log_loss")
METRIC = Candidate("linear", "ap")
FREE = Cost(0.0, 0.0, 0.0)
BEGUN = Event("linear, log-loss", 0, 1)
pytestmark = pytest.mark.usefixtures("stubbed")


def tuned(tmp_path, name="study.db", *, candidate=PLAIN, seconds=1e6, **options):
    here = problem(tmp_path, **options)
    with open_storage(tmp_path / name) as storage:
        search = Search(candidate, here, storage, tmp_path / f"{name}.trials", seconds, FREE)
        return search.tune(BEGUN, lambda event: None)


def trials(tmp_path, name="study.db", candidate=PLAIN):
    storage = f"sqlite:///{tmp_path / name}"
    return optuna.load_study(study_name=candidate.key, storage=storage).trials


def test_the_defaults_are_tried_first_and_the_best_is_kept(tmp_path):
    found = tuned(tmp_path, trials=4)
    tried = trials(tmp_path)
    assert found.trials == len(tried) == 4
    assert tried[0].params == {"alpha": 1.0}
    whole = [trial for trial in tried if trial.value is not None]
    best = max(whole, key=lambda trial: trial.value)
    assert found.params == best.params
    assert sum(each.value for each in found.folds) / 5 == pytest.approx(best.value)
    values = [value for _, value in found.curve]
    assert values == sorted(values)
    assert values[-1] == best.value
    assert found.curve[-1][0] == pytest.approx(found.seconds)


@pytest.mark.parametrize("other", [METRIC, replace(PLAIN, second=True)])
def test_others_try_what_was_best_for_log_loss_first_and_then_the_defaults(tmp_path, other):
    plain = tuned(tmp_path, trials=4)
    assert plain.params != {"alpha": 1.0}
    tuned(tmp_path, candidate=other, trials=3)
    tried = [trial.params for trial in trials(tmp_path, candidate=other)]
    assert tried[:2] == [plain.params, {"alpha": 1.0}]
    assert tried[2] not in tried[:2]


def test_a_metric_alone_or_beside_another_kind_of_model_tries_the_defaults_first(tmp_path):
    tuned(tmp_path, candidate=Candidate("neural", "log_loss"), trials=4)
    tuned(tmp_path, candidate=METRIC, trials=1)
    assert trials(tmp_path, candidate=METRIC)[0].params == {"alpha": 1.0}


def test_stopped_in_its_first_trial_it_begins_with_the_same_one_again(tmp_path, monkeypatch):
    real = StubRanker._fit_scores

    def stop(self, data):
        raise KeyboardInterrupt

    monkeypatch.setattr(StubRanker, "_fit_scores", stop)
    with pytest.raises(KeyboardInterrupt):
        tuned(tmp_path, trials=2)
    monkeypatch.setattr(StubRanker, "_fit_scores", real)
    tuned(tmp_path, trials=2)
    done = [trial.params for trial in trials(tmp_path) if "seconds" in trial.user_attrs]
    assert done[0] == {"alpha": 1.0}
    assert done[1] != {"alpha": 1.0}


def test_without_time_only_the_defaults(tmp_path):
    assert tuned(tmp_path, seconds=1e-9, trials=30).trials == 1


def test_stopped_and_resumed_it_tries_what_it_would_have_tried(tmp_path, monkeypatch):
    whole = tuned(tmp_path, "whole.db", trials=7)
    fits, real = [], StubRanker._fit_scores

    def stop(self, data):
        fits.append(1)
        if len(fits) == 18:  # in the middle of the fourth trial
            raise KeyboardInterrupt
        real(self, data)

    monkeypatch.setattr(StubRanker, "_fit_scores", stop)
    with pytest.raises(KeyboardInterrupt):
        tuned(tmp_path, "stopped.db", trials=7)
    resumed = tuned(tmp_path, "stopped.db", trials=7)
    assert resumed.params == whole.params
    assert resumed.trials == 7
    done = [t.params for t in trials(tmp_path, "stopped.db") if "seconds" in t.user_attrs]
    assert done == [t.params for t in trials(tmp_path, "whole.db")]
    # 35 fits without pruning, of which 15 were done and kept, and the two half ones repeated.
    assert len(fits) <= 18 + 20


@pytest.mark.parametrize("calls", range(6))
def test_killed_between_two_writes_of_a_trial_it_tries_what_it_would_have_tried(
    tmp_path, monkeypatch, calls
):
    whole = tuned(tmp_path, "whole.db", trials=3)
    left, real = [calls], optuna.storages.RDBStorage.set_trial_user_attr

    def stop(self, *arguments, **named):
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        real(self, *arguments, **named)

    with monkeypatch.context() as patch:
        patch.setattr(optuna.storages.RDBStorage, "set_trial_user_attr", stop)
        with pytest.raises(KeyboardInterrupt):
            tuned(tmp_path, trials=3)
    again = tuned(tmp_path, trials=3)
    assert again.trials == whole.trials == 3
    assert again.params == whole.params
    done = [trial.params for trial in trials(tmp_path) if "stopped" not in trial.user_attrs]
    assert done == [trial.params for trial in trials(tmp_path, "whole.db")]


@pytest.mark.parametrize(
    "change",
    [
        "update trial_params set param_value = param_value * 2 where trial_id = 1",
        "update trial_values set value = value + 0.25 where trial_id = 1",
        "update trial_user_attributes set value_json = '2' where key = 'fits' and trial_id = 1",
    ],
)
def test_a_trial_that_was_changed_is_refused(tmp_path, change):
    tuned(tmp_path, trials=2)
    with closing(sqlite3.connect(tmp_path / "study.db")) as database:
        assert database.execute(change).rowcount == 1
        database.commit()
    with pytest.raises(UsageError, match=r"trial 0 of linear-log-loss was changed or damaged"):
        tuned(tmp_path, trials=2)


def test_trials_that_are_done_are_not_repeated(tmp_path, monkeypatch):
    first = tuned(tmp_path, trials=3)
    monkeypatch.setattr(trial, "fit_members", None)  # nothing is fitted any more
    again = tuned(tmp_path, trials=3)
    assert again.params == first.params
    assert again.seconds == first.seconds
    assert [each.value for each in again.folds] == [each.value for each in first.folds]
    for one, other in zip(again.folds, first.folds, strict=True):
        np.testing.assert_array_equal(one.scores, other.scores)
        np.testing.assert_array_equal(one.ranked, other.ranked)


def test_options_that_fail_are_passed_over(tmp_path, monkeypatch):
    real = StubRanker._fit_scores

    def fail(self, data):
        if self.alpha == 1:
            raise ValueError("it has\ndiverged")
        real(self, data)

    monkeypatch.setattr(StubRanker, "_fit_scores", fail)
    assert tuned(tmp_path, trials=3).params["alpha"] != 1
    with pytest.raises(CandidateError, match="linear, log-loss: it has diverged"):
        tuned(tmp_path, "other.db", trials=1)


def test_progress_is_told(tmp_path):
    told = []
    here = problem(tmp_path, trials=2)
    with open_storage(tmp_path / "study.db") as storage:
        Search(PLAIN, here, storage, tmp_path, 1e6, FREE).tune(BEGUN, told.append)
    assert [each.trials for each in told] == [0, 1, 2]
    assert told[0].best is None
    assert told[-1].best >= told[1].best
    assert told[-1].share == 1
    assert {(each.name, each.number, each.total) for each in told} == {("linear, log-loss", 0, 1)}


def test_the_scores_of_the_best_trial_are_kept_with_whether_its_time_was_up(tmp_path):
    place = Search(PLAIN, None, None, tmp_path / "trials", 1.0, FREE, "fold-1-")
    assert place.kept(3) is None
    scores = np.arange(4.0)
    folds = [FoldScores(scores, -scores, 0.25, True), FoldScores(scores + 1, scores, 0.5)]
    place.keep(3, folds)
    assert place.kept(2) is None
    assert replace(place, prefix="fold-2-").kept(3) is None
    first, second = place.kept(3)
    assert (first.value, first.cut, second.value, second.cut) == (0.25, True, 0.5, False)
    np.testing.assert_array_equal(first.ranked, -scores)
    np.testing.assert_array_equal(second.scores, scores + 1)
    (tmp_path / "trials" / "fold-1-linear-log-loss.npz").write_bytes(b"PK")
    assert place.kept(3) is None
