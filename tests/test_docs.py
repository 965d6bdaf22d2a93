"""The code blocks of README and docs run, in order, one page after the other; commands parse.

A block ``text title="Output"`` below a block of code is what that block prints.
"""

from __future__ import annotations

import io
import re
import shlex
from contextlib import redirect_stdout
from pathlib import Path

import pytest
from tests.command_line import parse

from rankwise.cli import app

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("**/*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
FENCED = re.compile(r"^```\w*\n(.*?)^```", re.MULTILINE | re.DOTALL)
STARTED = re.compile(r"^(torchrun \S+ \S+|python) -m rankwise")
OUTPUT = re.compile(r'\n\n?```text title="Output"\n(.*?)^```', re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
@pytest.mark.filterwarnings("ignore:.*lists have only one class:RuntimeWarning")
def test_code_blocks_run(page):
    namespace: dict[str, object] = {}
    text = page.read_text()
    for match in BLOCK.finditer(text):
        line = text[: match.start()].count("\n") + 1
        code = compile("\n" * line + match.group(1), str(page), "exec")
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(code, namespace)
        if shown := OUTPUT.match(text, match.end()):
            assert printed.getvalue() == shown[1], f"line {line} prints something else"


def commands(page):
    """The lines of a page that train, evaluate or predict, whoever starts the program."""
    for block in FENCED.findall(page.read_text()):
        for line in block.replace("\\\n", " ").splitlines():
            started = STARTED.sub("rankwise", line.strip())
            if re.match(r"rankwise [a-z]", started):  # not an option of the program itself
                yield shlex.split(started, comments=True)[1:]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_commands_are_as_the_program_takes_them(page):
    for words in commands(page):
        assert parse(app, words)


def test_there_are_commands_to_parse():
    assert sum(1 for page in PAGES for _ in commands(page)) >= 70


def test_there_are_blocks_to_run():
    assert sum(len(BLOCK.findall(page.read_text())) for page in PAGES) >= 8
