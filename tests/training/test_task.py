from __future__ import annotations

import torch

from rankwise.training import Moment, Place


def draws(moment: Moment, part: int) -> list[float]:
    moment.start(part)
    return torch.rand(3).tolist()


def test_random_numbers_follow_from_seed_step_process_and_part():
    with torch.random.fork_rng(devices=[]):
        moment = Moment(4, Place(rank=1), seed=7)
        first = draws(moment, 0)
        assert draws(Moment(4, Place(rank=1), seed=7), 0) == first
        for other, part in (
            (moment, 1),
            (Moment(5, Place(rank=1), seed=7), 0),
            (Moment(4, Place(rank=0), seed=7), 0),
            (Moment(4, Place(rank=1), seed=8), 0),
        ):
            assert draws(other, part) != first


def test_without_a_seed_the_generator_goes_on():
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        first = draws(Moment(0), 0)
        assert draws(Moment(0), 0) != first
