from __future__ import annotations

import optuna
import pytest
from optuna.distributions import IntDistribution

import rankwise.estimators
from rankwise.tasks.compare.candidates import CLASSES, MODELS, Candidate
from rankwise.tasks.compare.fit import ranker_of
from rankwise.tasks.compare.search_space import defaults, length_of, options_of, space_of


@pytest.mark.parametrize("objective", ["log_loss", "ap"])
@pytest.mark.parametrize("model", MODELS)
def test_the_first_options_lie_in_the_space_and_the_estimator_knows_them(model, objective):
    candidate = Candidate(model, objective)
    study = optuna.create_study()
    study.enqueue_trial(defaults(candidate))
    space = space_of(candidate)
    first = study.ask(space).params
    assert first == defaults(candidate)
    second = study.ask(space).params
    for name, span in space.items():
        assert span.low <= second[name] <= span.high
        assert isinstance(second[name], int) == isinstance(span, IntDistribution)
    options = options_of(first)
    made = getattr(rankwise.estimators, CLASSES[model])(objective=objective, **options)
    params = made.get_params()
    assert {name: params[name] for name in options} == options
    made._check_options()
    own = type(made)().get_params()  # what is tried first is the estimator's own choice
    assert {name: own[name] for name in options} == {**options, **_tupled(options)}


def _tupled(options):
    return {name: tuple(value) for name, value in options.items() if isinstance(value, list)}


def test_a_width_is_that_of_two_layers():
    assert options_of({"width": 64, "alpha": 1}) == {"alpha": 1, "hidden": [64, 32]}


def test_a_metric_may_have_options_of_its_own():
    plain, metrical = (set(space_of(Candidate("linear", o))) for o in ("log_loss", "ap"))
    assert plain < metrical


@pytest.mark.parametrize(
    ("rows", "epochs", "patience"),
    [
        (2_560, 300, 60),  # 1500 steps of 512 rows would take 300 epochs
        (1_000, 300, 60),  # and here more than are allowed
        (7_680, 100, 20),
        (100_000, 60, 10),  # an epoch is many steps: the estimator's own length
    ],
)
def test_a_small_table_is_gone_through_more_often(rows, epochs, patience):
    own = {"epochs": 60, "patience": 10, "batch_size": 512}
    assert length_of(own, rows) == {"epochs": epochs, "patience": patience}


def test_what_knows_no_epochs_is_left_alone():
    assert length_of({"alpha": 1.0}, 100) == {}


def test_both_objectives_are_trained_equally_long():
    made = [
        ranker_of(Candidate("neural", objective), {}, metric="ap", seed=0, rows=2_560)
        for objective in ("log_loss", "ap")
    ]
    assert made[0].epochs == made[1].epochs >= 300
    assert made[0].patience == made[1].patience >= 60


@pytest.mark.parametrize(("rows", "threads"), [(1_000, 1), (50_000, -1)])
def test_trees_of_small_tables_are_not_shared_by_threads(rows, threads):
    made = ranker_of(Candidate("boosted", "ap"), {}, metric="ap", seed=0, rows=rows)
    assert made.n_jobs == threads
