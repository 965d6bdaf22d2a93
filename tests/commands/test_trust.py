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


SMALL = {"linear": [], "mlp": ["--set", "epochs=2"], "boosted": ["--set", "n_estimators=3"]}


@pytest.mark.parametrize("model", SMALL)
def test_a_typed_objective_trains_and_a_finished_run_scores_without_it(tmp_path, model):
    data = written(tmp_path / "train.txt")
    train = ["rank", "train", str(data), "--model", model, "--out", "run", "--metric", "ndcg@3"]
    asked = ["--objective", "my_losses:Mine(margin=2.0)", *SMALL[model]]
    done = RUN.invoke(app, [*train, *asked])
    assert done.exit_code == 0, done.output
    for name, value in {"entries": {}, "typed": set()}.items():
        setattr(REGISTRY, name, value)
    del sys.modules["my_losses"]
    (tmp_path / "my_losses.py").unlink()
    for command in ("evaluate", "predict"):
        found = RUN.invoke(app, ["rank", command, "run", str(data)])
        assert found.exit_code == 0, found.output
    assert "my_losses" not in sys.modules


def test_a_config_may_not_import_code_by_itself(tmp_path, monkeypatch):
    data = written(tmp_path / "train.txt")
    (tmp_path / "config.yaml").write_text("objective: my_losses:Mine\nmodel: linear\n")
    train = ["rank", "train", str(data), "--config", "config.yaml", "--out", "run"]
    refused = RUN.invoke(app, train)
    assert refused.exit_code == 2
    assert "my_losses" not in sys.modules
    assert "--trust" in refused.output
    done = RUN.invoke(app, [*train, "--trust"])
    assert done.exit_code == 0, done.output
    monkeypatch.setattr(REGISTRY, "entries", {})
    resumed = RUN.invoke(app, [*train, "--resume"])
    assert resumed.exit_code == 2
    assert "--trust" in resumed.output


def test_every_command_that_reads_settings_or_a_run_has_trust():
    for path, command in commands(app):
        options = {name for param in command.params for name in param.opts}
        reads = {"--config", "--resume"} & options or "run" in {p.name for p in command.params}
        assert ("--trust" in options) == bool(reads), path
