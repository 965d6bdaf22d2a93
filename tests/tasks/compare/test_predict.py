from __future__ import annotations

import json
from datetime import date

import numpy as np
import polars as pl
import pytest
from tests.tasks.compare.stubs import settings, stubbed, table

from rankwise.commands.console import write_frame
from rankwise.data import DataError
from rankwise.errors import UsageError
from rankwise.tasks.compare.model import load_model
from rankwise.tasks.compare.pipeline import run
from rankwise.tasks.compare.predict import kept_columns, predict_file
from rankwise.tasks.compare.run_files import data_of_run, rows_of_part

__all__ = [
    "stubbed",
]

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


def written(found, path):
    write_frame(found.frame, path)
    return path


def test_written_as_csv_or_parquet(tmp_path, model):
    table(rows=60, seed=5).write_csv(tmp_path / "new.csv")
    found = predict_file(model, tmp_path / "new.csv")
    assert pl.read_csv(written(found, tmp_path / "p.csv")).equals(found.frame)
    assert pl.read_parquet(written(found, tmp_path / "p.parquet")).equals(found.frame)


def test_what_does_not_fit(tmp_path, model):
    new = table(rows=60, seed=5)
    new.drop("a", "word").write_csv(tmp_path / "new.csv")
    with pytest.raises(DataError, match="2 of the 4 columns of the model are missing: 'a', 'word'"):
        predict_file(model, tmp_path / "new.csv")
    slip = pl.when(pl.int_range(pl.len()) == 2).then(pl.lit("x")).otherwise(pl.col("a"))
    new.with_columns(a=slip).write_csv(tmp_path / "new.csv")
    found = predict_file(model, tmp_path / "new.csv")
    (remark,) = found.remarks
    assert remark.startswith("column 'a': 1 of 60 values cannot be read as numbers, as in training")
    assert "such as 'x' in row 3; they count as missing" in remark
    new.with_columns(a=pl.when(pl.int_range(pl.len()) != 2).then(pl.col("a"))).write_csv(
        tmp_path / "gap.csv"
    )
    assert predict_file(model, tmp_path / "gap.csv").frame.equals(found.frame)
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
    assert load_model(tmp_path / "run").reading.names == ("f1", "f2", "f3")
    (tmp_path / "new.svm").write_text("0 1:1\n0 1:2\n")  # the last features are zero
    (tmp_path / "new.csv").write_text("f1,f2,f3\n1,0,0\n2,0,0\n")
    found = [
        predict_file(tmp_path / "run", tmp_path / f"new.{kind}").frame for kind in ("svm", "csv")
    ]
    assert found[0].equals(found[1])
    (tmp_path / "wide.svm").write_text("0 9:1\n")
    with pytest.raises(DataError, match="has feature 9, the last of the model is 3"):
        predict_file(tmp_path / "run", tmp_path / "wide.svm")


def test_kept_columns_stand_before_the_scores_in_csv_and_parquet(tmp_path, model):
    new = table(rows=60, seed=5).with_columns(code=pl.lit("007"))
    new.write_csv(tmp_path / "new.csv")
    new.write_parquet(tmp_path / "new.parquet")
    plain = predict_file(model, tmp_path / "new.csv").frame
    for name in ("new.csv", "new.parquet"):
        found = predict_file(model, tmp_path / name, keep=["code,day", "y"])
        assert found.frame.columns == ["code", "day", "y", "score", "probability"]
        assert found.frame.select("score", "probability").equals(plain)
        assert found.frame.select("code", "day", "y").equals(new.select("code", "day", "y"))
        assert written(found, tmp_path / "p.csv").read_text().splitlines()[1].startswith("007,0,")
        assert pl.read_parquet(written(found, tmp_path / "p.parquet")).equals(found.frame)
    every = predict_file(model, tmp_path / "new.csv", keep=["all"]).frame
    assert every.columns == [*new.columns, "score", "probability"]


def test_lists_cannot_be_written_as_csv(tmp_path, model):
    new = table(rows=60, seed=5).with_columns(tags=pl.concat_list("day"))
    new.write_parquet(tmp_path / "new.parquet")
    found = predict_file(model, tmp_path / "new.parquet", keep=["tags"])
    with pytest.raises(
        UsageError, match=r"cannot write the column 'tags' .* as csv; write parquet"
    ):
        written(found, tmp_path / "p.csv")
    assert not (tmp_path / "p.csv").exists()
    assert pl.read_parquet(written(found, tmp_path / "p.parquet"))["tags"].to_list() == [
        [day] for day in range(60)
    ]


def test_the_run_s_own_test_rows_get_the_scores_of_its_results(tmp_path, model):
    rows = rows_of_part(model, "test")
    found = predict_file(model, data_of_run(model), keep=["y"], rows=rows)
    chosen = json.loads((model / "results.json").read_text())["recommended"]
    with np.load(model / "predictions.npz") as arrays:
        np.testing.assert_allclose(found.frame["score"], arrays[f"score_{chosen}"])
        np.testing.assert_allclose(found.frame["probability"], arrays[f"probability_{chosen}"])
        np.testing.assert_array_equal(found.frame["y"], arrays["target"])
    assert found.warning is None
    assert predict_file(model, data_of_run(model), rows=rows).frame.columns == [
        "score", "probability"
    ]  # fmt: skip
    with pytest.raises(DataError, match="has 600 rows, row 700 is wanted"):
        predict_file(model, data_of_run(model), rows=np.array([699]))


def test_rows_the_model_was_trained_on_are_counted_and_marked(tmp_path, model):
    development = np.sort(
        np.concatenate([rows_of_part(model, part) for part in ("train", "validation")])
    )
    expected = np.isin(np.arange(600), development)
    frame = table()
    frame.select(reversed(frame.columns)).write_parquet(tmp_path / "again.parquet")
    for name in ("table.csv", "again.parquet"):
        found = predict_file(model, tmp_path / name)
        assert found.frame.columns == ["score", "probability", "in_training"]
        np.testing.assert_array_equal(found.frame["in_training"], expected)
        assert found.warning is not None
        assert found.warning.startswith(
            "480 of 600 rows (80.0 %) equal a row the model was trained"
        )
        assert "(0.0 % of the held-out rows do)" in found.warning
    pl.concat([table(rows=60, seed=5), frame[development[:1].tolist()]]).write_csv(
        tmp_path / "new.csv"
    )
    found = predict_file(model, tmp_path / "new.csv")
    assert found.warning is not None
    assert found.warning.startswith("1 of 61 rows")
    assert found.frame["in_training"].to_list() == [*[False] * 60, True]


def test_new_rows_get_no_mark_and_no_warning(tmp_path, model):
    table(rows=60, seed=5).write_csv(tmp_path / "new.csv")
    found = predict_file(model, tmp_path / "new.csv")
    assert found.warning is None
    assert found.frame.columns == ["score", "probability"]


def test_duplicates_in_new_rows_are_no_warning_where_held_out_rows_have_as_many(tmp_path):
    rounded = pl.col("a", "b", "c").round(0)
    table(rows=1_500).with_columns(rounded).write_csv(tmp_path / "table.csv")
    run(settings(tmp_path, trials=1), tmp_path / "run")
    known = load_model(tmp_path / "run").training_rows
    assert known is not None
    assert 0.5 < known.duplicate_rate < 0.95
    table(rows=300, seed=5).with_columns(rounded).write_csv(tmp_path / "new.csv")
    assert predict_file(tmp_path / "run", tmp_path / "new.csv").warning is None
    assert predict_file(tmp_path / "run", tmp_path / "table.csv").warning is not None


def test_an_estimator_saved_by_itself_knows_no_training_rows(tmp_path, model):
    ranker = next((model / "model").glob("*.ranker"))
    loaded = load_model(ranker)
    assert loaded.training_rows is None
    names = loaded.reading.names
    rows = np.random.default_rng(0).normal(size=(20, len(names)))
    pl.DataFrame(rows, schema=list(names)).write_csv(tmp_path / "new.csv")
    assert predict_file(ranker, tmp_path / "new.csv").frame.columns == ["score", "probability"]


TEXT = """id;"name, full";code;when;amount;label
7;"a, b";007;2024-02-01;1.50;1
8;;012;2024-03-01;;0
"""


@pytest.fixture
def path(tmp_path):
    (tmp_path / "data.csv").write_text(TEXT)
    return tmp_path / "data.csv"


def test_kept_values_are_those_of_the_csv_file(path):
    found = kept_columns(path, ["all"])
    assert found.to_dict(as_series=False) == {
        "id": [7, 8],
        "name, full": ["a, b", None],
        "code": ["007", "012"],
        "when": ["2024-02-01", "2024-03-01"],
        "amount": [1.5, None],
        "label": [1, 0],
    }


def test_long_ids_keep_their_digits(tmp_path):
    (tmp_path / "a.csv").write_text("id\n12345678901234567890\n12345678901234567891\n")
    found = kept_columns(tmp_path / "a.csv", ["id"])["id"]
    assert found.to_list() == ["12345678901234567890", "12345678901234567891"]


def test_columns_are_named_by_lists_and_repeated_options(path):
    assert kept_columns(path, []).width == 0
    assert kept_columns(path, ["label, id"]).columns == ["label", "id"]
    assert kept_columns(path, ["label", "id,label", "name, full"]).columns == [
        "label", "id", "name, full"
    ]  # fmt: skip


def test_parquet_columns_keep_their_types(tmp_path):
    frame = pl.DataFrame({"tags": [["a"], []], "when": [date(2024, 1, 1), None]})
    frame.write_parquet(tmp_path / "a.parquet")
    assert kept_columns(tmp_path / "a.parquet", ["all"]).equals(frame)


def test_svmlight_has_a_target_and_queries_to_keep(tmp_path):
    (tmp_path / "a.svm").write_text("2 qid:5 1:1\n0 qid:6 1:2\n")
    found = kept_columns(tmp_path / "a.svm", ["all"])
    assert found.to_dict(as_series=False) == {"target": [2, 0], "qid": [5, 6]}


@pytest.mark.parametrize(
    ("keep", "message"),
    [
        (["id,labbel"], "no --keep column 'labbel'; did you mean 'label'?"),
        ([","], "--keep must name a column or be 'all', got ','"),
    ],
)
def test_columns_that_are_not_there_are_refused(path, keep, message):
    with pytest.raises(DataError) as error:
        kept_columns(path, keep)
    assert message in str(error.value)


@pytest.mark.parametrize("name", ["score", "probability", "in_training"])
def test_a_kept_column_must_not_have_the_name_of_an_output_column(tmp_path, name):
    (tmp_path / "a.csv").write_text(f"id,{name}\n1,2\n")
    for keep in (["all"], [name]):
        with pytest.raises(DataError, match=f"cannot keep the column '{name}'.*rename it"):
            kept_columns(tmp_path / "a.csv", keep)
    assert kept_columns(tmp_path / "a.csv", ["id"]).columns == ["id"]
