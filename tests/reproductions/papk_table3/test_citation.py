from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from rankwise.data import DataError
from reproductions.frame import Setting
from reproductions.papk_table3.citation import COUNTS, PARTS, is_citation
from reproductions.papk_table3.measure import read_instances
from reproductions.papk_table3.study import study


def table(writers=4, papers=15, width=3, seed=0):
    """Every fifth candidate is right, of the last writer none."""
    rng = np.random.default_rng(seed)
    rows = writers * papers
    who = np.arange(rows) // papers
    columns = {
        "u_id": who // 2,  # two papers of each author
        "a_id": np.arange(rows),
        "paper_id_written": who,
        "paper_id_referred": np.arange(rows),
        "c_id": np.zeros(rows, dtype=int),
        **{name: rng.integers(0, 5, rows) for name in COUNTS},
        **{str(i): rng.normal(size=rows) for i in range(2 * width)},
        "label": ((np.arange(rows) % 5 == 0) & (who < writers - 1)).astype(float),
    }
    return pl.DataFrame(columns)


def write(folder, suffix="parquet", change=lambda frame: frame, **size):
    for number, part in enumerate(PARTS):
        path = folder / f"CitationDataset_{part}.{suffix}"
        frame = change(table(seed=number, **size))
        frame.write_csv(path) if suffix == "csv" else frame.write_parquet(path)
    return folder


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_counts_embeddings_and_products_in_the_published_parts(tmp_path, suffix):
    found = read_instances(write(tmp_path, suffix), 0)
    frame = table().filter(pl.col("paper_id_written") < 3)
    assert found.name == "Citation"
    assert found.X.shape == (3 * 45, 7 + 3 * 3)
    assert found.parts.tolist() == [0] * 45 + [1] * 45 + [2] * 45
    np.testing.assert_array_equal(found.split(7), found.parts)  # nothing is drawn
    for place, name in enumerate((*COUNTS, "a_id", "c_id", *map(str, range(6)))):
        np.testing.assert_allclose(found.X[:45, place], frame[name])
    np.testing.assert_allclose(found.X[:45, 14], frame["1"] * frame["4"])
    np.testing.assert_array_equal(found.y[:45], frame["label"] == 1)
    assert found.users[:45].tolist() == [0] * 15 + [1] * 15 + [2] * 15  # a user is one paper
    assert "3 users with fewer than 3 positives or less than 10% of them" in found.story


def test_users_with_too_few_positives_among_many_are_left_out(tmp_path):
    found = read_instances(write(tmp_path, papers=60, writers=2), 0)
    assert len(np.unique(found.users)) == 1
    rare = tmp_path / "rare"
    rare.mkdir()
    seldom = pl.col("label") * (pl.int_range(pl.len()) % 20 == 0)  # 3 of 60
    with pytest.raises(DataError, match="none of 2 users has 3 positives and 10% of them"):
        read_instances(
            write(rare, change=lambda f: f.with_columns(label=seldom), papers=60, writers=2), 0
        )


def test_the_printed_width_and_that_of_the_authors_code(tmp_path):
    printed = read_instances(write(tmp_path, width=50), 0)
    assert printed.X.shape[1] == 157
    assert "7 features of authors and conferences (CoAuthorCount, " in printed.story
    assert "UserPublishedInConferenceCount, a_id, c_id)" in printed.story
    assert "3 · 50 numbers: d = 157" in printed.story
    coded = read_instances(tmp_path, 0, interactions=5)
    assert coded.X.shape[1] == 155
    np.testing.assert_array_equal(coded.X[:, :5], printed.X[:, :5])
    np.testing.assert_array_equal(coded.X[:, 5:], printed.X[:, 7:])


def test_the_number_of_interactions_is_an_option_of_the_study(tmp_path):
    data = write(tmp_path, papers=30)
    plans = [
        study.plan.of(Setting(quick=True, data=data, options=options))
        for options in ({}, {"interactions": 5})
    ]
    assert [plan.instances.X.shape[1] for plan in plans] == [7 + 9, 5 + 9]
    with pytest.raises(ValueError, match="interactions must be 5 or 7, got 6"):
        study.plan.of(Setting(data=data, options={"interactions": 6}))
    with pytest.raises(DataError, match="--reduction is for Behance, got 'umap' and Citation"):
        study.plan.of(Setting(data=data, options={"reduction": "umap"}))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.drop("a_id"), "has no column 'a_id' .--interactions 5 leaves it out"),
        (
            lambda f: f.with_columns(pl.lit("ICML").alias("c_id")),
            "row 1: c_id must be a number .--interactions 5 leaves it out",
        ),
    ],
)
def test_files_without_the_two_numbers_are_read_as_the_authors_code_does(tmp_path, change, message):
    write(tmp_path, change=change)
    with pytest.raises(DataError, match=message):
        read_instances(tmp_path, 0)
    assert read_instances(tmp_path, 0, interactions=5).X.shape[1] == 5 + 3 * 3


def test_a_file_stands_for_its_folder(tmp_path):
    write(tmp_path)
    assert len(read_instances(tmp_path / "CitationDataset_Test.parquet", 0).y) == 135


def test_one_split_has_no_interval(tmp_path):
    page = study(Setting(quick=True, data=write(tmp_path, papers=30)))
    text = str([section.tables for section in page.sections])
    assert "one split, so without an interval" in text
    assert "±" not in text
    assert "nan" not in text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.with_columns(label=pl.lit(2)), "row 1: the label must be 0 or 1, got 2"),
        (lambda f: f.drop("5"), "an even number of columns 0, 1, …, got 5 of them"),
        (lambda f: f.drop("CoAuthorCount"), "has no column 'CoAuthorCount'"),
        (lambda f: f.with_columns(pl.lit(None).alias("2")), "row 1: 2 must be a number"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, change, message):
    with pytest.raises(DataError, match=message):
        read_instances(write(tmp_path, change=change), 0)


def test_a_pickle_is_not_opened(tmp_path):
    for part in PARTS:
        (tmp_path / f"CitationDataset_{part}.pkl").write_bytes(b"cos\nsystem\n(S'false'\ntR.")
    with pytest.raises(DataError, match=r"Train\.pkl is a pickle and not opened; pandas"):
        read_instances(tmp_path, 0)


def test_a_missing_part_is_named(tmp_path):
    (write(tmp_path) / "CitationDataset_Val.parquet").unlink()
    with pytest.raises(DataError, match=r"no CitationDataset_Val\.parquet or \.csv"):
        read_instances(tmp_path, 0)


def test_other_tables_are_not_taken_for_it(tmp_path):
    pl.DataFrame({"user": [1], "item": [2], "rating": [3.0]}).write_csv(tmp_path / "r.csv")
    assert not is_citation(tmp_path / "r.csv")
    assert not is_citation(tmp_path)
