"""No objective waits for its device without checks, but where docs/gpu.md says so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch
from tests.objectives.contract import Row, all_rows, call
from tests.waits import Waits

from rankwise import no_checks

ROWS = all_rows()
PAGE = Path(__file__).parents[2] / "docs" / "gpu.md"
FORMS = ("small", "large", "lists", "uneven lists", "mask", "weight", "groups")

ALLOWED = {
    # Every objective that splits its lists.
    "lists.py: _side",
    "lists.py: _columns",
    "lists.py: _padded",
    "lists.py: all_complete",
    # Lists that come flat.
    "objectives/_batch.py: _ragged",
    "pairs/ragged.py: number_lists",
    "pairs/ragged.py: size_classes",
    "pairs/ragged.py: _stable_order",
    "pairs/ragged.py: _rectangle",
    # Pairs in the order of their relevances.
    "pairs/ordered.py: pair_sum_below",
    "pairs/ragged.py: restore",
    # Memories by item, of padded lists.
    "memory/fcco.py: track",
    "objectives/partial_auc/_cvar.py: descend",
    # Single objectives.
    "metrics/dcg.py: discount_through",
    "baselines/listwise.py: _ranks_through",
    "metrics/ranking.py: rank_items",
    "objectives/_selection.py: _level",
    "objectives/_selection.py: gathered",
    "objectives/ndcg/ndcg.py: _places",
    "objectives/partial_auc/_cvar.py: forward",
    "objectives/top/precision_at_k.py: _most_harmful",
    "objectives/x_risk.py: _inner",
    "a gradient of torch",
    # The engine: which of its paths a sum takes depends on the sizes and on what is installed.
    "pairs/logsumexp.py: _below",
    "pairs/_logsumexp/one_sided_squares.py: __init__",
    "pairs/_logsumexp/one_sided_squares.py: backward",
}


def batch(row: Row, form: str) -> tuple[torch.Tensor, torch.Tensor, dict[str, torch.Tensor]]:
    scores, target = row.data(3_000 if form == "large" else 60, seed=1)
    scores, target, more = scores.float(), target.clone(), {}
    if form == "mask":
        more["mask"] = torch.arange(60) < 50
    if form == "weight":
        more["weight"] = torch.ones(60)
    if form in {"lists", "uneven lists", "groups"}:
        scores, target = scores.reshape(3, 20), target.reshape(3, 20)
        if form == "lists":
            target = target[:1].repeat(3, 1)
        target[:, :2] = torch.tensor([1, 0])
    if form == "groups":
        scores, target = scores.flatten(), target.flatten()
        more["groups"] = torch.arange(3).repeat_interleave(20)
    return scores.requires_grad_(), target, more


@pytest.fixture(scope="module")
def found() -> dict[tuple[str, str], set[str]]:
    """Where the second step of every objective waits, forward and backward."""
    places = {}
    for row in ROWS:
        for form in FORMS:
            scores, target, more = batch(row, form)
            objective = row.rescaled()
            with no_checks():
                call(objective, scores, target, **more).backward()
                with Waits() as waits:
                    call(objective, scores, target, **more).backward()
            places[row.name, form] = waits.places
    return places


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_an_objective_waits_only_where_the_page_says(row, found):
    for form in FORMS:
        assert found[row.name, form] <= ALLOWED, form


def test_every_place_of_the_page_is_one(found):
    observed = set().union(*found.values())
    engine = {place for place in ALLOWED if place.startswith("pairs/") and "ragged" not in place}
    assert ALLOWED - engine <= observed


def test_one_list_waits_for_its_number_of_positives_alone(found):
    """Those that every kind of training takes first."""
    for name in ("AveragePrecision", "SOPRC", "StableAP", "SOAP"):
        for form in ("small", "large"):
            assert found[name, form] == {"lists.py: _side"}, (name, form)


def test_the_page_has_the_same_places():
    listed = re.findall(r"^\| `([^`]+)` \|", PAGE.read_text(), re.MULTILINE)
    assert len(listed) == len(set(listed))
    assert set(listed) == ALLOWED


def test_a_wait_is_seen():
    with Waits() as waits:
        torch.arange(3)[torch.arange(3) > 1].sum().item()
    assert waits.places == {"a gradient of torch"}  # nothing of rankwise is on the stack
