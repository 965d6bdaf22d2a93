"""A fit from a parquet file is the fit of its rows in memory."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np
import polars as pl
import pytest

from rankwise.estimators import (
    BoostedRanker,
    LinearRanker,
    NeuralRanker,
    PApAtKRanker,
    Ranker,
    _parquet,
)
from rankwise.estimators.data import Part, Training
from rankwise.estimators.neural._training import epoch_batches, objective_for

RANKERS = {
    "linear": LinearRanker("ap", random_state=3),
    "linear, log-loss": LinearRanker("log_loss", random_state=3, standardize=False),
    "neural": NeuralRanker("ap", random_state=3, epochs=4, batch_size=64, warm_start_epochs=1),
    "lightgbm": BoostedRanker("ap", random_state=3, n_estimators=8, n_jobs=1),
    "lightgbm, folds": BoostedRanker("ap", random_state=3, n_estimators=4, folds=3, n_jobs=1),
    "xgboost": BoostedRanker("ap", random_state=3, n_estimators=8, engine="xgboost", n_jobs=1),
}


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(_parquet, "_ROWS", 170)
    monkeypatch.setattr("rankwise.boosting.disk.BLOCK", 1 << 12)
    monkeypatch.setattr("rankwise.boosting.engines.with_xgboost._PAGE", 1 << 12)


@pytest.fixture
def numbers():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((900, 4)).astype(np.float32) + np.float32(3)
    y = x[:, 0] + x[:, 1] ** 2 / 4 + rng.standard_normal(900) > 7
    return pl.DataFrame({**{f"x{n}": x[:, n] for n in range(4)}, "y": y.astype(np.int8)})


@pytest.fixture
def mixed(numbers):
    """Missing values, words, dates, weights and a column that is no feature."""
    rng, n = np.random.default_rng(1), numbers.height
    begin = datetime(2023, 1, 1)
    return numbers.with_columns(
        x1=pl.when(pl.Series(rng.random(n) < 0.2)).then(None).otherwise("x1"),
        color=pl.Series(rng.choice(["red", "blue", "green", None], n, p=[0.5, 0.3, 0.1, 0.1])),
        when=pl.Series([begin + timedelta(days=int(d)) for d in rng.integers(0, 60, n)]),
        flag=pl.Series(rng.random(n) < 0.5),
        w=pl.Series(rng.choice([0.0, 1.0, 2.0], n)),
        row=pl.Series(np.arange(n)),
        y=pl.col("y").cast(pl.Int64).replace_strict({0: "no", 1: "yes"}),
    )


def written(frame, folder, row_group=130):
    path = folder / "rows.parquet"
    frame.write_parquet(path, row_group_size=row_group)
    return path


def both(ranker, frame, folder, **roles):
    """Return two fits, from the file and in memory, and the features."""
    from sklearn.base import clone

    on_disk = clone(ranker).fit_parquet(written(frame, folder), "y", **roles, folder=folder)
    features = frame.drop("y", *roles.pop("drop", ()), *roles.values())
    given = {"sample_weight": roles.get("weight"), "groups": roles.get("groups")}
    given = {name: frame[column].to_numpy() for name, column in given.items() if column}
    return on_disk, clone(ranker).fit(features, frame["y"].to_numpy(), **given), features


@pytest.mark.parametrize("name", RANKERS)
def test_numbers_give_the_model_of_memory(numbers, tmp_path, name):
    on_disk, in_memory, features = both(RANKERS[name], numbers, tmp_path)
    assert on_disk.held_out_ == in_memory.held_out_ > 0
    scores = [model.decision_function(features) for model in (on_disk, in_memory)]
    np.testing.assert_allclose(*scores, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(on_disk.predict(features), in_memory.predict(features))
    assert [path.name for path in tmp_path.iterdir()] == ["rows.parquet"]  # all else is deleted


@pytest.mark.parametrize("name", ["linear", "neural", "lightgbm", "xgboost"])
def test_words_dates_gaps_and_weights_are_learned_from_all_rows(mixed, tmp_path, name):
    roles = {"weight": "w", "drop": ["row"]}
    on_disk, in_memory, features = both(RANKERS[name], mixed, tmp_path, **roles)
    assert on_disk.preparation_ == in_memory.preparation_
    assert on_disk.classes_.tolist() == in_memory.classes_.tolist() == ["no", "yes"]
    assert list(on_disk.feature_names_in_) == features.columns
    np.testing.assert_allclose(on_disk.prior_, in_memory.prior_)
    scores = [model.decision_function(features) for model in (on_disk, in_memory)]
    np.testing.assert_allclose(*scores, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", ["linear", "neural", "lightgbm", "xgboost"])
def test_lists_of_relevances(numbers, tmp_path, name):
    relevance = (numbers["x0"] - 2).clip(0, 3).round().cast(pl.Int64)
    frame = numbers.with_columns(y=relevance, query=pl.Series(np.arange(900) // 9 % 70))
    ranker = RANKERS[name].__class__(**{**RANKERS[name].get_params(), "objective": "ndcg@5"})
    on_disk, in_memory, features = both(ranker, frame, tmp_path, groups="query")
    scores = [model.decision_function(features) for model in (on_disk, in_memory)]
    np.testing.assert_allclose(*scores, rtol=1e-4, atol=1e-4)


def test_the_files_of_a_folder_are_one_table(numbers, tmp_path):
    for name, rows in (("b", slice(500, None)), ("a", slice(0, 500))):
        numbers[rows].write_parquet(tmp_path / f"{name}.parquet")
    model = LinearRanker("ap", random_state=3).fit_parquet(tmp_path, "y")
    whole = LinearRanker("ap", random_state=3).fit(numbers.drop("y"), numbers["y"].to_numpy())
    np.testing.assert_allclose(model.coef_, whole.coef_, rtol=1e-5, atol=1e-5)


def test_a_model_of_a_file_is_saved_and_loaded(mixed, tmp_path):
    path = written(mixed, tmp_path)
    model = RANKERS["linear"].fit_parquet(path, "y", weight="w", drop=["row"])
    features = mixed.drop("y", "w", "row")
    again = Ranker.load(model.save(tmp_path / "model"))
    np.testing.assert_array_equal(again.predict_proba(features), model.predict_proba(features))


@pytest.mark.parametrize("name", ["linear", "neural", "xgboost"])
def test_a_checkpoint_of_the_same_file_is_resumed(numbers, tmp_path, name):
    from sklearn.base import clone

    path, file = written(numbers, tmp_path), tmp_path / "state.pt"
    first = clone(RANKERS[name]).fit_parquet(path, "y", checkpoint=file)
    second = clone(RANKERS[name]).fit_parquet(path, "y", checkpoint=file)
    features = numbers.drop("y")
    np.testing.assert_array_equal(*(m.decision_function(features) for m in (first, second)))
    written(numbers.with_columns(pl.col("x0") + 1), tmp_path)
    with pytest.raises(ValueError, match="cannot be resumed: other data"):
        clone(RANKERS[name]).fit_parquet(path, "y", checkpoint=file)


def test_what_cannot_be_read_is_said(numbers, tmp_path):
    ranker, path = LinearRanker("ap"), written(numbers, tmp_path)
    for options, message in (
        ({"target": "z"}, r"target must be a column of .*rows.parquet, got 'z'; the columns are"),
        ({"weight": "w"}, "weight must be a column of"),
        ({"drop": ["w"]}, "drop must be a column of"),
        ({"drop": "x0"}, "drop must be a list of columns, got 'x0'"),
        ({"drop": ["x0", "x1", "x2", "x3"]}, "has no column of features"),
    ):
        with pytest.raises(ValueError, match=message):
            ranker.fit_parquet(path, **{"target": "y", **options})
    with pytest.raises(ValueError, match="which does not exist"):
        ranker.fit_parquet(tmp_path / "nowhere", "y")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="which has no file"):
        ranker.fit_parquet(tmp_path / "empty", "y")
    with pytest.raises(ValueError, match="PApAtKRanker needs all rows in memory"):
        PApAtKRanker().fit_parquet(path, "y")
    (tmp_path / "text.parquet").write_text("x,y\n1,2\n")
    with pytest.raises(ValueError, match=r"text.parquet: cannot be read as parquet"):
        ranker.fit_parquet(tmp_path / "text.parquet", "y")


def test_values_that_cannot_be_learned_from_are_named(numbers, tmp_path):
    ranker = LinearRanker("ap")
    changes = {
        "rows 341 to 510: Input X contains infinity": {"x1": pl.when(pl.int_range(900) == 400)
                                                       .then(np.inf).otherwise("x1")},
        "target 'y' of .* has no value in 1 rows": {"y": pl.when(pl.int_range(900) != 7).then("y")},
        "Unknown label type": {"y": pl.int_range(900) / 7},
        "got only one class": {"y": pl.lit(1)},
    }  # fmt: skip
    for message, change in changes.items():
        path = written(numbers.with_columns(**change), tmp_path)
        with pytest.raises(ValueError, match=message):
            ranker.fit_parquet(path, "y")
    path = written(numbers.clear(), tmp_path)
    with pytest.raises(ValueError, match="and no rows"):
        ranker.fit_parquet(path, "y")


@pytest.mark.parametrize("name", ["linear", "xgboost"])
def test_some_rows_with_arrays_are_those_rows_in_memory(mixed, tmp_path, name):
    from sklearn.base import clone

    rows = np.flatnonzero(np.arange(mixed.height) % 3 > 0)
    some = mixed[rows]
    target, weight = (some["y"] == "yes").to_numpy(), some["w"].to_numpy() + 1
    drop, features = ["y", "w", "row"], some.drop("y", "w", "row")
    on_disk = clone(RANKERS[name]).fit_parquet(
        written(mixed, tmp_path), target, weight=weight, drop=drop, rows=rows
    )
    in_memory = clone(RANKERS[name]).fit(features, target, sample_weight=weight)
    scores = (each.decision_function(features) for each in (on_disk, in_memory))
    np.testing.assert_allclose(*scores, rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize(
    ("rows", "target", "message"),
    [
        ([2, 1, 5], [0, 1, 0], "rows must be numbers of rows, ascending"),
        ([1, 1, 5], [0, 1, 0], "rows must be numbers of rows, ascending"),
        ([-1, 1, 5], [0, 1, 0], "rows must be numbers of rows, ascending"),
        ([1, 2, 900], [0, 1, 0], "rows must be numbers from 0 to 899"),
        ([1, 2, 3], [0, 1], "target must have a value for each of 3 rows, got 2"),
    ],
)
def test_rows_that_are_not_there_are_refused(numbers, tmp_path, rows, target, message):
    path = written(numbers, tmp_path)
    with pytest.raises(ValueError, match=message):
        LinearRanker("ap").fit_parquet(path, target, rows=rows, drop=["y"])


class TestPartialEpochs:
    @pytest.fixture(autouse=True)
    def short_groups(self, monkeypatch):
        monkeypatch.setattr("rankwise.estimators.data.ROW_GROUP", 50)

    @pytest.fixture
    def drawn(self, monkeypatch):
        """The rows of every epoch of a fit."""
        rows, draw = [], Training.epoch_rows

        def recorded(data, epoch):
            rows.append(draw(data, epoch))
            return rows[-1]

        monkeypatch.setattr(Training, "epoch_rows", recorded)
        return rows

    def test_an_epoch_has_whole_row_groups_with_both_classes(self):
        target = np.zeros(975)
        target[[120, 121, 960]] = 1
        part = Part(np.zeros((975, 1)), target)
        data = Training(part, part, 0.1, 7, lambda *_: 0.0, epoch_fraction=0.3)
        seen = np.zeros(975, dtype=int)
        for epoch in range(40):
            rows = data.epoch_rows(epoch)
            np.testing.assert_array_equal(rows, data.epoch_rows(epoch))
            groups, sizes = np.unique(rows // 50, return_counts=True)
            assert len(groups) >= 6
            assert {2, 19} & set(groups.tolist())  # the groups that have positives
            np.testing.assert_array_equal(sizes, np.where(groups == 19, 25, 50))
            seen[rows] += 1
        assert seen.min() > 0
        assert replace(data, epoch_fraction=1.0).epoch_rows(0) is None

    def test_a_search_of_a_linear_model_learns_from_the_rows_drawn(self, numbers, tmp_path, drawn):
        same = {"random_state": 3, "standardize": False, "validation_fraction": 0}
        partial = LinearRanker("log_loss", **same)
        partial.fit_parquet(written(numbers, tmp_path), "y", epoch_fraction=0.4)
        (rows,) = drawn
        assert len(rows) == 7 * 50  # of 18 groups
        some = numbers[rows]
        alone = LinearRanker("log_loss", **same).fit(some.drop("y"), some["y"].to_numpy())
        np.testing.assert_allclose(partial.coef_, alone.coef_, rtol=1e-4)
        whole = LinearRanker("log_loss", **same).fit(numbers.drop("y"), numbers["y"].to_numpy())
        assert np.abs(partial.coef_ - whole.coef_).max() > 1e-3

    @pytest.mark.parametrize("name", ["linear", "neural"])
    def test_partial_epochs_rank_nearly_as_well(self, numbers, tmp_path, drawn, name):
        from sklearn.base import clone

        path, features = written(numbers, tmp_path), numbers.drop("y")
        partial, whole = (
            clone(RANKERS[name]).fit_parquet(path, "y", epoch_fraction=share)
            for share in (0.4, 1.0)
        )
        first, second = drawn[0], drawn[1]
        assert not np.array_equal(first, second)
        values = [m.score(features, numbers["y"].to_numpy()) for m in (partial, whole)]
        assert values[0] > values[1] - 0.05
        assert values[0] != values[1]

    def test_batches_of_a_network_are_of_the_rows_drawn(self):
        target = (np.arange(975) % 10 == 0).astype(np.float64)
        part = Part(np.zeros((975, 1)), target)
        data = Training(part, part, 0.1, 7, lambda *_: 0.0, epoch_fraction=0.3)
        for name in ("log_loss", "ap"):
            drawn = epoch_batches(data, objective_for(name, data), 64, None)
            for epoch in range(3):
                taken = np.concatenate(next(drawn))
                rows = data.epoch_rows(epoch)
                assert set(taken.tolist()) <= set(rows.tolist())
                assert set(taken[target[taken] == 0].tolist()) == set(rows[target[rows] == 0])

    @pytest.mark.parametrize("share", [0, -0.1, 1.5, float("nan")])
    def test_a_share_is_above_0_and_at_most_1(self, numbers, tmp_path, share):
        with pytest.raises(ValueError, match=r"epoch_fraction must be in \(0, 1\], got"):
            LinearRanker("ap").fit_parquet(written(numbers, tmp_path), "y", epoch_fraction=share)

    def test_trees_and_lists_need_all_rows(self, numbers, tmp_path):
        path = written(numbers.with_columns(query=pl.Series(np.arange(900) // 9)), tmp_path)
        for ranker, groups in ((RANKERS["xgboost"], None), (LinearRanker("ap"), "query")):
            with pytest.raises(ValueError, match=r"epoch_fraction must be 1 for .* groups"):
                ranker.fit_parquet(path, "y", groups=groups, epoch_fraction=0.5)
