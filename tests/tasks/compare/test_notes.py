from __future__ import annotations

import numpy as np
from tests.tasks.compare.stubs import problem, table
from tests.tasks.compare.test_choosing import NOTHING

from rankwise.tasks.compare.candidates import Candidate
from rankwise.tasks.compare.finished import Finished
from rankwise.tasks.compare.fit import Judged
from rankwise.tasks.compare.notes import notes_on


def done(here, *bad):
    """A candidate that ranks backwards on some splits and perfectly on the others."""
    judged = []
    for number, (_, rows) in enumerate(here.plan.splits):
        scores = here.table.target[rows] * (-1 if number in bad else 1)
        judged.append(Judged(scores, scores, here.value(scores, rows)))
    candidate = Candidate("linear", "log_loss")
    return Finished(candidate, {}, 1, 1.0, [], tuple(judged), NOTHING, NOTHING, NOTHING, None)


def test_a_candidate_that_has_learned_nothing_is_named(tmp_path):
    here = problem(tmp_path)
    assert notes_on([done(here)], here, {}) == []
    (note,) = notes_on([done(here, 1, 4)], here, {})
    # Scores that are all equal have the share of positives as their average precision.
    share = np.mean([here.table.target[rows].mean() for _, rows in here.plan.splits])
    assert note.startswith(f"linear, log-loss is no better than chance ({share:.4f}) on 2 of 10")


def test_columns_that_are_no_features(tmp_path):
    frame = table().with_columns(id=np.array([f"t{n}" for n in range(600)]))
    frame.write_csv(tmp_path / "table.csv")
    here = problem(tmp_path)
    assert notes_on([], here, {"a": "a: no"}) == [
        "left out, it failed: a: no",
        "columns left out (the table of columns says why): id",
    ]


def test_a_number_that_became_a_word_is_told(tmp_path):
    frame = table()
    values = [str(value) for value in frame["a"].to_list()]
    values[250] = "oops"
    frame.with_columns(a=np.array(values)).write_csv(tmp_path / "table.csv")
    slip, unused = notes_on([], problem(tmp_path), {})
    assert "599 of 600 values are numbers, but 'oops' in row 251 is not" in slip
    assert unused == "columns left out (the table of columns says why): a"
