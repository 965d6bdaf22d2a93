"""The code blocks of README and docs run, in order, one page after the other.

A block ``text title="Output"`` below a block of code is what that block prints.
"""

from __future__ import annotations

import io
import re
from contextlib import redirect_stdout
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("**/*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
OUTPUT = re.compile(r'\n\n?```text title="Output"\n(.*?)^```', re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
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


def test_there_are_blocks_to_run():
    assert sum(len(BLOCK.findall(page.read_text())) for page in PAGES) >= 8
