"""How many queries a result is over, how sure it is, and what it says of itself."""

from __future__ import annotations

import math
import statistics
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwise.retrieval import RetrievalResult, evaluate

precisions = st.lists(st.one_of(st.floats(0, 1), st.just(math.nan)), max_size=12)


def result(*precision: float, **known: Any) -> RetrievalResult:
    """A result with these average precisions of queries, NaN where one was left out."""
    values = np.array(precision, dtype=np.float64)
    nothing: dict[str, Any] = {
        "map": 0.5,
        "hit_at": {1: 0.25, 10: 0.75},
        "r_precision": 0.4,
        "map_at_r": 0.3,
        "per_class": {},
        "recall": np.linspace(0, 1, 101),
        "precision": np.zeros(101),
        "average_precision": values,
        "first_rank": np.ones(len(values)),
        "gallery": 8,
        "left_out": int(np.isnan(values).sum()),
    }
    return RetrievalResult(**{**nothing, **known})


def test_queries_with_nothing_to_find_are_not_counted() -> None:
    assert result(0.5, math.nan, 1.0, math.nan).queries == 2
    assert result(0.5, 1.0).queries == 2
    assert result(math.nan).queries == 0
    assert result().queries == 0


def test_the_standard_error_by_hand() -> None:
    # Mean 0.5, squares 0.16 + 0 + 0.16 over 2, and three queries.
    assert result(0.1, 0.5, 0.9).standard_error == pytest.approx(0.4 / math.sqrt(3))
    assert result(0.25, 0.25, 0.25).standard_error == 0


@settings(max_examples=50)
@given(precisions)
def test_the_standard_error_is_that_of_the_mean_of_known_values(values: list[float]) -> None:
    found = result(*values).standard_error
    known = [value for value in values if not math.isnan(value)]
    if len(known) < 2:
        assert math.isnan(found)
    else:
        exact = statistics.stdev(known) / math.sqrt(len(known))
        assert found == pytest.approx(exact, abs=1e-9)


def test_in_words() -> None:
    assert str(result(0.1, 0.5, 0.9)) == (
        f"mAP 0.5000 ± {1.96 * 0.4 / math.sqrt(3):.4f}, hit@1 0.2500, hit@10 0.7500, "
        "R-precision 0.4000, MAP@R 0.3000 (3 queries, 8 in the gallery)"
    )


def test_queries_that_were_left_out_are_said() -> None:
    said = str(result(0.1, math.nan, 0.9, math.nan, math.nan))
    assert said.endswith("(2 queries, 8 in the gallery; 3 with nothing to find)")


def test_one_query_has_no_error_and_hits_need_not_be_asked_for() -> None:
    said = str(result(0.5, hit_at={}))
    assert said.startswith("mAP 0.5000, R-precision 0.4000")
    assert said.endswith("(1 query, 8 in the gallery)")


def test_hits_are_said_in_the_order_they_were_asked_for() -> None:
    said = str(result(0.1, 0.9, hit_at={100: 1.0, 5: 0.123456}))
    assert ", hit@100 1.0000, hit@5 0.1235, R-precision" in said


def test_a_result_of_embeddings_on_a_line() -> None:
    # Cosines to (1, 0) fall with the angle. Of the two queries of class 0 the first has its
    # other at rank 1, the second at rank 2 behind an item of class 1; class 2 has one item.
    angles = torch.tensor([0.0, 0.5, 0.8, 2.0])
    embeddings = torch.stack([angles.cos(), angles.sin()], 1)
    found = evaluate(embeddings, [0, 0, 1, 2], hits=(1, 2))
    np.testing.assert_array_equal(found.average_precision, [1, 0.5, math.nan, math.nan])
    np.testing.assert_array_equal(found.first_rank, [1, 2, math.nan, math.nan])
    assert (found.queries, found.left_out, found.gallery) == (2, 2, 4)
    assert found.standard_error == pytest.approx(0.25)
    assert str(found) == (
        "mAP 0.7500 ± 0.4900, hit@1 0.5000, hit@2 1.0000, R-precision 0.5000, MAP@R 0.5000 "
        "(2 queries, 4 in the gallery; 2 with nothing to find)"
    )
