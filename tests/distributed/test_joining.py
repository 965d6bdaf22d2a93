from __future__ import annotations

import pytest
import torch

from rankwise.distributed.joining import check_agreement, concatenate, join
from rankwise.distributed.parcel import Parcel

FACTS = {"problem": None, "kind": "items", "objective": "AP", "training": True, "gradient": True}


def parcel(*scores: float, **columns: torch.Tensor) -> Parcel:
    return Parcel(dict(FACTS), {"scores": torch.tensor(scores), **columns})


def test_columns_follow_each_other_by_rank_and_gaps_are_filled():
    parcels = [parcel(1.0, 2.0, weight=torch.tensor([3.0, 4.0])), parcel(), parcel(5.0)]
    joined = join(parcels)
    assert joined["scores"].tolist() == [1, 2, 5]
    assert joined["weight"].tolist() == [3, 4, 1]
    assert join([parcel(), parcel()]) == {}


def test_what_cannot_be_filled_is_named_with_its_rank():
    with pytest.raises(ValueError, match=r"list_ids must be given on every .*missing on rank 1"):
        join([parcel(1.0, list_ids=torch.tensor([0])), parcel(2.0)])


def test_shorter_lists_are_padded_with_absent_items():
    facts = {**FACTS, "kind": "lists"}
    joined = join(
        [Parcel(facts, {"scores": torch.ones(1, 2)}), Parcel(facts, {"scores": torch.ones(2, 3)})]
    )
    assert joined["mask"].tolist() == [[True, True, False], [True] * 3, [True] * 3]


def test_disagreement_is_named():
    odd = Parcel({**FACTS, "training": False}, {"scores": torch.ones(1)})
    with pytest.raises(ValueError, match="processes must agree on the mode"):
        check_agreement([parcel(1.0), odd])
    broken = Parcel({**FACTS, "problem": "target is odd"}, {"scores": torch.ones(0)})
    with pytest.raises(ValueError, match=r"target is odd \(rank 1\)"):
        check_agreement([parcel(1.0), broken])


def test_rows_of_different_precision_meet_in_the_wider():
    joined = concatenate("x", {0: torch.ones(1, dtype=torch.float64), 1: torch.ones(1).half()})
    assert joined.dtype == torch.float64
