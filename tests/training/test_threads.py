from __future__ import annotations

import json

import pytest
import torch

from rankwise.training import RunFolder, reproducible
from rankwise.training.run_folder import ThreadsWarning
from rankwise.training.threads import THREADS


@pytest.fixture
def started(tmp_path):
    with reproducible(tmp_path, threads=3), RunFolder(tmp_path, "toy").opened() as folder:
        folder.write("checkpoint.pt", b"state")
    return tmp_path


def test_the_threads_of_a_run_are_recorded_and_used_again(started):
    before = torch.get_num_threads()
    assert json.loads((started / "run.json").read_text())["threads"] == 3
    with reproducible(started, resume=True) as said:
        assert torch.get_num_threads() == 3
        assert said is None
    assert torch.get_num_threads() == before


def test_another_number_is_said_once_and_by_the_library_as_a_warning(started):
    with reproducible(started, resume=True, threads=2) as said:
        assert "resumed with 2 threads, the run was started with 3" in said
        with RunFolder(started, "toy").opened(resume=True):
            pass
    with (
        pytest.warns(ThreadsWarning, match="was started with 3 threads and is resumed with"),
        RunFolder(started, "toy").opened(resume=True),
    ):
        pass
    assert json.loads((started / "run.json").read_text())["threads"] == 3


@pytest.mark.parametrize(
    ("given", "cores", "wanted"), [("2", 8, 2), (None, 8, THREADS), (None, 3, 3), ("x", 1, 1)]
)
def test_without_a_number_it_is_the_variables_or_at_most_four(
    tmp_path, monkeypatch, given, cores, wanted
):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(cores)))
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    if given is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", given)
    with reproducible(tmp_path):
        assert torch.get_num_threads() == wanted


def test_deterministic_algorithms_are_those_of_the_training_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    with reproducible(tmp_path, deterministic=True):
        assert torch.are_deterministic_algorithms_enabled()
        with RunFolder(tmp_path, "toy").opened():
            assert json.loads((tmp_path / "run.json").read_text())["deterministic"] is True
    assert not torch.are_deterministic_algorithms_enabled()
