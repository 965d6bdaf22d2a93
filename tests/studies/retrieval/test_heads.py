from __future__ import annotations

import math

import pytest
import torch
from tests.studies.retrieval.tiny import VIEWS, plan
from tests.tasks.retrieval.cases import splits, states_equal

from rankwise.data import DataError
from rankwise.retrieval import evaluate
from rankwise.studies.retrieval.benches import SGD_FACTOR, Pretrained, Scratch, Trial
from rankwise.studies.retrieval.features import features_of
from rankwise.studies.retrieval.heads import HeadLearner, start_of
from rankwise.studies.retrieval.methods import ABLATIONS, METHODS, with_tau
from rankwise.tasks.retrieval.settings import Network

NETWORK = Network("small", options={"width": 2})


@pytest.fixture(scope="module")
def bench():
    tiny = plan()
    features = features_of(tiny.problems[0].splits, NETWORK, VIEWS)
    return Pretrained(tiny.problems[0], tiny, features)


def test_features_are_standardised_by_the_training_images(bench):
    own = bench.features.train.features
    assert own.shape == (24, 16)
    torch.testing.assert_close(own.mean(0), torch.zeros(16), atol=1e-5, rtol=0)
    spread = own.std(0, correction=0)
    used = spread > 0.5  # a feature that is always 0 stays so
    assert used.any()
    torch.testing.assert_close(spread[used], torch.ones(int(used.sum())), atol=1e-2, rtol=0)
    assert not torch.allclose(bench.features.test.features.mean(0), torch.zeros(16), atol=1e-3)


def test_features_are_read_again_and_refused_for_other_pictures(tmp_path, monkeypatch):
    path, given = tmp_path / "features.npz", splits()
    first = features_of(given, NETWORK, VIEWS, path)

    def never(*_: object) -> None:
        raise AssertionError("computed again")

    monkeypatch.setattr("rankwise.studies.retrieval.features._computed", never)
    again = features_of(given, NETWORK, VIEWS, path)
    for part in ("train", "validation", "test"):
        assert torch.equal(getattr(first, part).features, getattr(again, part).features)
    with pytest.raises(DataError, match=r"features in .* are of"):
        features_of(splits(test=given.validation), NETWORK, VIEWS, path)


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


def test_the_start_is_the_same_whatever_the_method(bench):
    by_name = {method.name: method for method in METHODS}

    def start(name, seed):
        method = by_name[name]
        settings = bench.settings(Trial(method, method.tries[0], 0.01, seed))
        with torch.random.fork_rng(devices=[]):
            return HeadLearner(bench.features, settings).head.state_dict()

    assert states_equal(start("SOPRC", 1), start("XBM", 1))


def test_a_head_starts_at_the_principal_directions(bench):
    features = bench.features.train.features
    weight = start_of(features, 4).projection.weight.detach()
    torch.testing.assert_close(weight @ weight.T, torch.eye(4), atol=1e-5, rtol=0)
    kept = (features @ weight.T).square().sum()
    others = torch.linalg.qr(torch.randn(16, 4, generator=torch.Generator().manual_seed(0))).Q
    assert kept > (features @ others).square().sum()
    wide = start_of(features[:3], 8)  # more numbers than there are directions
    assert torch.isfinite(wide(features, [])).all()
    assert wide.projection.weight[3:].count_nonzero() == 0


def test_the_head_of_the_best_validation_is_kept(bench):
    trial = Trial(METHODS[3], METHODS[3].tries[0], 0.5, 0)
    head, history = bench.train(trial)
    part = bench.features.validation
    found = evaluate(head(part.features, []).detach(), part.labels, hits=(1,)).map
    assert found == max(row["map"] for row in history)
    again, same = bench.train(trial)
    assert same == history
    assert states_equal(head.state_dict(), again.state_dict())


def test_mixing_doubles_the_images_of_a_class(bench):
    method = next(method for method in METHODS if method.mixup)
    settings = bench.settings(Trial(method, method.tries[0], 0.01, 0))
    with torch.random.fork_rng(devices=[]):
        learner = HeadLearner(bench.features, settings)
        seen = []
        learner.head.register_forward_hook(lambda m, i, output: seen.append(len(output)))
        learner.step(torch.tensor([0, 1, 4, 5, 8, 9]))
    assert set(seen) == {12}


def test_untrained_is_the_gallery_by_the_features_and_by_the_start(bench):
    part = bench.features.test
    found = bench.untrained()
    assert found["features"]["map"] == evaluate(part.features, part.labels).map
    start = start_of(bench.features.train.features, 4)(part.features, []).detach()
    assert found["start"]["map"] == evaluate(start, part.labels).map


def test_settings_follow_the_method(bench):
    by_name = {method.name: method for method in (*METHODS, *ABLATIONS)}

    def settings(name):
        return bench.settings(Trial(by_name[name], by_name[name].tries[0], 0.01, 0))

    assert settings("XBM").memory.size == 24
    assert settings("contrastive").memory.size == 0
    heavy = settings("StableAP 3, SGD s = 0").optimiser
    assert (heavy.name, heavy.s, heavy.learning_rate) == ("sgd", 0.0, 0.01 * SGD_FACTOR)
    assert settings("StableAP").objective.previous
    scratch = Scratch(bench.problem, bench.plan)
    mixed = by_name["StableAP + DFM"]
    assert scratch.settings(Trial(mixed, mixed.tries[0], 0.01, 0)).mixup.stages == 2


def test_all_but_one_method_have_two_tries():
    assert {method.name for method in METHODS if len(method.tries) != 2} == {"SoDeep"}
    assert len({method.name for method in METHODS}) == 14
    assert sum(method.ours for method in METHODS) == 3
