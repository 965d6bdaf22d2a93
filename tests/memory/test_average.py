from __future__ import annotations

import copy
import io
import math

import pytest
import torch

from rankwise.memory import DeferredAverage, FCCOAverage, MovingAverage


def column(*values: float) -> torch.Tensor:
    return torch.tensor(values).unsqueeze(1)


def test_first_visit_starts_it_and_later_ones_move_it():
    memory = MovingAverage(5, ema_rate=0.25)
    assert memory.update(torch.tensor([2]), column(8.0)).item() == 8
    assert memory.update(torch.tensor([2]), column(4.0)).item() == 0.75 * 8 + 0.25 * 4
    assert memory.seen.tolist() == [False, False, True, False, False]


@pytest.mark.parametrize("log", [False, True])
def test_a_rate_of_0_keeps_the_first_estimate_of_every_id(log):
    memory = MovingAverage(2, ema_rate=0, log=log)
    assert memory.update(torch.tensor([0, 0]), column(2.0, 2.0)).squeeze(1).tolist() == [2, 2]
    for estimate in (-5.0, 70.0, math.inf):
        assert memory.update(torch.tensor([0]), column(estimate)).item() == 2
    assert memory.update(torch.tensor([1, 0]), column(7.0, 9.0)).squeeze(1).tolist() == [7, 2]
    assert memory.value.squeeze(1).tolist() == [2, 7]


def test_logarithms_with_a_rate_of_0_stay_where_only_the_model_may_move_them():
    memory = MovingAverage(1, ema_rate=0, correction=1.0, log=True)
    for estimate in (3.0, 5.0):
        assert memory.update(torch.tensor([0]), column(estimate)).item() == 3


def test_sizes_and_rate_are_shown():
    assert repr(MovingAverage(4, 3, ema_rate=0.5)) == (
        "MovingAverage(num_items=4, width=3, ema_rate=0.5)"
    )


def test_a_rate_of_0_is_fixed_also_where_the_model_moves_unless_it_is_corrected():
    key = torch.zeros(1, dtype=torch.long)
    fixed, moving = (MovingAverage(1, ema_rate=0, correction=c) for c in (None, 1.0))
    for memory, expected in ((fixed, 1.0), (moving, 2.5)):
        memory.update(key, column(1.0))
        assert memory.update(key, torch.tensor([[3.5, 2.0]])).item() == expected


def test_a_preview_of_ids_in_rows_leaves_the_state():
    memory = MovingAverage(3, ema_rate=0.25)
    memory.update(torch.tensor([0, 1]), column(8.0, 4.0))
    ids, estimates = torch.tensor([[1, 0], [2, 1]]), torch.tensor([[0.0, 12.0], [5.0, 8.0]])
    found = memory.preview(ids, estimates.unsqueeze(-1)).squeeze(-1)
    assert found.tolist() == [[0.75 * 4, 0.75 * 8 + 0.25 * 12], [5, 0.75 * 4 + 0.25 * 8]]
    assert memory.value.squeeze(1).tolist() == [8, 4, 0]


def test_an_update_after_the_call_has_the_width_of_the_average():
    assert DeferredAverage(2, 3, ema_rate=0.5).update_width == 3


def test_duplicates_in_a_batch_are_averaged():
    memory = MovingAverage(3, ema_rate=0.5)
    memory.update(torch.tensor([0, 1]), column(10.0, 20.0))
    after = memory.update(torch.tensor([1, 0, 1]), column(0.0, 0.0, 40.0))
    assert after.squeeze(1).tolist() == [20, 5, 20]  # ½·20 + ½·mean(0, 40)
    assert memory.value.squeeze(1).tolist() == [5, 20, 0]


def test_previous_estimates_correct_for_the_moving_model():
    memory = MovingAverage(1, ema_rate=0.1)
    key = torch.zeros(1, dtype=torch.long)
    memory.update(key, column(1.0))
    after = memory.update(key, torch.tensor([[3.0, 2.0]]))
    assert after.item() == pytest.approx(3 + 0.9 * (1 - 2))


@pytest.mark.parametrize("how", ["eval", "no_grad"])
def test_only_training_changes_it(how):
    memory = MovingAverage(2, ema_rate=0.5)
    memory.update(torch.tensor([0]), column(1.0))
    before = copy.deepcopy(memory.state_dict())
    if how == "eval":
        memory.eval()
        seen = memory.update(torch.tensor([0, 1]), column(9.0, 7.0))
    else:
        with torch.no_grad():
            seen = memory.update(torch.tensor([0, 1]), column(9.0, 7.0))
    assert seen.squeeze(1).tolist() == [1, 7]  # what is known, or the estimate where nothing is
    for name, value in memory.state_dict().items():
        assert torch.equal(value, before[name])


def test_state_goes_through_a_file():
    memory = MovingAverage(4, 3, ema_rate=0.5)
    memory.update(torch.tensor([1, 3]), torch.randn(2, 3))
    file = io.BytesIO()
    torch.save(memory.state_dict(), file)
    file.seek(0)
    other = MovingAverage(4, 3, ema_rate=0.5)
    other.load_state_dict(torch.load(file, weights_only=True))
    estimate = torch.randn(2, 3)
    assert torch.equal(
        other.update(torch.tensor([1, 2]), estimate), memory.update(torch.tensor([1, 2]), estimate)
    )


def test_no_gradient_flows_and_empty_batches_pass():
    memory = MovingAverage(2, ema_rate=0.5)
    assert not memory.update(torch.tensor([0]), column(1.0).requires_grad_()).requires_grad
    assert memory.update(torch.zeros(0, dtype=torch.long), torch.zeros(0, 1)).shape == (0, 1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: MovingAverage(3, ema_rate=-0.1), r"ema_rate must be in \[0, 1\], got -0.1"),
        (lambda: FCCOAverage(3, ema_rate=0.0), r"ema_rate must be in \(0, 1\], got 0.0"),
        (lambda: MovingAverage(0, ema_rate=0.1), "num_items must be a whole number >= 1, got 0"),
        (lambda: MovingAverage(3, 0, ema_rate=0.1), "width must be a whole number >= 1, got 0"),
        (
            lambda: MovingAverage(3, ema_rate=0.1).update(torch.tensor([3]), column(1.0)),
            "ids must lie between 0 and 2, got values from 3 to 3",
        ),
        (
            lambda: MovingAverage(3, ema_rate=0.1).update(torch.tensor([-1]), column(1.0)),
            "ids must lie between 0 and 2",
        ),
        (
            lambda: MovingAverage(3, ema_rate=0.1).update(torch.tensor([1.0]), column(1.0)),
            "ids must hold integers, got torch.float32",
        ),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_logarithms_are_averaged_as_what_they_are_of():
    memory = MovingAverage(2, ema_rate=0.25, log=True)
    memory.update(torch.tensor([0, 0]), column(2.0, 6.0).log())
    assert memory.value[0].exp().item() == pytest.approx(4)
    memory.update(torch.tensor([0]), column(8.0).log())
    assert memory.value[0].exp().item() == pytest.approx(0.75 * 4 + 0.25 * 8)
    memory.update(torch.tensor([1]), column(-1e5))
    assert memory.update(torch.tensor([1]), column(1e5)).item() == pytest.approx(
        1e5 + math.log(0.25)
    )
    memory = MovingAverage(1, ema_rate=0.25, log=True)
    twice = memory.update(torch.tensor([0, 0]), column(-1e5, -1e5))
    assert twice.squeeze(1).tolist() == pytest.approx([-1e5, -1e5])
    whole = MovingAverage(1, ema_rate=1.0, log=True)
    whole.update(torch.tensor([0]), column(3.0))
    assert whole.update(torch.tensor([0]), column(5.0)).item() == 5


def test_the_share_of_the_models_change_can_be_chosen():
    memory = MovingAverage(1, ema_rate=0.5, correction=3.0)
    key = torch.zeros(1, dtype=torch.long)
    memory.update(key, column(1.0))
    assert memory.update(key, torch.tensor([[4.0, 2.0]])).item() == 2.5 + 3 * 2
    assert MovingAverage(1, ema_rate=0.5, correction=0.0).correction == 0
    with pytest.raises(ValueError, match="correction must be a finite number >= 0, got -1"):
        MovingAverage(1, ema_rate=0.5, correction=-1)
    log = MovingAverage(1, ema_rate=0.5, log=True)
    log.update(key, column(1.0))
    with pytest.raises(ValueError, match="not for logarithms"):
        log.update(key, torch.tensor([[1.0, 1.0]]))


def test_an_invalid_estimate_changes_nothing():
    for rows in (1, 3):
        memory, ids = MovingAverage(rows, ema_rate=0.5), torch.arange(rows)
        nothing = torch.zeros(rows, dtype=torch.bool)
        memory.update(ids, torch.full((rows, 1), torch.nan), valid=nothing)
        assert not memory.seen.any()
        memory.update(ids, torch.full((rows, 1), 4.0), valid=~nothing)
        memory.update(ids, torch.full((rows, 1), torch.inf), valid=nothing)
        assert memory.seen.all()
        assert memory.value.tolist() == [[4.0]] * rows
