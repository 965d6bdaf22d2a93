from __future__ import annotations

import torch
from torch import nn

from rankwise.memory import PreviousModel


def test_scores_are_those_of_the_parameters_one_call_ago():
    torch.manual_seed(0)
    model = nn.Linear(3, 1)
    previous, x = PreviousModel(model), torch.randn(4, 3)
    assert torch.equal(previous(x), model(x))  # nothing earlier is known
    for _ in range(3):
        before = model(x).detach()
        with torch.no_grad():
            model.weight.add_(1.0)
        scores = previous(x)
        assert torch.equal(scores, before)
        assert not scores.requires_grad


def test_the_first_call_uses_the_parameters_of_that_call():
    model = nn.Linear(3, 1)
    previous, x = PreviousModel(model), torch.randn(4, 3)
    with torch.no_grad():
        model.weight.add_(1.0)
    assert torch.equal(previous(x), model(x))


def test_running_statistics_count_once_and_the_model_is_not_saved_twice():
    model = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))
    previous, x = PreviousModel(model), torch.randn(8, 3)
    model(x)
    before = {name: buffer.clone() for name, buffer in model.named_buffers()}
    previous(x)
    for name, buffer in model.named_buffers():
        assert torch.equal(buffer, before[name])
    assert list(previous.parameters()) == []


def test_state_resumes():
    model = nn.Linear(3, 1)
    previous, x = PreviousModel(model), torch.randn(4, 3)
    previous(x)
    with torch.no_grad():
        model.weight.mul_(2)
    other = PreviousModel(model)
    other.load_state_dict(previous.state_dict())
    assert torch.equal(other(x), previous(x))


def test_evaluation_keeps_what_is_kept():
    model = nn.Linear(3, 1)
    previous, x = PreviousModel(model), torch.randn(4, 3)
    previous(x)
    kept = model(x).detach()
    previous.eval()
    with torch.no_grad():
        model.weight.add_(1.0)
    previous(x)
    assert torch.equal(previous(x), kept)
