from __future__ import annotations

from pathlib import Path

from rankwise.data.detection.findings import Findings
from rankwise.data.images.image_file import BrokenImage


def test_nothing_amiss_has_no_line():
    assert Findings().lines() == []


def test_a_line_for_each_kind_with_its_count_and_the_first_ten():
    found = Findings(
        clipped=[f"box {n}" for n in range(12)],
        dropped=["one"],
        broken=[BrokenImage(Path("a.jpg"), "is empty")],
    )
    dropped, clipped, broken = found.lines()
    assert dropped == "1 box without area in its picture: dropped (one)"
    assert clipped.startswith("12 boxes over the edge of their picture: cut (box 0; box 1;")
    assert clipped.endswith("box 9; and 2 more)")
    assert broken.startswith("left out: ")
    assert "a.jpg" in broken
    assert "is empty" in broken
