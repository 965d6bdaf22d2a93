"""Objectives of your own by name, and names of objects."""

from __future__ import annotations

import gc

import pytest
import torch

import rankwise
from rankwise.naming import metric_of, name_of
from rankwise.naming.registry import REGISTRY
from rankwise.objectives import SOPRC, AveragePrecision, PairwiseAUC, XRisk
from rankwise.pairs import SquaredHinge


class LogAUC(XRisk):
    def __init__(self, margin: float = 1.0, *, num_items: int | None = None) -> None:
        super().__init__(SquaredHinge(margin), torch.log1p, num_items=num_items)


@pytest.fixture(autouse=True)
def only_here(monkeypatch):
    monkeypatch.setattr(REGISTRY, "entries", dict(REGISTRY.entries))


def test_a_registered_class_takes_options_and_facts():
    assert rankwise.register("log_auc", LogAUC, metric="auc") is LogAUC
    made = rankwise.objective("LOG-auc(2.0)", prior=0.1, num_items=7)
    assert (made.inner.margin, made.memory_size) == (2.0, 7)
    assert metric_of("log_auc") == "auc"


def test_a_registered_object_is_copied_for_every_use():
    rankwise.register("shared", LogAUC(num_items=2))
    first, second = (rankwise.objective("shared") for _ in range(2))
    first(torch.zeros(2), torch.tensor([1, 0]), item_ids=torch.arange(2))
    assert first.state_dict()["average.seen"].any()
    assert not second.state_dict()["average.seen"].any()
    assert metric_of("shared") == "ap"


@pytest.mark.parametrize(
    ("name", "objective", "metric", "why"),
    [
        ("ap", LogAUC, None, "is an objective of rankwise"),
        ("average_precision", LogAUC, None, "is an objective of rankwise"),
        ("two words", LogAUC, None, "cannot be read"),
        ("mine(1)", LogAUC, None, "one word"),
        ("mine", 3, None, "class or an objective, got 3"),
        ("mine", dict, None, "subclass of nn.Module, got the class dict"),
        ("mine", torch.log1p, None, "a Python function that returns one, got <built-in"),
        ("mine", LogAUC, "no_metric", "no metric is called"),
    ],
)
def test_what_cannot_be_registered_is_refused(name, objective, metric, why):
    with pytest.raises(ValueError, match=why):
        rankwise.register(name, objective, metric=metric)


def test_a_function_that_makes_an_objective_is_registered():
    rankwise.register("made", lambda margin=1.0: LogAUC(margin))
    assert rankwise.objective("made(3.0)").inner.margin == 3.0


def test_a_name_registered_again_is_replaced():
    rankwise.register("mine", LogAUC)
    rankwise.register("mine", PairwiseAUC)
    assert isinstance(rankwise.objective("mine"), PairwiseAUC)


def test_a_wrong_name_is_compared_with_registered_ones():
    rankwise.register("log_auc", LogAUC)
    with pytest.raises(ValueError, match='did you mean "log_auc"'):
        rankwise.objective("log_auk")


@pytest.mark.parametrize("made", [AveragePrecision(), PairwiseAUC("logistic")])
def test_the_name_of_an_objective_of_rankwise_is_its_repr(made):
    assert name_of(made) == repr(made)


def test_an_object_without_a_name_gets_one_while_it_lives():
    made = XRisk(SquaredHinge(1.0), torch.log1p)
    name = name_of(made)
    assert name_of(made) == name
    assert rankwise.objective(name).outer is torch.log1p
    del made
    gc.collect()
    with pytest.raises(ValueError, match="no objective is called"):
        rankwise.objective(name)


def test_the_name_of_an_object_is_neither_listed_nor_suggested():
    made = XRisk(SquaredHinge(1.0), torch.log1p)
    name = name_of(made)
    assert name not in [entry.names[0] for entry in REGISTRY.all()]
    with pytest.raises(ValueError, match="no objective is called") as caught:
        rankwise.objective(f"{name}0")
    assert "did you mean" not in str(caught.value)


def test_the_memory_of_an_object_is_kept():
    made = SOPRC(prior=0.1, num_lists=3)
    copied = rankwise.objective(name_of(made))
    assert copied is not made
    assert copied.state_dict().keys() == made.state_dict().keys()


@pytest.mark.parametrize("wrong", [LogAUC, 3, None])
def test_what_is_neither_name_nor_objective_is_refused(wrong):
    with pytest.raises(ValueError, match="objective must be a name such as 'ap'"):
        name_of(wrong)
