from __future__ import annotations

import pytest
import torch
from tests.reproductions.retrieval.tiny import pretrained
from tests.tasks.retrieval.cases import states_equal

from reproductions.retrieval.benches import Trial
from reproductions.retrieval.features import Part
from reproductions.retrieval.heads import HeadLearner, start_of
from reproductions.retrieval.methods import METHODS


@pytest.fixture(scope="module")
def bench():
    return pretrained()


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
    weight = start_of(bench.features.train, 4).projection.weight.detach()
    torch.testing.assert_close(weight @ weight.T, torch.eye(4), atol=1e-5, rtol=0)
    kept = (features @ weight.T).square().sum()
    others = torch.linalg.qr(torch.randn(16, 4, generator=torch.Generator().manual_seed(0))).Q
    assert kept > (features @ others).square().sum()
    wide = start_of(
        Part(features[:3], torch.arange(3)), 8
    )  # more numbers than there are directions
    assert torch.isfinite(wide(features, [])).all()
    assert wide.projection.weight[3:].count_nonzero() == 0


def test_mixing_doubles_the_images_of_a_class(bench):
    method = next(method for method in METHODS if method.mixup)
    settings = bench.settings(Trial(method, method.tries[0], 0.01, 0))
    with torch.random.fork_rng(devices=[]):
        learner = HeadLearner(bench.features, settings)
        seen = []
        learner.head.register_forward_hook(lambda m, i, output: seen.append(len(output)))
        learner.step(torch.tensor([0, 1, 4, 5, 8, 9]))
    assert set(seen) == {12}
