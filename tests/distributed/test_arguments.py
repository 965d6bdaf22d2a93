from __future__ import annotations

import pytest
import torch

from rankwise.distributed.arguments import (
    check_agreement,
    check_lists,
    first_items,
    join,
    read_columns,
    restore_list_ids,
)
from rankwise.distributed.gather import Message, concatenate
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
    found = first_items({"scores": TABLE, "list_ids": torch.tensor([4, 5])})
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


FACTS = {"problem": None, "kind": "items", "objective": "AP", "training": True, "gradient": True}


def message(*scores: float, **columns: torch.Tensor) -> Message:
    return Message(dict(FACTS), {"scores": torch.tensor(scores), **columns})


def test_columns_follow_each_other_by_rank_and_gaps_are_filled():
    messages = [message(1.0, 2.0, weight=torch.tensor([3.0, 4.0])), message(), message(5.0)]
    joined = join(messages)
    assert joined["scores"].tolist() == [1, 2, 5]
    assert joined["weight"].tolist() == [3, 4, 1]
    assert join([message(), message()]) == {}


def test_what_cannot_be_filled_is_named_with_its_rank():
    with pytest.raises(ValueError, match=r"list_ids must be given on every .*missing on rank 1"):
        join([message(1.0, list_ids=torch.tensor([0])), message(2.0)])


def test_shorter_lists_are_padded_with_absent_items():
    facts = {**FACTS, "kind": "lists"}
    joined = join(
        [Message(facts, {"scores": torch.ones(1, 2)}), Message(facts, {"scores": torch.ones(2, 3)})]
    )
    assert joined["mask"].tolist() == [[True, True, False], [True] * 3, [True] * 3]


def test_disagreement_is_named():
    odd = Message({**FACTS, "training": False}, {"scores": torch.ones(1)})
    with pytest.raises(ValueError, match="processes must agree on the mode"):
        check_agreement([message(1.0), odd])
    broken = Message({**FACTS, "problem": "target is odd"}, {"scores": torch.ones(0)})
    with pytest.raises(ValueError, match=r"target is odd \(rank 1\)"):
        check_agreement([message(1.0), broken])


def test_rows_of_different_precision_meet_in_the_wider():
    joined = concatenate("x", {0: torch.ones(1, dtype=torch.float64), 1: torch.ones(1).half()})
    assert joined.dtype == torch.float64
