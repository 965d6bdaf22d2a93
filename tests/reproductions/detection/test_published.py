"""The printed numbers beside ours: they are found, complete, and could be a table of COCO."""

from __future__ import annotations

import pytest

from reproductions.detection.plan import HEADS, OURS
from reproductions.detection.published import COLUMNS, PUBLISHED
from reproductions.detection.study import _KEYS, _published


def test_every_loss_that_was_there_before_ours_is_printed_and_no_list_by_class() -> None:
    before = {head.name for head in HEADS if head.name not in OURS and head.stages == 1}
    one_stage = {name for name in PUBLISHED if not name.startswith("Faster R-CNN")}
    assert before <= one_stage
    assert one_stage - before == {"StableAP"}
    pooled = {head.name for head in HEADS if head.pooled}
    assert one_stage < pooled


def test_columns_are_those_of_our_numbers() -> None:
    assert len(COLUMNS) == len(_KEYS)
    sizes = {"AP_S": "small", "AP_M": "medium", "AP_L": "large"}
    assert tuple(sizes.get(name, name.lower()) for name in COLUMNS) == _KEYS


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_row_could_be_of_coco(name: str) -> None:
    row = dict(zip(COLUMNS, PUBLISHED[name], strict=True))
    assert row["AP75"] < row["AP50"]
    assert row["AP"] < row["AP50"]
    assert row["AP_S"] < row["AP_M"] < row["AP_L"]
    assert row["AP_S"] < row["AP"] < row["AP_L"]
    assert all(0 < value < 100 for value in row.values())


def test_the_page_has_every_printed_number_in_its_place() -> None:
    table = _published()
    assert table.header[1:] == COLUMNS
    shown = {row[0]: tuple(map(float, row[1:])) for row in table.rows}
    assert shown == PUBLISHED
