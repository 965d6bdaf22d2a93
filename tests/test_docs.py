"""The code blocks of README and docs run, in order, and print what the pages say they print."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("**/*.md"))]
# A block of code and, where one follows at once, the block of text that it prints.
BLOCK = re.compile(r"^```python\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
@pytest.mark.filterwarnings("ignore:.*lists have only one class:RuntimeWarning")
def test_code_blocks_run(page):
    namespace: dict[str, object] = {}
    text = page.read_text()
    for match in BLOCK.finditer(text):
        line = text[: match.start()].count("\n") + 1
        code = compile("\n" * line + match.group(1), str(page), "exec")
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(code, namespace)
        if match.group(2) is not None:
            assert printed.getvalue() == match.group(2), f"{page}:{line}"


def test_there_are_blocks_to_run():
    assert sum(len(BLOCK.findall(page.read_text())) for page in PAGES) >= 8
