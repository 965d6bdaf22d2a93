"""What the plans ask of a training can be trained, and a quick one asks for less."""

from __future__ import annotations

import pytest
from tests.reproductions.retrieval import test_problem
from tests.reproductions.retrieval.tiny import plan as tiny_plan

from reproductions.frame import Setting
from reproductions.retrieval.benches import Scratch, Trial
from reproductions.retrieval.methods import METHODS, with_tau
from reproductions.retrieval.plan import MAIN, Budget, Plan

folder = test_problem.folder


@pytest.fixture(params=[False, True], ids=["full", "quick"])
def plan(request, folder):
    return Plan.of(Setting(data=folder, quick=request.param))


def test_what_a_quick_run_trains_is_there_in_the_order_of_all():
    names = [method.name for method in METHODS]
    assert [name for name in names if name in MAIN] == list(MAIN)
    ours = {method.name for method in METHODS if method.ours}
    assert set(MAIN) & ours
    assert set(MAIN) - ours


def test_every_data_set_has_its_number_of_seeds(plan):
    for budget in (plan.pretrained, plan.scratch):
        assert len(budget.seeds) == len(plan.problems)
        assert budget.seeds[0] > 0


def test_budgets_leave_steps_for_the_method_and_a_look_at_the_last_one(plan):
    for budget in (plan.pretrained, plan.scratch):
        assert 0 < budget.warm_start < budget.steps / 2
        assert budget.steps % budget.validations == 0
        assert sorted(budget.rates) == list(budget.rates)


def test_what_is_changed_by_the_effects_is_compared_before(plan):
    # The rate of the comparison is taken there.
    compared = {method.name for method in plan.methods}
    assert {method.name for tau in plan.taus for method in with_tau(tau)} <= compared
    assert set(plan.from_scratch) <= compared


def test_a_quick_run_tries_nothing_that_a_full_one_does_not(folder):
    full, quick = (Plan.of(Setting(data=folder, quick=quick)) for quick in (False, True))
    for of in ("pretrained", "scratch"):
        less, more = getattr(quick, of), getattr(full, of)
        assert set(less.rates) <= set(more.rates)
        assert less.steps < more.steps
        assert less.warm_start / less.steps == pytest.approx(more.warm_start / more.steps)
        assert (less.milestone, less.precision) == (more.milestone, more.precision)
    assert quick.ablation_seeds < full.ablation_seeds
    assert quick.timed < full.timed
    assert (quick.methods, quick.ablations) == (full.methods, full.ablations)


def test_the_weights_are_the_file_of_the_folder(plan, folder):
    assert plan.extractor.backbone == "mobilenet_v2"
    assert plan.extractor.weights == str(folder / "weights" / "mobilenet_v2-0.pth")


@pytest.mark.parametrize("draws", [2, 4])
def test_draws_are_the_seeds_of_the_comparison(folder, draws):
    full, quick = (Plan.of(Setting(data=folder, quick=q, draws=draws)) for q in (False, True))
    assert full.pretrained.seeds == quick.pretrained.seeds == (draws, draws)
    assert full.scratch.seeds == (draws, 1)


def test_the_rate_falls_at_the_share_of_the_milestone_and_without_one_never():
    def settings(milestone):
        budget = Budget(20, (0.01,), (1, 1), 2, 4, milestone=milestone)
        made = tiny_plan(scratch=budget)
        trial = Trial(METHODS[0], METHODS[0].tries[0], 0.01, 0)
        return Scratch(made.problems[0], made).settings(trial)

    assert settings(0.7).optimizer.milestones == (14,)
    assert settings(0.01).optimizer.milestones == (1,)  # not before the first step
    assert settings(None).optimizer.milestones == ()
    assert settings(None).training.validate_every == 5
