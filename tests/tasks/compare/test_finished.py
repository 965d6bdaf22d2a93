from __future__ import annotations

import numpy as np
import pytest
from tests.tasks.compare.stubs import problem, stubbed

from rankwise.tasks.compare.candidates import Candidate
from rankwise.tasks.compare.finished import Finished, ensemble, load_finished, save_finished
from rankwise.tasks.compare.fit import fit_members, judge, scored
from rankwise.tasks.compare.model import Model

__all__ = ["stubbed"]

pytestmark = pytest.mark.usefixtures("stubbed")


def done(here, objective):
    candidate, params = Candidate("linear", objective), {"alpha": 2.0}
    judged = tuple(judge(candidate, params, here, s, here.seeds) for s in here.plan.splits)
    members = fit_members(candidate, params, here, here.plan.parts.development, here.seeds)
    model = Model(members, here.table.reading, {})
    test, ranked = scored(members, here, here.plan.parts.test)
    probability = model.probabilities(here.table.of(here.plan.parts.test))
    return Finished(
        candidate, params, 3, 1.5, [[0.5, 0.25]], judged, test, ranked, probability, model
    )


def test_a_candidate_survives_its_folder(tmp_path):
    here = problem(tmp_path)
    made = done(here, "ap")
    folder = tmp_path / "candidates" / "one"
    assert load_finished(folder, made.candidate) is None
    save_finished(folder, made)
    save_finished(folder, made)  # in the place of an earlier one
    again = load_finished(folder, made.candidate)
    assert (again.params, again.trials, again.seconds) == ({"alpha": 2.0}, 3, 1.5)
    assert again.curve == [[0.5, 0.25]]
    assert again.values == made.values
    assert again.mean == np.mean(made.values)
    for name in ("test", "test_ranked", "probability"):
        np.testing.assert_array_equal(getattr(again, name), getattr(made, name))
    (folder / "result.json").write_text("{")
    assert load_finished(folder, made.candidate) is None


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
    first = (parts[0].judged[0].ranked + parts[1].judged[0].ranked) / 2
    assert both.values[0] == here.value(first, here.plan.splits[0][1])
    assert both.model.about["candidate"] == "linear, log-loss + ap"
