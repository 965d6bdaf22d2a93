"""``rankwise compare --out-of-core``: the features stay in the parquet file."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

from rankwise.data import DataError, read_table
from rankwise.data._disk_table import read_disk_table
from rankwise.data.disk import DiskFeatures
from rankwise.tasks.compare import fit, pipeline
from rankwise.tasks.compare.candidates import Candidate
from rankwise.tasks.compare.problem import read_problem
from rankwise.tasks.compare.settings import Settings
from rankwise.tasks.compare.training_rows import row_hashes


@pytest.fixture
def path(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((1_500, 4)).astype(np.float32)
    y = (x[:, 0] + x[:, 1] + rng.normal(size=1_500) > 2).astype(np.int64)
    frame = pl.DataFrame({f"x{n}": x[:, n] for n in range(4)}).with_columns(
        count=pl.Series(rng.integers(0, 9, 1_500)),
        id=pl.Series(rng.permutation(1_500)),
        same=pl.lit(3),
        y=pl.Series(y).cast(pl.String).replace({"0": "no", "1": "yes"}),
    )
    frame = frame.with_columns(
        y=pl.when(pl.int_range(1_500) % 50 == 7).then(None).otherwise("y"),
        x2=pl.when(pl.int_range(1_500) % 9 == 1).then(None).otherwise("x2"),
    )
    found = tmp_path / "rows.parquet"
    frame.write_parquet(found, row_group_size=300)
    return found


@pytest.fixture
def on_disk(monkeypatch):
    """Rows stay on disk in every fit, however few they are."""
    monkeypatch.setattr(fit, "ON_DISK", 0)


def settings(path, **more):
    asked = {"target": "y", "metric": "ap", "budget": "4s", "trials": 1, "out_of_core": True}
    return Settings(data=path, **(asked | more))


def test_the_table_is_that_in_memory(path):
    whole, disk = read_table(path, target="y"), read_disk_table(path, target="y")
    assert isinstance(disk.features, DiskFeatures)
    assert disk.names == whole.names == ("x0", "x1", "x2", "x3", "count")
    assert disk.positive == whole.positive == "yes"
    assert disk.without_target == whole.without_target == 30
    assert {c.name: c.left_out for c in disk.columns} == {c.name: c.left_out for c in whole.columns}
    np.testing.assert_array_equal(disk.target, whole.target)
    rows = np.array([0, 7, 8, 400, 1_469])
    for ours, theirs in ((disk.features, whole.features), (disk.of(rows), whole.of(rows))):
        assert ours.shape == theirs.shape
        assert ours.frame().equals(theirs)
        np.testing.assert_array_equal(row_hashes(ours, disk.names), row_hashes(theirs, whole.names))
    with pytest.raises(ValueError, match="ascending"):
        disk.of(np.array([3, 2]))


@pytest.mark.parametrize("model", ["linear", "boosted", "neural"])
@pytest.mark.parametrize("objective", ["log_loss", "ap"])
def test_a_fit_from_disk_is_that_in_memory(path, on_disk, model, objective):
    candidate, rows = Candidate(model, objective), np.arange(0, 1_400, 2)
    scores = []
    for out_of_core in (True, False):
        problem = read_problem(settings(path, out_of_core=out_of_core))
        params = {"engine": "xgboost"} if model == "boosted" and not out_of_core else {}
        members = fit.fit_members(candidate, params, problem, rows, range(1), short=True)
        scores.append(fit.scored(members, problem, np.arange(1_400, 1_470))[0])
    np.testing.assert_allclose(*scores, rtol=1e-3, atol=1e-4)


def test_a_comparison_finishes_and_its_model_is_read_back(path, tmp_path, on_disk):
    asked = settings(path, candidates="linear:log_loss,linear:ap,boosted:log_loss")
    found = pipeline.run(asked, tmp_path / "run")
    results = json.loads((tmp_path / "run" / "results.json").read_text())
    assert {each["name"] for each in results["candidates"]} == {
        "linear, log-loss",
        "linear, ap",
        "boosted, log-loss",
    }
    assert max(each["test"]["value"] for each in results["candidates"]) > 0.3
    assert found.report.exists()
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert config["out_of_core"] is True
    assert results["importance"]["columns"][0]["name"] in ("x0", "x1")


def test_what_cannot_stay_on_disk_is_refused(path, tmp_path):
    frame = pl.read_parquet(path)
    words = tmp_path / "words.parquet"
    frame.with_columns(city=pl.lit("Ulm")).write_parquet(words)
    with pytest.raises(DataError, match="takes columns of numbers, got 'city' of type String"):
        read_problem(settings(words))
    assert read_problem(settings(words, drop=("city",))).table.names[0] == "x0"
    frame.write_csv(tmp_path / "rows.csv")
    with pytest.raises(DataError, match="--out-of-core reads parquet"):
        read_problem(settings(tmp_path / "rows.csv"))
    with pytest.raises(DataError, match="--text x0 cannot be combined with --out-of-core"):
        read_problem(settings(path, text=("x0",)))
    with pytest.raises(DataError, match="there is no drop column 'none'"):
        read_problem(settings(path, drop=("none",)))
    infinite = tmp_path / "infinite.parquet"
    frame.with_columns(x0=pl.lit(float("inf"))).write_parquet(infinite)
    with pytest.raises(DataError, match="the column 'x0' holds infinite values"):
        read_problem(settings(infinite))
    with pytest.raises(DataError, match="trains in one process"):
        pipeline.run(settings(path), tmp_path / "run", ray="workers=2")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("end", [0, 40, -5])
def test_a_damaged_file_is_one_line_before_polars_reads_it(path, tmp_path, end):
    damaged = tmp_path / "damaged.parquet"
    damaged.write_bytes(path.read_bytes()[:end])
    with pytest.raises(DataError, match=r"damaged\.parquet: cannot be read as parquet"):
        read_disk_table(damaged, target="y")


def test_a_page_that_is_damaged_later_is_one_line(path, tmp_path):
    copied = tmp_path / "copied.parquet"
    copied.write_bytes(path.read_bytes())
    features = read_disk_table(copied, target="y").features
    assert isinstance(features, DiskFeatures)
    copied.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(DataError, match=r"copied\.parquet: cannot be read as parquet"):
        list(features.batches())
