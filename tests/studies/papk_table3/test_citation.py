from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from rankwise.data import DataError
from rankwise.studies.papk_table3.citation import is_citation
from rankwise.studies.papk_table3.measure import read_instances


def table(rows=12, width=3, context=2, seed=0):
    rng = np.random.default_rng(seed)
    columns = {
        "user": [f"paper {i % 3}" for i in range(rows)],
        "item": [f"cited {i}" for i in range(rows)],
        "label": [int(i % 4 == 0) for i in range(rows)],
    }
    for side, size in (("user", width), ("item", width), ("context", context)):
        columns |= {f"{side}_{i}": rng.normal(size=rows) for i in range(size)}
    return pl.DataFrame(columns)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_embeddings_products_and_context_in_this_order(tmp_path, suffix):
    frame, path = table(), tmp_path / f"citation.{suffix}"
    frame.write_csv(path) if suffix == "csv" else frame.write_parquet(path)
    found = read_instances(path, 0)
    assert found.name == "Citation"
    assert found.X.shape == (12, 3 * 3 + 2)
    for place, name in enumerate(("user_0", "user_1", "user_2", "item_0", "item_1", "item_2")):
        np.testing.assert_allclose(found.X[:, place], frame[name])
    np.testing.assert_allclose(found.X[:, 7], frame["user_1"] * frame["item_1"])
    np.testing.assert_allclose(found.X[:, 10], frame["context_1"])
    assert np.flatnonzero(found.y).tolist() == [0, 4, 8]
    assert found.users.tolist() == [0, 1, 2] * 4


def test_the_papers_width(tmp_path):
    table(width=50, context=7).write_parquet(tmp_path / "c.parquet")
    assert read_instances(tmp_path / "c.parquet", 0).X.shape[1] == 157


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.with_columns(label=pl.lit(2)), "row 1: the label must be 0 or 1, got 2"),
        (lambda f: f.drop("item_2"), "same length, got 3 and 2 columns"),
        (lambda f: f.drop("user_1"), "the columns user_… must count from 0"),
        (lambda f: f.with_columns(context_1=pl.lit(None)), "row 1: context_… must be numbers"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, change, message):
    path = tmp_path / "c.parquet"
    change(table()).write_parquet(path)
    with pytest.raises(DataError, match=message):
        read_instances(path, 0)


def test_other_tables_are_not_taken_for_it(tmp_path):
    pl.DataFrame({"user": [1], "item": [2], "rating": [3.0]}).write_csv(tmp_path / "r.csv")
    assert not is_citation(tmp_path / "r.csv")
    assert not is_citation(tmp_path)
