"""Which problems a folder has, and what is said where it has none."""

from __future__ import annotations

from pathlib import Path

import pytest

from rankwise.data import DataError
from reproductions.longtail.problems import RARE, real_problems


def test_without_a_folder_it_is_said_what_is_needed() -> None:
    with pytest.raises(DataError, match="longtail needs --data: the folder with fashion_mnist"):
        real_problems(None, quick=False)


def test_a_folder_without_sets_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="holds neither fashion_mnist nor cifar10_subset"):
        real_problems(tmp_path, quick=False)


def test_a_set_that_is_not_there_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "cifar10_subset.npz").touch()
    names = [(each.data_set, each.name) for each in real_problems(tmp_path, quick=False)]
    assert names == [
        *(("CIFAR-10-LT", name) for name in ("automobile", "bird", "cat")),
        (RARE, "late classes"),
    ]
    (tmp_path / "fashion_mnist").mkdir()
    (tmp_path / "cifar100_subset.npz").touch()
    assert len(real_problems(tmp_path, quick=False)) == 10
    quick = [each.name for each in real_problems(tmp_path, quick=True)]
    assert quick == ["Dress", "automobile", "late classes"]


def test_few_positives_are_chosen_by_more_trainings(tmp_path: Path) -> None:
    (tmp_path / "cifar10_subset.npz").touch()
    tunings = {each.data_set: each.tunings for each in real_problems(tmp_path, quick=False)}
    assert tunings == {"CIFAR-10-LT": 1, RARE: 3}
