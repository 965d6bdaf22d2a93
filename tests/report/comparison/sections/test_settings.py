from __future__ import annotations

import shlex

from tests.report.comparison.sample import CONFIG

from rankwise.report.comparison.sections.settings import command_of


def test_the_command_repeats_what_was_asked():
    words = shlex.split(command_of(CONFIG))
    assert words[:3] == ["rankwise", "compare", "data/transactions.csv"]
    pairs = list(zip(words[3::2], words[4::2], strict=True))
    assert ("--target", "fraud") in pairs
    assert ("--budget", "120s") in pairs
    assert ("--drop", "card") in pairs
    assert ("--drop", "customer name") in pairs
    assert ("--seeds", "5") in pairs
    assert not any(name == "--splits" for name, _ in pairs)


def test_what_a_shell_would_do_with_a_name_is_quoted_away():
    nasty = "a b; rm -rf $HOME'"
    command = command_of({"data": nasty, "target": "x|y", "group": None})
    assert shlex.split(command) == ["rankwise", "compare", nasty, "--target", "x|y"]


def test_without_data_there_is_no_command():
    assert command_of({"command": "rankwise compare"}) == ""
