from __future__ import annotations

import math

import pytest
import torch
from tests.reproductions.retrieval.tiny import pretrained
from tests.tasks.retrieval.cases import states_equal

from rankwise.retrieval import evaluate
from reproductions.retrieval.benches import SGD_FACTOR, Pretrained, Scratch, Trial
from reproductions.retrieval.heads import start_of
from reproductions.retrieval.methods import ABLATIONS, METHODS, with_tau


@pytest.fixture(scope="module")
def bench():
    return pretrained()


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
@pytest.mark.parametrize("kind", [Pretrained, Scratch])
def test_every_method_trains_and_starts_alike(bench, kind, method):
    tiny = bench.plan
    own = bench if kind is Pretrained else Scratch(tiny.problems[0], tiny)
    for name in method.tries:
        network, history = own.train(Trial(method, name, 0.01, 0))
        assert all(math.isfinite(row["map"]) for row in history)
        lengths = own.test(network).norm(dim=1)
        torch.testing.assert_close(lengths, torch.ones_like(lengths))


@pytest.mark.parametrize("method", [*ABLATIONS, *with_tau(".03")], ids=lambda method: method.name)
def test_every_line_of_the_ablations_trains(bench, method):
    head, history = bench.train(Trial(method, method.tries[0], 0.01, 0))
    assert len(history) == 2
    assert all(torch.isfinite(value).all() for value in head.state_dict().values())


def test_the_head_of_the_best_validation_is_kept(bench):
    trial = Trial(METHODS[3], METHODS[3].tries[0], 0.5, 0)
    head, history = bench.train(trial)
    part = bench.features.validation
    found = evaluate(head(part.features, []).detach(), part.labels, hits=(1,)).map
    assert found == max(row["map"] for row in history)
    again, same = bench.train(trial)
    assert same == history
    assert states_equal(head.state_dict(), again.state_dict())


def test_untrained_is_the_gallery_by_the_features_and_by_the_start(bench):
    part = bench.features.test
    found = bench.untrained()
    assert found["features"]["map"] == evaluate(part.features, part.labels).map
    start = start_of(bench.features.train, 4)(part.features, []).detach()
    assert found["start"]["map"] == evaluate(start, part.labels).map


def test_settings_follow_the_method(bench):
    by_name = {method.name: method for method in (*METHODS, *ABLATIONS)}

    def settings(name):
        return bench.settings(Trial(by_name[name], by_name[name].tries[0], 0.01, 0))

    assert settings("XBM").memory.size == 24
    assert settings("contrastive").memory.size == 0
    heavy = settings("StableAP 3, SGD s = 0").optimizer
    assert (heavy.name, heavy.s, heavy.learning_rate) == ("sgd", 0.0, 0.01 * SGD_FACTOR)
    assert settings("StableAP").objective.previous
    scratch = Scratch(bench.problem, bench.plan)
    mixed = by_name["StableAP + DFM"]
    assert scratch.settings(Trial(mixed, mixed.tries[0], 0.01, 0)).mixup.stages == 2
