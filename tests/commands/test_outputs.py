from __future__ import annotations

import os
from pathlib import Path

import pytest
import typer

from rankwise.commands.outputs import require_folder, require_other


def refused(capsys, check, *arguments):
    with pytest.raises(typer.Exit) as done:
        check(*arguments)
    assert done.value.exit_code == 2
    (line,) = capsys.readouterr().err.splitlines()
    return line


def test_a_folder_that_is_or_can_be(tmp_path):
    require_folder(tmp_path)
    require_folder(tmp_path / "a" / "b")
    assert not list(tmp_path.iterdir())


def test_a_folder_named_from_here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    require_folder(Path("runs/a"))
    require_folder(Path())


@pytest.mark.parametrize("below", [(), ("a", "b")])
def test_a_file_is_no_folder(tmp_path, capsys, below):
    path = tmp_path / "file"
    path.write_text("kept")
    out = path.joinpath(*below)
    line = refused(capsys, require_folder, out)
    assert line == f"--out must be a folder, got {out}: {path} is none"
    assert path.read_text() == "kept"


def test_a_link_to_nowhere_is_no_folder(tmp_path, capsys):
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    assert "is none" in refused(capsys, require_folder, tmp_path / "link")


def test_a_folder_that_cannot_be_written_into(capsys):
    line = refused(capsys, require_folder, Path("/proc/rankwise/run"))
    assert line.startswith("--out must be a folder that can be written into, got /proc/rankwise")


def test_a_name_that_no_folder_can_have(tmp_path, capsys):
    assert "File name too long" in refused(capsys, require_folder, tmp_path / ("a" * 300))


def test_what_is_read_is_not_written(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = Path("a.csv")
    data.write_text("")
    Path("link.csv").symlink_to(data)
    os.link(data, "second.csv")
    for same in (data, Path("./a.csv"), data.resolve(), Path("link.csv"), Path("second.csv")):
        line = refused(capsys, require_other, "--json", same, None, Path("no.csv"), data)
        assert line == f"--json must be another file than a.csv, which is read, got {same}"


def test_other_files_may_be_written(tmp_path):
    data = tmp_path / "a.csv"
    data.write_text("")
    require_other("--out", None, data)
    require_other("--out", tmp_path / "b.csv", data, None)
    require_other("--out", data, None, tmp_path / "b.csv", Path("u1," * 300))
