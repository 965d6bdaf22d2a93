from __future__ import annotations

import pytest
from tests.naming.rows.ranked import wants_what_its_metric_wants

from rankwise.naming import objective
from rankwise.naming.rows.lists import LISTS

# Logits of several classes, embeddings' own index, or another objective inside.
OTHERS = ("autkc", "global_contrastive", "isogclr", "ovr")


@pytest.mark.parametrize(
    "entry", [e for e in LISTS if e.names[0] not in OTHERS], ids=lambda e: e.names[0]
)
def test_the_best_order_has_the_least_loss(entry) -> None:
    assert wants_what_its_metric_wants(entry)


@pytest.mark.parametrize("name", ["ndcg", "precision", "recall", "pap"])
def test_at_k_is_the_k_of_the_class(name: str) -> None:
    assert objective(f"{name}@7").options["k"] == 7


def test_song_is_ndcg_with_a_memory_of_items() -> None:
    made = objective("song@5", num_items=40)
    assert type(made) is type(objective("ndcg@5"))
    assert made.memory_by == "item"
    assert objective("ndcg@5").memory_by is None
    with pytest.raises(ValueError, match="items"):
        objective("song@5")


def test_one_against_the_rest_is_judged_as_what_is_inside() -> None:
    (entry,) = (e for e in LISTS if e.names[0] == "ovr")
    assert entry.metric is None
