from __future__ import annotations

import pytest
import typer

from rankwise.commands.shared import names_of, one_line, say, show
from rankwise.errors import UsageError
from rankwise.report import Table


def test_names_are_parted_outside_of_parentheses():
    assert names_of("metrics", "ndcg@10, opauc(min_fpr=0, max_fpr=.1) ,,ap") == [
        "ndcg@10",
        "opauc(min_fpr=0, max_fpr=.1)",
        "ap",
    ]
    with pytest.raises(UsageError, match="--metrics must name at least one"):
        names_of("metrics", " ,")


@pytest.mark.parametrize(
    ("error", "code"), [(UsageError("wrong\n here"), 2), (RuntimeError("broken"), 1)]
)
def test_errors_end_in_one_line(error, code, capsys):
    with pytest.raises(typer.Exit) as done, one_line(debug=False):
        raise error
    assert done.value.exit_code == code
    shown = capsys.readouterr().err.strip()
    assert len(shown.splitlines()) == 1
    assert shown.startswith("wrong here" if code == 2 else "RuntimeError: broken")


def test_ctrl_c(capsys):
    with pytest.raises(typer.Exit), one_line(debug=False, stopped="go on with --resume"):
        raise KeyboardInterrupt
    assert capsys.readouterr().err.strip() == "go on with --resume"


def test_tables_and_lines(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    show(Table(("metric", "model"), [("ndcg@10", 0.5)], "over 3 users"))
    say(["[red] is no color"])
    shown = capsys.readouterr().out
    for words in ("metric", "0.5", "over 3 users", "[red] is no color"):
        assert words in shown
