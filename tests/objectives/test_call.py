"""How far a reader of an objective's call has to go: measured, so that it does not grow again."""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

import torch

import rankwise
from rankwise.objectives import SOPRC

SOURCE = f"{Path(rankwise.__file__).parent}/"


def calls_of(loss: SOPRC, scores: torch.Tensor, target: torch.Tensor) -> list[tuple[str, str]]:
    """File and name of every function of rankwise that a call enters, in order."""
    entered: list[tuple[str, str]] = []

    def note(frame: FrameType, event: str, _: Any) -> None:
        file, name = frame.f_code.co_filename, frame.f_code.co_qualname
        inside = file.startswith(SOURCE) and not frame.f_code.co_name.startswith("<")
        if event == "call" and inside:
            entered.append((file.removeprefix(SOURCE), name))

    sys.setprofile(note)
    try:
        loss(scores, target)
    finally:
        sys.setprofile(None)
    return entered


def test_a_call_enters_few_files_and_checks_once():
    scores, target = torch.randn(5000, requires_grad=True), torch.arange(5000) % 10 == 0
    loss = SOPRC(0.1)
    loss(scores, target)
    entered = calls_of(loss, scores, target)
    files = [file for file, _ in entered]
    assert len(set(files)) <= 20
    assert len(set(entered)) <= 79  # one of them only where something was compiled before
    assert sum(a != b for a, b in pairwise(files)) <= 60  # half of the 120 it was
    own = [call for call in entered if not call[0].startswith("pairs/")]
    assert len({file for file, _ in own}) <= 12
    assert len(set(own)) <= 58
    assert files.count("checks.py") <= 5  # scores and target: can they be read; their values
