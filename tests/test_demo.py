from __future__ import annotations

import pytest
import torch

from rankwise import demo


def test_the_rare_class_is_rare_and_the_halves_are_apart():
    split = demo.rare_digits(0)
    assert float(split.y.mean()) == pytest.approx(demo.RATE, abs=0.002)
    assert float(split.y_test.mean()) == pytest.approx(demo.RATE, abs=0.002)
    rows = torch.cat([split.x, split.x_test])
    assert len(rows) == len(split.y) + len(split.y_test)


def test_the_table_has_a_row_for_each_loss(monkeypatch, capsys):
    monkeypatch.setattr(demo, "LOOKS", (2, 4))
    monkeypatch.setattr(demo, "WARM_UP", 1)
    monkeypatch.setattr(demo, "SPLITS", 2)
    demo.main()
    printed = capsys.readouterr().out
    for word in ("cross-entropy", "average precision", "2 steps", "4 steps", "difference"):
        assert word in printed
