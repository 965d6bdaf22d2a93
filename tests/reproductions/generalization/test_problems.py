"""The problems: laws of the scores against samples, and the tables."""

from __future__ import annotations

import polars as pl
import pytest
import torch
from tests.reproductions.generalization.small import table

from rankwise.data import DataError
from reproductions.generalization.problems import Gaussian, read_table


def test_scores_in_closed_form_have_the_law_of_scored_features():
    problem, generator = Gaussian(features=4), torch.Generator().manual_seed(0)
    weights = torch.tensor([[1.0, -0.5, 0.3, 0.8]])
    drawn = problem.draw(1, 40_000, 40_000, generator) @ weights[0]
    closed = problem.fresh(weights, 1, 40_000, 40_000, generator)[0]
    for part in (slice(0, 40_000), slice(40_000, None)):
        ours, theirs = closed[0, part], drawn[0, part]
        assert float(ours.mean()) == pytest.approx(float(theirs.mean()), abs=0.03)
        assert float(ours.std()) == pytest.approx(float(theirs.std()), rel=0.02)


def test_quantiles_are_a_long_sample():
    problem, weights = Gaussian(features=2), torch.tensor([[0.5, 0.5]])
    grid = problem.quantiles(weights, 5000, 5000)[0, 0]
    middle = 0.5 * float(problem.center.sum())
    assert float(grid[:5000].mean()) == pytest.approx(middle, abs=1e-5)
    assert float(grid[5000:].mean()) == pytest.approx(-middle, abs=1e-5)
    assert float(grid[:5000].std()) == pytest.approx(0.5**0.5, rel=1e-3)


def test_rows_of_a_table_are_drawn_from_their_class():
    problem, generator = table(), torch.Generator().manual_seed(0)
    lists = problem.draw(3, 5, 7, generator)
    assert lists.shape == (3, 12, 2)
    for row in lists[0, :5]:
        assert bool((problem.positives == row).all(1).any())
    for row in lists[0, 5:]:
        assert bool((problem.negatives == row).all(1).any())


def test_fresh_scores_of_a_table_are_those_of_its_rows():
    problem, generator = table(), torch.Generator().manual_seed(0)
    weights = torch.tensor([[1.0, 0.0], [0.0, 2.0]])
    scores = problem.fresh(weights, 4, 5, 7, generator)
    assert scores.shape == (2, 4, 12)
    assert bool(torch.isin(scores[0, :, :5], problem.positives[:, 0]).all())
    assert bool(torch.isin(scores[1, :, 5:], 2 * problem.negatives[:, 1]).all())


def test_without_data_it_is_the_digits():
    problem = read_table(None)
    assert len(problem.positives) + len(problem.negatives) == 1797
    assert problem.features == 61
    whole = torch.cat([problem.positives, problem.negatives])
    assert float(whole.mean(0).abs().max()) < 1e-5


def test_campaign_is_read_from_the_folder(tmp_path):
    (tmp_path / "tabular").mkdir()
    frame = pl.DataFrame({"a": [1.0, 2, 3, 4], "same": [1.0] * 4, "target": [1, 0, 0, 1]})
    frame.write_parquet(tmp_path / "tabular" / "campaign.parquet")
    problem = read_table(tmp_path)
    assert (problem.name, len(problem.positives), len(problem.negatives)) == ("campaign", 2, 2)
    assert problem.features == 1


def test_a_folder_without_it_is_an_error(tmp_path):
    with pytest.raises(DataError, match=r"tabular/campaign\.parquet"):
        read_table(tmp_path)
