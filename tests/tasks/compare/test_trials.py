from __future__ import annotations

import numpy as np
import pytest

from rankwise.data import DataError
from rankwise.tasks.compare.candidates import Candidate
from rankwise.tasks.compare.fit import FoldScores
from rankwise.tasks.compare.trials import TrialStore, open_storage

PLAIN = Candidate("linear", "log_loss")


def test_a_damaged_file_of_trials_is_named(tmp_path):
    (tmp_path / "study.db").write_bytes(b"no database at all" * 100)
    with (
        pytest.raises(DataError, match=r"study\.db: holds no trials of `rankwise compare`"),
        open_storage(tmp_path / "study.db"),
    ):
        pass


def test_the_scores_of_the_best_trial_are_kept_with_whether_its_time_was_up(tmp_path):
    place = TrialStore(None, tmp_path / "trials", "fold-1-")
    assert place.best(PLAIN, 3) is None
    scores = np.arange(4.0)
    folds = [FoldScores(scores, -scores, 0.25, True), FoldScores(scores + 1, scores, 0.5)]
    place.keep(PLAIN, 3, folds)
    assert place.best(PLAIN, 2) is None
    assert TrialStore(None, tmp_path / "trials", "fold-2-").best(PLAIN, 3) is None
    first, second = place.best(PLAIN, 3)
    assert (first.value, first.cut, second.value, second.cut) == (0.25, True, 0.5, False)
    np.testing.assert_array_equal(first.ranked, -scores)
    np.testing.assert_array_equal(second.scores, scores + 1)
    (tmp_path / "trials" / "fold-1-linear-log-loss.npz").write_bytes(b"PK")
    assert place.best(PLAIN, 3) is None
