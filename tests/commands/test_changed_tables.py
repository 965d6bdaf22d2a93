"""A table of predictions that was changed after it was written is refused by all that reads it."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from rankwise.cli import app
from rankwise.commands.console import write_frame

RUN = CliRunner()

COMMANDS = {
    "evaluate": ["evaluate", "A", "--target", "y", "--score", "score"],
    "bounded": ["evaluate", "A", "--target", "y", "--score", "score", "--memory", "bounded"],
    "files": ["evaluate", "B", "A", "--target", "y", "--score", "score"],
    "systems": ["evaluate", "A", "--target", "y", "--score", "score", "--score", "probability"],
    "drift": ["drift", "B", "A"],
    "drift with labels": ["drift", "B", "A", "--target", "y"],
    "fuse": ["fuse", "B", "A", "--id", "id"],
}


@pytest.fixture
def written(tmp_path):
    """Two tables as ``rankwise predict --out`` writes them, the first with one row more."""
    rng = np.random.default_rng(0)
    paths = {}
    for name in "AB":
        y = rng.integers(0, 2, 200)
        score = y + rng.normal(size=200)
        columns = {"id": range(200), "y": y, "score": score, "probability": 1 / (1 + np.exp(score))}
        paths[name] = tmp_path / f"{name}.csv"
        write_frame(pl.DataFrame(columns), paths[name])
    with paths["A"].open("a") as file:
        file.write("200,1,0.5,0.5\n")
    return paths


@pytest.mark.parametrize("command", COMMANDS)
def test_a_row_more_is_refused_unless_the_digest_is_removed(written, command):
    arguments = [str(written.get(word, word)) for word in COMMANDS[command]]
    done = RUN.invoke(app, arguments)
    assert done.exit_code == 2, done.output
    assert "A.csv: its SHA-256 is not that of A.csv.sha256" in done.stderr
    assert "remove A.csv.sha256 if the change is yours" in done.stderr
    assert done.stderr.count("\n") == 1
    written["A"].with_name("A.csv.sha256").unlink()
    done = RUN.invoke(app, arguments)
    assert done.exit_code == 0, done.output
