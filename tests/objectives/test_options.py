from __future__ import annotations

import copy
import pickle

import pytest
import torch

from rankwise.objectives import SOAP, SOPRC, AveragePrecision
from rankwise.objectives._options import given_options, written
from rankwise.pairs import Hinge, SquaredHinge

DEFAULT = SquaredHinge(1.0)


class Thing:
    def __init__(self, size: int, *, loss=DEFAULT, words: str = "a") -> None: ...


def test_arguments_by_place_and_by_name():
    assert given_options(Thing, (3,), {"words": "b"}) == {"size": 3, "words": "b"}
    assert given_options(Thing, (), {"nothing": 1}) == {}  # the constructor says what is wrong


def test_defaults_are_left_out():
    assert written(Thing, {"size": 3, "loss": SquaredHinge(1.0), "words": "b"}) == (
        "Thing(size=3, words='b')"
    )
    assert (
        written(Thing, {"size": 3, "loss": Hinge(2.0)}) == "Thing(size=3, loss=Hinge(margin=2.0))"
    )


def test_an_objective_says_how_it_was_made():
    objective = SOAP(0.1, 50, ema_rate=0.9, surrogate=Hinge(1.0))
    assert objective.options == {
        "prior": 0.1,
        "num_items": 50,
        "ema_rate": 0.9,
        "surrogate": Hinge(1.0),
    }
    assert repr(objective) == "SOAP(prior=0.1, num_items=50, surrogate=Hinge(margin=1.0))"
    assert repr(AveragePrecision()) == "AveragePrecision()"
    priors = torch.tensor([0.25, 0.5])
    assert repr(SOPRC(priors, num_lists=2)) == "SOPRC(prior=[0.25, 0.5], num_lists=2)"


@pytest.mark.parametrize("way", [copy.deepcopy, lambda o: pickle.loads(pickle.dumps(o))])
def test_copies_say_the_same(way):
    objective = SOPRC(0.1, num_lists=3)
    assert repr(way(objective)) == repr(objective)
