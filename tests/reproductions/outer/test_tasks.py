"""The arms of every task, and what trains them."""

from __future__ import annotations

import math

import pytest
import torch
from tests.reproductions.outer.tiny import problems, rows, splits

import rankwise
from reproductions.outer.arms import ARMS, PUBLISHED
from reproductions.outer.problem import REFERENCE, Problem
from reproductions.outer.ranking import folds
from reproductions.outer.retrieval import redrawn
from reproductions.outer.tables import row_problem
from reproductions.retrieval.features import Features, Part

EVERY = [(task, arm) for task, arms in ARMS.items() for arm in arms]
PROBLEMS = problems()


@pytest.mark.parametrize("task", ARMS)
def test_a_table_of_arms(task):
    arms = ARMS[task]
    assert len({arm.name for arm in arms}) == len({arm.key for arm in arms}) == len(arms) <= 28
    assert arms[0].family == REFERENCE
    assert set(PUBLISHED) < {arm.name for arm in arms}
    assert any("log" in arm.name for arm in arms)


def test_objectives_are_names_of_the_grammar():
    special = {"softmax", "class_balanced"}  # of the recommender, and with counts of the classes
    for _, arm in EVERY:
        if arm.objective not in special:
            assert rankwise.objective(arm.objective_of(10), prior=0.1, num_lists=2) is not None


def test_log_to_ap_ends_in_the_middle_of_a_training():
    found = [arm for _, arm in EVERY if "{steps}" in arm.objective]
    assert found
    assert all("outer_steps=50" in arm.objective_of(100) for arm in found)
    assert "outer_steps=1" in found[0].objective_of(1)


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda p: f"{p.task}, {p.name}")
def test_a_problem_is_trained_alike_with_and_without_its_test(problem: Problem):
    arm = ARMS[problem.task][0]
    screened, tested = (problem.train(arm, 1, test) for test in (False, True))
    assert screened.test is None
    assert screened.validation == tested.validation
    assert 0 <= tested.test <= 1
    assert not math.isnan(tested.test)


def test_without_a_test_its_rows_are_not_there():
    asked = []

    class Watched(list):
        def __getitem__(self, place):
            asked.append(place)
            return super().__getitem__(place)

    row_problem("p", lambda seed: Watched(rows(seed)), 1).train(ARMS["tables"][0], 0, False)
    assert asked == [slice(None, 2)]


def test_five_seeds_test_on_every_query_once():
    parts = [folds(23, seed) for seed in range(1, 6)]
    assert sorted(torch.cat([test for _, _, test in parts]).tolist()) == list(range(23))
    for one in parts:
        assert sorted(torch.cat(one).tolist()) == list(range(23))


def test_validation_classes_of_features_are_drawn_again():
    known = splits(0)
    part = {
        name: Part(torch.randn(len(own), 3), own.labels)
        for name, own in vars(known).items()
        if name in ("train", "validation", "test")
    }
    features = Features(**part)
    one, other = redrawn(features, 1), redrawn(features, 2)
    assert len(one.train.labels) + len(one.validation.labels) == 36  # 9 classes of 4
    assert sorted(set(one.train.labels.tolist())) == list(range(7))
    assert not torch.equal(one.validation.features, other.validation.features)
    assert one.train.features.mean(0).abs().max() < 1e-5
