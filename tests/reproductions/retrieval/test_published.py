"""The papers' tables: every line belongs to something that is trained here."""

from __future__ import annotations

import pytest

from reproductions.retrieval.methods import ABLATIONS, METHODS
from reproductions.retrieval.published import published

NAMES = {method.name for method in METHODS}
TABLES = {table.caption.partition(":")[0]: table for table in published()}


@pytest.mark.parametrize("name", TABLES)
def test_every_row_has_a_value_for_each_column(name):
    table = TABLES[name]
    for row in table.rows:
        assert len(row) == len(table.header)
        assert all(float(value) > 0 for value in row[1:])
    assert len({row[0] for row in table.rows}) == len(table.rows)


@pytest.mark.parametrize("name", ["SOPRC, Table 1", "StableAP, Table 2", "StableAP, Table 3"])
def test_every_method_of_the_papers_is_trained_here(name):
    # The two surrogates of AUC are one method here.
    printed = {row[0].replace("AUC-Sigmoid", "AUROC").replace("AUC-Huber", "AUROC")
               for row in TABLES[name].rows}  # fmt: skip
    assert printed <= NAMES


def test_every_method_but_three_of_ours_is_in_a_table_of_retrieval():
    printed = {row[0] for name in ("SOPRC, Table 1", "StableAP, Table 2")
               for row in TABLES[name].rows}  # fmt: skip
    # SupCon is the warm start of all; StableAP is printed with mixup only, SOPRC with L_var only.
    assert NAMES - printed == {"SupCon", "StableAP", "SOPRC, no L_var"}


def numbered(loss):
    """The ablations with a number, by it."""
    found = {}
    for method in ABLATIONS:
        head = method.name.partition(": ")[0]
        if head.startswith(f"{loss} ") and head[-1].isdigit() and "," not in head:
            found[head.removeprefix(f"{loss} ")] = method
    return found


def printed(table):
    """The words of the lines of a table, by their numbers."""
    return dict(row[0].split(": ") for row in TABLES[table].rows)


def test_lines_of_soprc_are_what_the_paper_says_of_them():
    lines, ours = printed("SOPRC, Table 2"), numbered("SOPRC")
    assert lines.pop("5") == "the same, by Adam"  # as all of ours are
    assert lines.keys() == ours.keys()
    for number, words in lines.items():
        (objective,) = ours[number].tries
        assert ours[number].name.endswith(f": {words}")
        assert ours[number].optimizer == "adamw"
        assert ("no v" in words) == ("points=None" in objective)
        assert ("share of the batch" in words) == ("prior=None" in objective)
        assert ("L_var" in words) == ("semi_variance" in objective)


def test_lines_of_stable_ap_are_what_the_paper_says_of_them():
    lines, ours = printed("StableAP, Table 4"), numbered("StableAP")
    assert lines.keys() == ours.keys()
    for number, words in lines.items():
        (objective,) = ours[number].tries
        assert set(ours[number].name.partition(": ")[2].split(", ")) <= set(words.split(", "))
        assert ours[number].mixup == ("DFM" in words)
        assert ours[number].previous == ("μ̂ followed" in words)
        assert ("ema_rate=0" in objective) == ("μ̂ fixed" in words) == (not ours[number].previous)
        assert "dynamic=False" not in objective
        assert ("t=1" in objective) == ("t = 1" in words)


def test_per_cent_have_two_digits_and_hits_are_above_map():
    for name in ("SOPRC, Table 1", "SOPRC, Table 2", "StableAP, Table 4"):
        table = TABLES[name]
        for row in table.rows:
            assert all(len(value.partition(".")[2]) == 2 for value in row[1:])
            for column, word in enumerate(table.header):
                if word == "R@1":
                    assert float(row[column - 1]) < float(row[column]) < 100


def test_a_step_is_longer_than_its_loss_and_its_two_ways():
    table = TABLES["StableAP, Table 3"]
    for row in table.rows:
        forward, loss, backward, total = map(float, row[1:])
        assert forward + loss + backward == pytest.approx(total, abs=1)
