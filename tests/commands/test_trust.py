"""``module:object`` runs code: typed, it is imported; from a file only with ``--trust``."""

from __future__ import annotations

import sys

import pytest
from tests.command_line import commands
from tests.tasks.ranking.cases import written
from typer.testing import CliRunner

from rankwise.cli import app
from rankwise.naming.registry import REGISTRY

RUN = CliRunner(env={"COLUMNS": "200"})
SOURCE = """
import torch
from rankwise.objectives import XRisk
class Mine(XRisk):
    def __init__(self, margin: float = 1.0) -> None:
        super().__init__(f"squared_hinge({margin})", torch.log1p)
"""


@pytest.fixture(autouse=True)
def module(tmp_path, monkeypatch):
    (tmp_path / "my_losses.py").write_text(SOURCE)
    monkeypatch.chdir(tmp_path)
    for name, value in {"entries": {}, "typed": set(), "trusts_files": False}.items():
        monkeypatch.setattr(REGISTRY, name, value)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield
    sys.modules.pop("my_losses", None)


def test_a_typed_objective_trains_and_a_saved_run_needs_trust(tmp_path):
    data = written(tmp_path / "train.txt")
    train = ["rank", "train", str(data), "--model", "linear", "--out", "run", "--metric", "ndcg@3"]
    done = RUN.invoke(app, [*train, "--objective", "my_losses:Mine(margin=2.0)"])
    assert done.exit_code == 0, done.output
    for name, value in {"entries": {}, "typed": set()}.items():
        setattr(REGISTRY, name, value)
    evaluate = ["rank", "evaluate", "run", str(data)]
    refused = RUN.invoke(app, evaluate)
    assert refused.exit_code == 2
    assert "--trust" in refused.output
    trusted = RUN.invoke(app, [*evaluate, "--trust"])
    assert trusted.exit_code == 0, trusted.output


def test_a_config_may_not_import_code_by_itself(tmp_path):
    data = written(tmp_path / "train.txt")
    (tmp_path / "config.yaml").write_text("objective: my_losses:Mine\nmodel: linear\n")
    train = ["rank", "train", str(data), "--config", "config.yaml", "--out", "run"]
    refused = RUN.invoke(app, train)
    assert refused.exit_code == 2
    assert "my_losses" not in sys.modules
    assert "--trust" in refused.output
    done = RUN.invoke(app, [*train, "--trust"])
    assert done.exit_code == 0, done.output


def test_every_command_that_reads_settings_or_a_run_has_trust():
    for path, command in commands(app):
        options = {name for param in command.params for name in param.opts}
        reads = {"--config", "--resume"} & options or "run" in {p.name for p in command.params}
        assert ("--trust" in options) == bool(reads), path
