"""What following μ̂ is worth, from cells with known numbers."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.reproductions.retrieval.cells import cells

from reproductions.retrieval.fixed_mean import followed_table, followed_words
from reproductions.retrieval.methods import ABLATIONS
from reproductions.retrieval.published import stable_ap_gain

FOLLOWED, FOLLOWED_DFM = "StableAP 3: μ̂ followed", "StableAP 5: t = 2, DFM"
FIXED, FIXED_DFM = "StableAP 1: μ̂ fixed", "StableAP 2: μ̂ fixed, DFM"
BATCH = "StableAP 1, mean of the batch"


def two_sets():
    first = [
        *cells(FOLLOWED, [0.50, 0.52]),
        *cells(FIXED, [0.40, 0.42]),
        *cells(BATCH, [0.51, 0.52]),
        *cells(FOLLOWED_DFM, [0.60, 0.70]),
        *cells(FIXED_DFM, [0.61, 0.70]),
    ]
    second = [replace(cell, problem="second", map=cell.map + 0.1) for cell in first[:4]]
    return [*first, *second]  # on the second set lines 1 and 3 only


def test_the_names_are_those_of_the_ablations():
    names = {method.name for method in ABLATIONS}
    assert {FOLLOWED, FOLLOWED_DFM, FIXED, FIXED_DFM, BATCH} <= names
    assert "StableAP 2, mean of the batch" in names


def test_differences_beside_those_of_the_paper():
    found = two_sets()
    rows = {row[0]: row[1:] for row in followed_table(found).rows}
    assert list(rows) == [
        "line 3 − line 1: μ̂ fixed, without DFM",
        "line 5 − line 2: μ̂ fixed, with DFM",
        "line 3 − line 1: mean of the batch, without DFM",
    ]
    assert rows["line 3 − line 1: μ̂ fixed, without DFM"][0] == "+0.1000 ± 0.0000"
    assert rows["line 3 − line 1: μ̂ fixed, without DFM"][2:] == ("+0.0213", "+0.0147")
    assert rows["line 5 − line 2: μ̂ fixed, with DFM"][1] == "–"  # no such line on the second set
    assert rows["line 5 − line 2: μ̂ fixed, with DFM"][2:] == ("+0.0149", "+0.0115")
    assert rows["line 3 − line 1: mean of the batch, without DFM"][2:] == ("–", "–")


def test_the_words_count_what_the_table_shows():
    said = followed_words(two_sets())
    assert (
        "than a fixed μ̂ in 2 of 3 comparisons; 2 of these differences and 0 against it are larger"
    ) in said
    assert "than the mean of the batch in 0 of 1 comparisons; 0 of" in said
    other = [replace(cell, map=1 - cell.map) for cell in two_sets()]
    assert "than a fixed μ̂ in 1 of 3 comparisons; 0 of these differences and 2" in followed_words(
        other
    )


def test_without_the_lines_nothing_is_said():
    lone = cells(FOLLOWED, [0.5])
    assert followed_words(lone) == ""
    assert not followed_table(lone).rows


@pytest.mark.parametrize(("line", "gain"), [("1", (2.13, 1.47)), ("2", (1.49, 1.15))])
def test_the_papers_differences(line, gain):
    """The text of the paper gives those of line 2: 1.5 and 1.2 points."""
    assert [100 * value for value in stable_ap_gain(line)] == pytest.approx(gain)
