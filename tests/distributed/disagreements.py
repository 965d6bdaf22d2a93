"""Calls on which processes disagree, or on which only some have anything wrong."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from rankwise.distributed import AcrossProcesses, gather_with_gradient
from rankwise.objectives import (
    SOAP,
    SOPRC,
    AveragePrecision,
    FairnessConstraint,
    OneVsRest,
    StableAP,
)

TARGET = torch.tensor([1, 0, 1, 0])
GROUPS = torch.tensor([0, 0, 1, 1])


def scores(*shape: int) -> Tensor:
    return torch.arange(1.0, 1 + torch.Size(shape).numel()).reshape(shape).requires_grad_()


def wrong_shape(odd: bool) -> Tensor:
    return AcrossProcesses(AveragePrecision())(scores(4), TARGET[: 3 if odd else 4])


def one_number(odd: bool) -> Tensor:
    s = scores(4)
    return AcrossProcesses(AveragePrecision())(s.sum() if odd else s, TARGET)


def column(odd: bool) -> Tensor:
    shape = (4, 1) if odd else (2, 2)
    return AcrossProcesses(AveragePrecision())(scores(*shape), TARGET.reshape(shape))


def kinds(odd: bool) -> Tensor:
    return AcrossProcesses(AveragePrecision())(scores(4), TARGET, groups=GROUPS if odd else None)


def no_list_ids(odd: bool) -> Tensor:
    ids = None if odd else torch.tensor([1])
    return AcrossProcesses(SOPRC(0.1, 4))(scores(1, 4), TARGET[None], list_ids=ids)


def other_list_ids(odd: bool) -> Tensor:
    return AcrossProcesses(SOPRC(0.1, 4))(scores(4), TARGET, list_ids=torch.tensor(3 if odd else 1))


def other_group_ids(odd: bool) -> Tensor:
    ids = torch.tensor([0, 3 if odd else 1])
    return AcrossProcesses(SOPRC(0.1, 4))(scores(4), TARGET, groups=GROUPS, list_ids=ids)


def id_too_large(odd: bool) -> Tensor:
    ids = torch.arange(4) + 5 * odd
    return AcrossProcesses(SOAP(0.1, 6))(scores(4), TARGET, item_ids=ids)


def no_previous(odd: bool) -> Tensor:
    s = scores(4)
    return AcrossProcesses(StableAP(0.1))(s, TARGET, previous_scores=None if odd else s)


def modes(odd: bool) -> Tensor:
    return AcrossProcesses(SOPRC(0.1)).train(not odd)(scores(4), TARGET)


def gradients(odd: bool) -> Tensor:
    with torch.set_grad_enabled(not odd):
        return AcrossProcesses(SOPRC(0.1))(scores(4), TARGET)


def objectives(odd: bool) -> Tensor:
    return AcrossProcesses(SOPRC(0.1) if odd else AveragePrecision())(scores(4), TARGET)


def no_attribute(odd: bool) -> Tensor:
    loss = AcrossProcesses(FairnessConstraint(AveragePrecision(), 2))
    return loss(scores(4), TARGET, attribute=None if odd else GROUPS)


def attribute_too_large(odd: bool) -> Tensor:
    loss = AcrossProcesses(FairnessConstraint(AveragePrecision(), 2))
    return loss(scores(2, 2), TARGET.reshape(2, 2), attribute=GROUPS.reshape(2, 2) + odd)


def attribute_of_no_constraint(odd: bool) -> Tensor:
    loss = AcrossProcesses(AveragePrecision())
    return loss(scores(4), TARGET, attribute=GROUPS if odd else None)


def classes(odd: bool) -> Tensor:
    loss = AcrossProcesses(OneVsRest(AveragePrecision()))
    return loss(scores(4, 3 if odd else 2), TARGET)


def class_shapes(odd: bool) -> Tensor:
    loss = AcrossProcesses(OneVsRest(AveragePrecision()))
    return loss(scores(4, 2), TARGET, weight=torch.ones(3 if odd else 4))


def not_a_number(odd: bool) -> Tensor:
    s = scores(4)
    return AcrossProcesses(AveragePrecision())(s * torch.nan if odd else s, TARGET)


def rows(odd: bool) -> Tensor:
    return gather_with_gradient(scores(2, 3 if odd else 2))


BAD: dict[Callable[[bool], Tensor], str] = {
    wrong_shape: r"target must have the shape of scores.*\(rank 1\)",
    one_number: r"scores must have at least one dimension.*\(rank 1\)",
    column: r"pass `scores.squeeze\(-1\)`.*\(rank 1\)",
    kinds: r"agree on what is ranked, got one-dimensional scores.*rank 0, scores with groups",
    no_list_ids: r"list_ids is needed: SOPRC remembers 4 lists.*\(rank 1\)",
    other_list_ids: "list_ids must be the same on every process.*got 1, 3",
    other_group_ids: "list_ids must give a group the same id.*got 1 and 3 for group 1",
    id_too_large: "item_ids must lie between 0 and 5",
    no_previous: "previous_scores must be given on every process.*missing on rank 1",
    modes: r"agree on the mode.*True on rank 0, False on rank 1",
    gradients: r"agree on torch.is_grad_enabled\(\), got True on rank 0, False on rank 1",
    objectives: "agree on the objective, got AveragePrecision on rank 0, SOPRC on rank 1",
    no_attribute: r"attribute is needed: FairnessConstraint wants the group of each.*\(rank 1\)",
    attribute_too_large: "attribute must lie between 0 and 1, got values from 0 to 2",
    attribute_of_no_constraint: r"attribute is for FairnessConstraint, got Average.*\(rank 1\)",
    classes: r"agree on the shape of scores after the first dimension, got \(2,\) on rank 0",
    class_shapes: r"weight must have one row for each of the 4 items.*\(rank 1\)",
    not_a_number: "scores contains NaN",
    rows: r"agree on the shape of tensor after the first dimension, got \(2,\) on rank 0",
}


def complaints(rank: int) -> dict[str, str]:
    """What every bad call says on this rank; rank 1 is the odd one."""
    said = {}
    for call in BAD:
        try:
            call(rank == 1)
            said[call.__name__] = "no error"
        except ValueError as error:
            said[call.__name__] = str(error)
    return said
