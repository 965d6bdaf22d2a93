from __future__ import annotations

import math

import pytest
from tests.reproductions.longtail.generated import tiny_plan

from reproductions.longtail.measure import Cell
from reproductions.longtail.methods import METHODS
from reproductions.longtail.tables import best_other, by_repeat, differences, main_table


def cells():
    """SOPRC is better by .1 and .3 in the two repeats; focal has the best validation."""
    found = []
    for number, method in enumerate(METHODS):
        for repeat in range(2):
            for place, problem in enumerate(("one", "two")):
                ap = 0.2 + 0.1 * place
                if method.name == "SOPRC":
                    ap += 0.1 + 0.2 * repeat
                validation = 0.9 if method.name == "Focal" else 0.01 * number
                last = ap - 0.05
                found.append(
                    Cell(
                        data_set="generated",
                        problem=problem,
                        method=method.name,
                        repeat=repeat,
                        best_step=4,
                        validation=validation,
                        ap=ap,
                        auroc=0.5,
                        partial_auroc=0.5,
                        last_ap=last,
                        last_auroc=0.5,
                    )
                )
    return found


def test_means_over_the_problems_of_a_repeat():
    assert by_repeat(cells(), "generated", "CE") == pytest.approx([0.25, 0.25])
    assert by_repeat(cells(), "generated", "SOPRC") == pytest.approx([0.35, 0.55])


def test_the_best_other_is_chosen_by_validation():
    assert best_other(cells(), tiny_plan(), "generated") == "Focal"


def test_the_tables_by_hand():
    rows = {row[0]: row for row in main_table(cells(), tiny_plan()).rows}
    assert rows["CE"][1:3] == ["25.0 ± 0.0", "20.0 ± 0.0"]
    assert rows["SOPRC"][1] == f"45.0 ± {100 * math.sqrt(0.02):.1f}"  # .35 and .55
    assert rows["StableAP"][3] == "86.5 ± 0.39"
    found = differences(cells(), tiny_plan()).rows
    assert [row[1:3] for row in found] == [
        ("SOPRC", "CE†"),  # all others have the same test AP: the first
        ("SOPRC", "Focal*"),
        ("StableAP", "CE†"),
        ("StableAP", "Focal*"),
    ]
    assert found[0][3].startswith("+20.0 ± ")
    assert found[2][3] == "+0.0 ± 0.0"
