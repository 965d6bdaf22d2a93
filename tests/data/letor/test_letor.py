from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from rankwise.data import DataError
from rankwise.data.letor import Letor

FEATURES = np.array([[0, 1], [0, 2], [0, 3]], dtype=np.float32)


def letor(features=FEATURES, documents=None):
    return Letor(Path("f.txt"), features, np.zeros(3), np.array([0, 0, 1]), ("q7", "q9"), documents)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_features_for_a_model_of_more_columns_are_filled_with_zeros(make):
    given = letor(make(FEATURES))
    assert (len(given), given.width) == (3, 2)
    wide = given.columns(4)
    assert sparse.issparse(wide) == (make is sparse.csr_array)
    dense = wide.toarray() if sparse.issparse(wide) else wide
    np.testing.assert_array_equal(dense, np.pad(FEATURES, ((0, 0), (0, 2))))
    assert given.columns(2) is given.features
    assert given.width == 2  # untouched


def test_more_features_than_the_model_knows_are_refused():
    with pytest.raises(DataError, match=r"f\.txt: has feature 1, the last of the model is 0"):
        letor().columns(1)


def test_a_document_has_its_id_or_its_place():
    assert [letor().document(row) for row in range(3)] == ["q7-1", "q7-2", "q9-1"]
    named = letor(documents=("GX1", "", "GX3"))
    assert [named.document(row) for row in range(3)] == ["GX1", "q7-2", "GX3"]


def test_the_line_of_a_document_is_told_or_its_row(tmp_path):
    path = tmp_path / "f.txt"
    path.write_text("# head\n0 qid:7 1:1\n\n0 qid:7 1:2\n0 qid:9 1:3\n")
    assert replace(letor(), path=path).place(1) == f"{path}: line 4"
    assert letor().place(1) == "f.txt: row 2"
