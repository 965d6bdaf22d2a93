from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from tests.tasks.compare.stubs import settings, stubbed, table

from rankwise.data import DataError
from rankwise.tasks.compare.model import load_model
from rankwise.tasks.compare.predicting import predict_file
from rankwise.tasks.compare.running import run

__all__ = ["stubbed"]

pytestmark = pytest.mark.usefixtures("stubbed")


@pytest.fixture
def model(tmp_path, stubbed):
    run(settings(tmp_path, trials=1), tmp_path / "run")
    return tmp_path / "run"


def test_columns_are_found_by_name_in_any_order(tmp_path, model):
    new = table(rows=60, seed=5)
    new.write_csv(tmp_path / "new.csv")
    new.select(reversed(new.columns)).drop("y").write_parquet(tmp_path / "other.parquet")
    first = predict_file(model, tmp_path / "new.csv").frame
    assert first.columns == ["score", "probability"]
    assert first.equals(predict_file(model, tmp_path / "other.parquet").frame)
    assert first["probability"].is_between(0, 1).all()
    assert first["score"].n_unique() > 50


def test_one_row_is_scored_as_among_others(tmp_path, model):
    new = table(rows=60, seed=5)
    new.write_csv(tmp_path / "all.csv")
    new.head(1).write_csv(tmp_path / "one.csv")
    together = predict_file(model, tmp_path / "all.csv").frame
    alone = predict_file(model, tmp_path / "one.csv").frame
    assert alone["score"][0] == pytest.approx(together["score"][0])


def test_written_as_csv_or_parquet(tmp_path, model):
    table(rows=60, seed=5).write_csv(tmp_path / "new.csv")
    found = predict_file(model, tmp_path / "new.csv")
    assert pl.read_csv(found.write(tmp_path / "p.csv")).equals(found.frame)
    assert pl.read_parquet(found.write(tmp_path / "p.parquet")).equals(found.frame)


def test_what_does_not_fit(tmp_path, model):
    new = table(rows=60, seed=5)
    new.drop("a", "word").write_csv(tmp_path / "new.csv")
    with pytest.raises(DataError, match="2 of the 4 columns of the model are missing: 'a', 'word'"):
        predict_file(model, tmp_path / "new.csv")
    slip = pl.when(pl.int_range(pl.len()) == 2).then(pl.lit("x")).otherwise(pl.col("a"))
    new.with_columns(a=slip).write_csv(tmp_path / "new.csv")
    with pytest.raises(DataError, match=r"'a' held numbers in training, now it holds 'x' in row 3"):
        predict_file(model, tmp_path / "new.csv")
    (tmp_path / "new.svm").write_text("0 1:1\n")
    with pytest.raises(DataError, match="svmlight has no named columns"):
        predict_file(model, tmp_path / "new.svm")


def test_numbers_that_were_words_in_training(tmp_path):
    table().with_columns(word=pl.col("word").replace("red", "7")).write_csv(tmp_path / "table.csv")
    run(settings(tmp_path, trials=1), tmp_path / "run")
    new = table(rows=30, seed=5)
    new.with_columns(word=pl.lit(7)).write_csv(tmp_path / "new.csv")
    new.with_columns(word=pl.lit(7.0)).write_csv(tmp_path / "real.csv")
    new.with_columns(word=pl.lit("7")).write_parquet(tmp_path / "new.parquet")
    expected = predict_file(tmp_path / "run", tmp_path / "new.parquet").frame
    for name in ("new.csv", "real.csv"):
        assert predict_file(tmp_path / "run", tmp_path / name).frame.equals(expected)


def test_svmlight_knows_features_by_number(tmp_path):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(300, 3))
    y = (rows[:, 0] + rng.normal(size=300) > 1).astype(int)
    lines = [
        f"{label} " + " ".join(f"{n + 1}:{value:.4f}" for n, value in enumerate(row))
        for label, row in zip(y, rows, strict=True)
    ]
    (tmp_path / "table.svm").write_text("\n".join(lines))
    asked = settings(tmp_path, trials=1, drop=())
    run(
        type(asked)(**{**asked.__dict__, "data": tmp_path / "table.svm", "target": None}),
        tmp_path / "run",
    )
    assert load_model(tmp_path / "run").names == ("f1", "f2", "f3")
    (tmp_path / "new.svm").write_text("0 1:1\n0 1:2\n")  # the last features are zero
    (tmp_path / "new.csv").write_text("f1,f2,f3\n1,0,0\n2,0,0\n")
    found = [
        predict_file(tmp_path / "run", tmp_path / f"new.{kind}").frame for kind in ("svm", "csv")
    ]
    assert found[0].equals(found[1])
    (tmp_path / "wide.svm").write_text("0 9:1\n")
    with pytest.raises(DataError, match="has feature 9, the model's last is f3"):
        predict_file(tmp_path / "run", tmp_path / "wide.svm")
