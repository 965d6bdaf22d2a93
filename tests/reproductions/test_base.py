from __future__ import annotations

import json
import math

import pytest

from rankwise.report import Figure, Section, Table
from reproductions.base import Outcome, Setting, write_outcome


def test_an_outcome_is_written_whole(tmp_path):
    figure = Figure(b"\x89PNG", "a picture")
    table = Table(("loss", "value"), [("a < b", 1)])
    outcome = Outcome(
        title="Title",
        rows=[{"loss": "a", "value": 1}],
        summary={
            "seed": 3,
            "means": [{"value": 0.5, "error": math.nan}],
            "most": math.inf,
            "pair": (1, "nan"),
        },
        sections=[Section("Heading", ["text"], [figure], [table])],
        figures={"figure": figure},
        table=table,
    )
    result = write_outcome(outcome, tmp_path / "study")
    assert result.table is table
    assert sorted(p.name for p in result.page.parent.iterdir()) == [
        "data.csv",
        "figure.png",
        "index.html",
        "summary.json",
    ]
    # What is no number, or has no end, is null.
    assert json.loads((tmp_path / "study" / "summary.json").read_text()) == {
        "seed": 3,
        "means": [{"value": 0.5, "error": None}],
        "most": None,
        "pair": [1, "nan"],
    }
    assert (tmp_path / "study" / "figure.png").read_bytes() == b"\x89PNG"
    assert "a &lt; b" in result.page.read_text()


@pytest.mark.parametrize("draws", [0, 1, 2.5, True])
def test_draws_are_two_at_least(draws):
    with pytest.raises(ValueError, match=r"^draws must be a whole number >= [12]"):
        Setting(draws=draws)
    assert Setting(draws=2).draws == 2


def test_without_a_progress_bar_the_work_goes_through_as_it_is():
    assert list(Setting().track([1, 2], "counting")) == [1, 2]
