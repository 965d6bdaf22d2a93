from __future__ import annotations

import numpy as np
import pytest
import torch

from rankwise.data.images import RetrievalSplits
from rankwise.demo import race
from rankwise.demo.characters import read_characters
from rankwise.demo.race import LOSSES, Loss, Race, Size
from rankwise.demo.report import chance, image_words


@pytest.fixture(scope="module")
def small() -> RetrievalSplits:
    """Thirty characters to train on, twelve to test on."""
    whole = read_characters()
    few = [part.subset((part.labels < n).nonzero().flatten(), renumber=True)
           for part, n in ((whole.train, 30), (whole.test, 12))]  # fmt: skip
    return RetrievalSplits(few[0], whole.validation, few[1])


@pytest.fixture(scope="module")
def short(small) -> Race:
    return race.run(small, Size(3, 2, (2, 3)), seed=0)


def test_only_the_loss_differs(small) -> None:
    """Three times the same loss is three times the same network."""
    same = [Loss(name, "sup_con(temperature=.1)") for name in "abc"]
    before = torch.get_rng_state()
    found = race.run(small, Size(3, 2, (3,)), 1, same)
    assert torch.equal(torch.get_rng_state(), before)
    first, *others = (states[-1].embeddings for states in found.states.values())
    for other in others:
        assert torch.equal(first, other)
    assert not torch.equal(first, found.states["a"][0].embeddings)
    configs = [race.settings(loss, Size(), 7).plain() for loss in LOSSES]
    assert len({str(config.pop("objective")) for config in configs}) == len(LOSSES)
    assert configs[0] == configs[1] == configs[2]


def test_looks_are_after_the_steps_asked_for(short) -> None:
    for states in short.states.values():
        assert [state.step for state in states] == [0, 2, 3]
    losses = {name: states[-1].embeddings for name, states in short.states.items()}
    assert not torch.equal(losses["SupCon"], losses["SOPRC"])


def test_callbacks_see_every_step_and_look(small) -> None:
    steps, looks = [], []
    race.run(small, Size(2, 2, (2,)), 0, on_step=lambda *at: steps.append(at),
             on_look=lambda step, values: looks.append((step, len(values))))  # fmt: skip
    assert steps == [(0, 1), (1, 1), (2, 1), (0, 2), (1, 2), (2, 2)]
    assert looks == [(2, 3)]


def test_the_difference_is_paired_by_character(short) -> None:
    other = short.best_other
    assert short.last(other).map == max(short.last(loss.name).map for loss in LOSSES[:-1])
    found = short.difference(other)
    own, others = (short.last(name).per_class for name in (short.ours, other))
    assert len(own) == 12
    assert found.difference == pytest.approx(np.mean([own[c] - others[c] for c in own]))
    assert found.low <= found.difference <= found.high
    assert (
        f"{found.difference:+.3f} (95 % over characters {found.low:+.3f} to {found.high:+.3f})"
        in image_words(short)
    )
    same = short.difference(short.ours)
    assert (same.difference, same.low, same.high) == (0, 0, 0)


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (0.01, 0.02, "clearly better"),
        (-0.02, -0.01, "clearly worse"),
        (-0.01, 0.02, "the difference may be chance"),
    ],
)
def test_chance_is_said_from_the_interval(low, high, words) -> None:
    assert chance(low, high) == words
