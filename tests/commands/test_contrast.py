from __future__ import annotations

import re

import pytest
from tests.tasks.contrast.cases import write
from typer.testing import CliRunner

from rankwise.commands.contrast import app
from rankwise.training import RunFolder

RUN = CliRunner()
SMALL = ["--batch", "8", "--epochs", "2", "--width", "2", "--dimension", "4"]


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")


def test_trains_and_says_where(tmp_path):
    data, out = write(tmp_path / "stripes.npz"), tmp_path / "run"
    arguments = ["train", str(data), *SMALL, "--objective", "nt_xent", "--out", str(out)]
    done = RUN.invoke(app, arguments)
    assert done.exit_code == 0, done.output
    for words in ("untrained", "nt_xent", "retrieval, mAP", str(out / "index.html")):
        assert words in done.output
    assert re.search(r"0\.\d{4} ± 0\.\d{4}|1\.0000 ± 0\.0000", done.output)
    assert "objective: nt_xent" in (out / "config.yaml").read_text()
    again = RUN.invoke(app, arguments)
    assert again.exit_code == 2
    assert "already holds a run; pass --resume" in again.output
    assert RUN.invoke(app, [*arguments, "--resume"]).exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--objective", "simclr"], "objective must be one of global_contrastive, nt_xent"),
        (["--batch", "100"], "batch must be at most the 24 training images, got 100"),
        (["--temperature", "0"], "temperature must be a finite number > 0, got 0.0"),
    ],
)
def test_wrong_usage_is_one_line_and_2(tmp_path, arguments, message):
    data = write(tmp_path / "stripes.npz")
    done = RUN.invoke(app, ["train", str(data), *arguments, "--out", str(tmp_path / "run")])
    assert done.exit_code == 2
    assert message in done.output
    assert len(done.output.strip().splitlines()) == 1
    assert not (tmp_path / "run").exists()


def test_a_missing_file_is_wrong_usage(tmp_path):
    done = RUN.invoke(app, ["train", str(tmp_path / "nowhere.npz")])
    assert done.exit_code == 2
    assert "nowhere.npz: there is no such file" in done.output


def test_data_that_cannot_be_used_are_bad_input_and_one_line(tmp_path):
    data = write(tmp_path / "wrong.npz", y_train=None)
    done = RUN.invoke(app, ["train", str(data), "--out", str(tmp_path / "run")])
    assert done.exit_code == 2
    assert "holds no array y_train" in done.output
    assert len(done.output.strip().splitlines()) == 1


def test_a_training_that_runs_away_fails_with_1_and_says_why(tmp_path):
    data = write(tmp_path / "stripes.npz")
    wild = [*SMALL, "--learning-rate", "1e30", "--out", str(tmp_path / "run")]
    done = RUN.invoke(app, ["train", str(data), *wild])
    assert done.exit_code == 1
    assert "scores contains NaN" in done.output


def test_stopped_by_hand_it_says_how_to_go_on(tmp_path, monkeypatch):
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("rankwise.tasks.contrast.run", stop)
    done = RUN.invoke(app, ["train", str(write(tmp_path / "stripes.npz")), *SMALL])
    assert done.exit_code == 1
    assert "the same command with --resume continues" in done.output


def test_the_run_of_another_command_is_left_alone(tmp_path):
    data, out = write(tmp_path / "stripes.npz"), tmp_path / "run"
    with RunFolder(out, "rank").opened():
        (out / "config.yaml").write_text('{"data": {"train": "a.txt"}, "settings": {}}')
    for more in ([], ["--resume"]):
        done = RUN.invoke(app, ["train", str(data), *SMALL, "--out", str(out), *more])
        assert done.exit_code == 2
        assert "holds a run of rankwise rank, not of rankwise contrast" in done.output
        assert len(done.output.strip().splitlines()) == 1
    assert {path.name for path in out.iterdir()} == {"config.yaml", "run.json"}


def test_a_run_killed_before_its_first_checkpoint_is_resumed(tmp_path):
    data, out = write(tmp_path / "stripes.npz"), tmp_path / "run"
    arguments = ["train", str(data), *SMALL, "--out", str(out)]
    assert RUN.invoke(app, arguments).exit_code == 0
    for path in out.iterdir():
        if path.name not in ("config.yaml", "run.json"):
            path.unlink()
    assert RUN.invoke(app, [*arguments, "--resume"]).exit_code == 0


def test_a_file_is_no_folder_of_a_run(tmp_path):
    data = write(tmp_path / "stripes.npz")
    done = RUN.invoke(app, ["train", str(data), *SMALL, "--out", str(data)])
    assert done.exit_code == 2
    assert "--out must be a folder" in done.output
    assert len(done.output.strip().splitlines()) == 1


def test_a_seed_that_is_too_large_leaves_nothing(tmp_path):
    data, out = write(tmp_path / "stripes.npz"), tmp_path / "run"
    done = RUN.invoke(app, ["train", str(data), *SMALL, "--seed", "9" * 23, "--out", str(out)])
    assert done.exit_code == 2
    assert "seed must be a whole number" in done.output
    assert not out.exists()
