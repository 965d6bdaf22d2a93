from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.tasks.compare.stubs import problem, table
from tests.tasks.compare.test_results import done
from tests.tasks.compare.test_selection import NOTHING

from rankwise.tasks.compare.budget import Budget
from rankwise.tasks.compare.candidates import Candidate
from rankwise.tasks.compare.fit import Fitted, FoldScores
from rankwise.tasks.compare.results import Outcome
from rankwise.tasks.compare.selection import Choice, Evaluation


def outcome(here, fitted, recommended=0):
    return Outcome(here, fitted, Choice(recommended, 0, ""), Evaluation([(here, fitted)]))


def remarks_of(here, fitted=(), failed=None, recommended=0):
    budget = Budget(path="timing.json", pilot_seconds=0.0, costs={})
    return outcome(here, fitted, recommended).remarks(failed or {}, budget)


def verdict(here, fitted, recommended=1):
    return outcome(here, fitted, recommended).verdict


def shifted(here, by):
    """The baseline, and a candidate with positives that score higher by so much."""
    base, other = done(here, "log_loss", 1), done(here, "ap", 1)
    test = base.test + by * here.table.target[here.plan.parts.test]
    return [base, replace(other, test=test)]


@pytest.fixture
def many(tmp_path):
    table(rows=3000).write_csv(tmp_path / "table.csv")
    return problem(tmp_path)


def test_few_positives_decide_nothing_and_repeated_cross_validation_is_offered(tmp_path):
    here = problem(tmp_path)
    found = verdict(here, shifted(here, 3.0))
    assert found == (
        "Nothing can be decided: the test part has 12 positives, fewer than 50. "
        "Pass --repeats 5 to test on all 60 positives by repeated cross-validation."
    )
    assert "clearly better" not in found


def test_folds_are_not_offered_for_what_is_split_by_time(tmp_path):
    here = problem(tmp_path, time="day", drop=("user",))
    found = verdict(here, shifted(here, 3.0))
    assert found.startswith("Nothing can be decided")
    assert "--repeats" not in found


def test_lists_are_counted_where_there_are_lists(tmp_path):
    here = problem(tmp_path, group="user", drop=("day",), metric="ndcg@5")
    assert "lists with a positive, fewer than 50" in verdict(here, shifted(here, 3.0))


def test_with_many_positives_the_interval_decides(many):
    assert verdict(many, shifted(many, 3.0)) == (
        "On the test part it is clearly better than a linear model trained on log-loss."
    )
    worse = verdict(many, shifted(many, -3.0))
    assert worse.startswith(
        "On the test part it is worse than a linear model trained on log-loss: keep"
    )
    near = [done(many, "log_loss", 1), done(many, "ap", 2)]
    said = "the difference to a linear model trained on log-loss is within chance."
    assert verdict(many, near).endswith(said)


def test_a_zero_difference_of_the_same_ranking_is_explained(many):
    base, other = shifted(many, 0.0)
    same = replace(other, test=np.exp(base.test))  # another scale, the same order
    assert verdict(many, [base, same]) == (
        "A linear model trained on average precision ranks every tested row as a linear model "
        "trained on log-loss does, so the difference is 0: trained on the metric it "
        "ranked its held-out rows no better, and kept log-loss."
    )


def test_a_zero_difference_of_two_perfect_models_is_explained(many):
    target = many.table.target[many.plan.parts.test]
    base, other = shifted(many, 0.0)
    noise = np.random.default_rng(0).random((2, len(target)))
    perfect = [
        replace(each, test=2 * target + part)
        for each, part in zip((base, other), noise, strict=True)
    ]
    assert verdict(many, perfect).startswith("Both rank every positive above every negative")


def test_a_difference_too_small_to_be_shown_is_explained(many):
    base, other = shifted(many, 0.0)
    lowest = np.argsort(base.test)[:2]
    test = base.test.copy()
    test[lowest] = test[lowest[::-1]]  # two rows at the end change places
    found = verdict(many, [base, replace(other, test=test)])
    assert (
        "rank some tested rows differently, but average precision changes by less than 0.0005"
        in found
    )


def not_best_of(found):
    return found.results({})["not_best"]


def test_why_a_recommended_candidate_is_not_the_best_on_the_tested_rows(many):
    fitted = shifted(many, 3.0)
    assert not_best_of(outcome(many, fitted, 1)) == ""
    found = outcome(many, fitted, 0)
    gain = found.evaluation.difference(1, 0)
    assert not_best_of(found) == (
        "A linear model trained on average precision has the highest value here, but the choice "
        "was made on validation, before these rows were read. Choosing by the test rows would make "
        "the best model look better than it is. The difference to the recommended candidate, "
        f"{gain.mean:+.4f} "
        f"(95 % {gain.low:+.4f} to {gain.high:+.4f}), is more than chance explains."
    )
    near = [done(many, "log_loss", 1), done(many, "ap", 2)]
    values = [each.mean for each in outcome(many, near, 0).tests]
    lower = int(np.argmin(values))
    assert not_best_of(outcome(many, near, lower)).endswith("is within chance.")
    assert not_best_of(outcome(many, near, 1 - lower)) == ""


def test_log_loss_that_won_is_not_talked_away(many):
    assert verdict(many, shifted(many, 0.0), recommended=0) == (
        "Training on the metric itself did not pay here."
    )
    assert verdict(many, shifted(many, 0.0)[:1], recommended=0) == ""


def test_candidates_that_rank_as_the_baseline_does_are_named_beside_their_zero(many):
    base, other = shifted(many, 0.0)
    fitted = [base, replace(other, test=2 * base.test), *shifted(many, 1.0)[1:]]
    for recommended, named in ((0, True), (1, False)):
        found = outcome(many, fitted, recommended)
        assert found.gains[1].mean == 0.0
        assert found.evaluation.same_ranking(1, 0)
        expected = (
            "difference 0, ranks every tested row as a linear model trained on log-loss does: "
            "a linear model trained on average precision"
        )
        assert (expected in remarks_of(many, fitted, recommended=recommended)) is named


def half_learned(here, *bad):
    """A candidate that ranks backwards on some splits and perfectly on the others."""
    folds = []
    for number, (_, rows) in enumerate(here.plan.splits):
        scores = here.table.target[rows] * (-1 if number in bad else 1)
        folds.append(FoldScores(scores, scores, here.value(scores, rows)))
    candidate = Candidate("linear", "log_loss")
    return Fitted(candidate, {}, 1, 1.0, [], tuple(folds), NOTHING, NOTHING, NOTHING, None)


def test_a_candidate_that_has_learned_nothing_is_named(tmp_path):
    here = problem(tmp_path)
    assert remarks_of(here, [half_learned(here)]) == []
    (note,) = remarks_of(here, [half_learned(here, 1, 4)])
    # Scores that are all equal have the share of positives as their average precision.
    share = np.mean([here.table.target[rows].mean() for _, rows in here.plan.splits])
    assert note.startswith(
        f"A linear model trained on log-loss does not beat chance ({share:.4f}) on 2 of 10"
    )


def test_columns_that_are_no_features(tmp_path):
    frame = table().with_columns(id=np.array([f"t{n}" for n in range(600)]))
    frame.write_csv(tmp_path / "table.csv")
    here = problem(tmp_path)
    assert remarks_of(here, failed={"a": "a: no"}) == [
        "left out, it failed: a: no",
        "columns left out (for reasons see the table of columns): id",
    ]


def test_a_number_that_became_a_word_is_told(tmp_path):
    frame = table()
    values = [str(value) for value in frame["a"].to_list()]
    values[250] = "oops"
    frame.with_columns(a=np.array(values)).write_csv(tmp_path / "table.csv")
    slip, unused = remarks_of(problem(tmp_path))
    assert "599 of 600 values are numbers, but 'oops' in row 251 is not" in slip
    assert unused == "columns left out (for reasons see the table of columns): a"
