from __future__ import annotations

import pytest
import torch

from rankwise.distributed.columns import check_lists, read_columns, restore_list_ids, tokens
from rankwise.objectives import SOPRC, AveragePrecision, OneVsRest, StableAP

FLAT, TABLE = torch.arange(6.0), torch.arange(6.0).reshape(2, 3)
TARGET = torch.tensor([1, 0, 0, 1, 0, 1])


def test_kinds():
    loss = AveragePrecision()
    assert read_columns(loss, {"scores": FLAT, "target": TARGET})[0] == "items"
    assert read_columns(loss, {"scores": FLAT, "target": TARGET, "groups": TARGET})[0] == "groups"
    table = {"scores": TABLE, "target": TARGET.reshape(2, 3)}
    assert read_columns(loss, table)[0] == "lists"
    kind, _ = read_columns(OneVsRest(loss), {"scores": TABLE, "target": TARGET[:2]})
    assert kind == "classes"


def test_ids_of_groups_go_out_by_item_and_come_back_by_group():
    groups = torch.tensor([7, 7, 3, 3, 7, 9])
    arguments = {
        "scores": FLAT,
        "target": TARGET,
        "groups": groups,
        "list_ids": torch.tensor([0, 2, 1]),
    }
    _, columns = read_columns(SOPRC(0.1, num_lists=3), arguments)
    assert columns["list_ids"].tolist() == [2, 2, 0, 0, 2, 1]
    assert restore_list_ids(columns)["list_ids"].tolist() == [0, 2, 1]
    columns["list_ids"] = torch.tensor([2, 0, 0, 0, 2, 1])
    with pytest.raises(ValueError, match="got 0 and 2 for group 7"):
        restore_list_ids(columns)


def test_tokens_keep_one_item_and_its_kind():
    found = tokens({"scores": TABLE, "list_ids": torch.tensor([4, 5])})
    assert found["scores"].shape == (1, 1)
    assert found["list_ids"].tolist() == [4]


def test_lists_are_checked_before_anybody_waits():
    loss = SOPRC(0.1, num_lists=3)
    good = {"scores": TABLE, "target": TARGET.reshape(2, 3), "list_ids": torch.tensor([0, 2])}
    check_lists(loss, good)
    with pytest.raises(ValueError, match="list_ids must lie between 0 and 2"):
        check_lists(loss, {**good, "list_ids": torch.tensor([0, 3])})
    with pytest.raises(ValueError, match="scores contains NaN"):
        check_lists(loss, {**good, "scores": TABLE / 0 * 0})
    with pytest.raises(ValueError, match="previous_scores contains NaN"):
        check_lists(StableAP(0.1, 3), {**good, "previous_scores": TABLE / 0 * 0})
    with pytest.raises(ValueError, match="target must contain only 0 and 1"):
        check_lists(loss, {**good, "target": good["target"] + 1})
