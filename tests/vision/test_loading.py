"""Batches that are loaded by other processes."""

from __future__ import annotations

import os
import signal
from multiprocessing import current_process

import pytest
import torch
from torch.utils.data import Dataset

from rankwise.vision import _loading
from rankwise.vision._loading import load_batches


class Numbers(Dataset):
    def __init__(self, last=None):
        self.last = last

    def __getitem__(self, row):
        if row == self.last and current_process().name != "MainProcess":
            os.kill(os.getpid(), signal.SIGKILL)
        return torch.tensor(row)


class Broken(Numbers):
    def __getitem__(self, row):
        raise EOFError("no more rows")


@pytest.mark.parametrize("workers", [0, 1])
def test_batches_come_in_order_and_draw_nothing(workers):
    state = torch.get_rng_state()
    found = list(load_batches(Numbers(), [[0, 1], [2]], torch.stack, workers))
    assert [batch.tolist() for batch in found] == [[0, 1], [2]]
    assert torch.equal(torch.get_rng_state(), state)


def test_a_killed_process_is_torchs_error():
    with pytest.raises(RuntimeError, match=r"^DataLoader worker"):
        list(load_batches(Numbers(last=2), [[0, 1], [2]], torch.stack, 1))


@pytest.mark.parametrize("error", [ConnectionResetError(104, "reset"), EOFError()])
def test_a_connection_that_a_killed_process_closed_is_the_same_error(monkeypatch, error):
    def loader(*given, **options):
        yield torch.tensor([0])
        raise error

    monkeypatch.setattr(_loading, "_SIGNAL", 0.0)
    monkeypatch.setattr(_loading, "DataLoader", loader)
    with pytest.raises(RuntimeError, match=r"^DataLoader worker"):
        list(load_batches(Numbers(), [[0]], torch.stack, 1))
    with pytest.raises(type(error)):
        list(load_batches(Numbers(), [[0]], torch.stack, 0))


@pytest.mark.parametrize("workers", [0, 1])
def test_an_error_of_the_data_set_stays_what_it_is(workers):
    with pytest.raises(EOFError, match="no more rows"):
        list(load_batches(Broken(), [[0]], torch.stack, workers))
