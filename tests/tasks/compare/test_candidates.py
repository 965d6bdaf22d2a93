from __future__ import annotations

import optuna
import pytest
from optuna.distributions import IntDistribution

import rankwise.estimators
from rankwise.data import DataError
from rankwise.tasks.compare.candidates import (
    CLASSES,
    Candidate,
    candidates,
    length_of,
    objective_for,
    options_of,
)
from rankwise.tasks.compare.fit import ranker_of


def names(metric, words):
    return [each.name for each in candidates(metric, words)]


def test_four_of_each_kind_and_the_second_fit_of_the_control():
    found = candidates("ap", "linear,boosted")
    assert [each.name for each in found] == [
        "linear, log-loss",
        "linear, ap",
        "linear, log-loss + ap",
        "linear, log-loss, second fit",
        "linear, two log-losses",
        "boosted, log-loss",
        "boosted, ap",
        "boosted, log-loss + ap",
        "boosted, log-loss, second fit",
        "boosted, two log-losses",
    ]
    assert [each.is_log_loss for each in found[:5]] == [True, False, False, True, False]
    assert [each.is_control for each in found[:5]] == [False, False, False, False, True]
    assert [each.second for each in found[:5]] == [False, False, False, True, False]
    assert found[2].parts == ("linear, log-loss", "linear, ap")
    assert found[4].parts == ("linear, log-loss", "linear, log-loss, second fit")
    assert len({each.key for each in found}) == 10


def test_a_second_fit_draws_its_rows_where_the_estimator_can():
    first, second = (Candidate("boosted", "log_loss", second=second) for second in (False, True))
    assert ranker_of(first, {}, 100).subsample == 1.0
    assert ranker_of(second, {}, 100).subsample == 0.8
    assert second.space() == first.space()
    linear = ranker_of(Candidate("linear", "log_loss", second=True), {}, 100)
    assert linear.get_params() == ranker_of(Candidate("linear", "log_loss"), {}, 100).get_params()


def test_one_alone_and_none_twice():
    assert names("ap", "linear:log_loss, boosted:soprc") == ["linear, log-loss", "boosted, soprc"]
    assert names("ap", "neural:both,neural") == names("ap", "neural")
    assert names("auc", "linear:log-loss,linear:opauc(max_fpr=.1, form=kl)") == [
        "linear, log-loss",
        "linear, opauc(max_fpr=.1, form=kl)",
    ]


def test_keys_are_good_names_of_folders():
    (_, metrical, both, second, control) = candidates("opauc(max_fpr=0.05)", "boosted")
    assert metrical.key == "boosted-opauc-max-fpr=0.05"
    assert both.key == "boosted-log-loss-opauc-max-fpr=0.05"
    assert second.key == "boosted-log-loss-second-fit"
    assert control.key == "boosted-two-log-losses"


@pytest.mark.parametrize(
    ("metric", "objective"),
    [
        ("ap", "ap"),
        ("opauc(max_fpr=0.1)", "opauc(max_fpr=0.1)"),
        ("ndcg@10", "ndcg@10"),
        ("mrr", "ap"),
        ("r_precision", "ap"),
    ],
)
def test_a_metric_without_an_objective_gets_average_precision(metric, objective):
    assert objective_for(metric) == objective


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("tree", "must be a list of linear, boosted, neural.* got 'tree'"),
        ("linear,,boosted", "has an empty place"),
        ("linear:aap", 'did you mean "ap"'),
        ("linear:ap", "add linear:log_loss"),
    ],
)
def test_what_cannot_compete(words, message):
    with pytest.raises(DataError, match=message):
        candidates("ap", words)


def test_objectives_are_shown_under_the_names_of_rankwise():
    found = candidates("ap", "linear:log_loss,boosted:roc_auc,boosted:average_precision")
    assert [each.name for each in found] == ["linear, log-loss", "boosted, auc", "boosted, ap"]


@pytest.mark.parametrize("objective", ["log_loss", "ap"])
@pytest.mark.parametrize("model", CLASSES)
def test_the_first_options_lie_in_the_space_and_the_estimator_knows_them(model, objective):
    candidate = Candidate(model, objective)
    study = optuna.create_study()
    study.enqueue_trial(candidate.defaults())
    space = candidate.space()
    first = study.ask(space).params
    assert first == candidate.defaults()
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
    plain, metrical = (set(Candidate("linear", o).space()) for o in ("log_loss", "ap"))
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
        ranker_of(Candidate("neural", objective), {}, 2_560, metric="ap")
        for objective in ("log_loss", "ap")
    ]
    assert made[0].epochs == made[1].epochs >= 300
    assert made[0].patience == made[1].patience >= 60


@pytest.mark.parametrize(("rows", "threads"), [(1_000, 1), (50_000, -1)])
def test_trees_of_small_tables_are_not_shared_by_threads(rows, threads):
    made = ranker_of(Candidate("boosted", "ap"), {}, rows, metric="ap")
    assert made.n_jobs == threads


@pytest.mark.parametrize(
    ("metric", "objective"),
    [
        ("auc(scheme=ovo)", "auc"),
        ("ap(average=weighted)", "ap"),
        ("opauc(max_fpr=.05)", "opauc(max_fpr=.05)"),
        ("r_precision", "ap"),
    ],
)
def test_a_mean_over_classes_has_the_objective_of_its_metric(metric, objective):
    assert objective_for(metric) == objective
