"""Commands on a Ray cluster of two workers are those of torchrun with two processes."""

from __future__ import annotations

import pytest
from tests.commands.test_classify import data as classify_data
from tests.commands.test_detect import data as detect_data
from tests.commands.test_retrieval import data as retrieval_data
from tests.tasks.contrast.cases import write
from tests.tasks.ranking.cases import written
from tests.training.processes import run_command
from tests.training.ray_cluster import cluster
from typer.testing import CliRunner

from rankwise.cli import app

__all__ = ["classify_data", "cluster", "detect_data", "retrieval_data"]  # fixtures

pytestmark = pytest.mark.full
RUN = CliRunner()


def same(words: list[str], folder) -> None:
    """Train both ways; what is written is the same."""
    run_command(2, *words, "--out", str(folder / "torchrun"))
    stored = f"workers=2,storage={folder / 'storage'}"
    done = RUN.invoke(app, [*words, "--out", str(folder / "ray"), "--ray", stored])
    assert done.exit_code == 0, done.output
    for name in ("results.json", "metrics.csv"):
        expected = folder / "torchrun" / name
        if expected.exists():
            for other in ("ray", "storage"):
                assert (folder / other / name).read_bytes() == expected.read_bytes(), name
    again = RUN.invoke(app, [*words, "--out", str(folder / "ray"), "--ray", stored])
    assert again.exit_code == 2
    assert "storage already holds a run; pass --resume" in again.output


def test_contrast(cluster, tmp_path):
    data = write(tmp_path / "stripes.npz")
    few = ["--batch", "4", "--epochs", "2", "--width", "2", "--dimension", "4"]
    same(["contrast", "train", str(data), *few], tmp_path)


def test_rank(cluster, tmp_path):
    data = written(tmp_path / "lists.txt")
    few = ["--set", "epochs=3", "--set", "hidden=[4]", "--set", "batch_size=24"]
    same(["rank", "train", str(data), *few], tmp_path)


@pytest.mark.parametrize("command", ["retrieval", "classify", "detect"])
def test_images(cluster, request, command):
    data = request.getfixturevalue(f"{command}_data")
    root = data / ("data" if command == "detect" else "images")
    words = [command, "train", str(data / "config.yaml"), "--root", str(root)]
    same([*words, "--set", "training.steps=2", "--set", "training.validate_every=1"], data)
