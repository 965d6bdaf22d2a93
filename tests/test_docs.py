"""The code blocks of README and docs run, in order, one page after the other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("**/*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
@pytest.mark.filterwarnings("ignore:.*lists have only one class:RuntimeWarning")
def test_code_blocks_run(page):
    namespace: dict[str, object] = {}
    text = page.read_text()
    for match in BLOCK.finditer(text):
        line = text[: match.start()].count("\n") + 1
        code = compile("\n" * line + match.group(1), str(page), "exec")
        exec(code, namespace)


def test_there_are_blocks_to_run():
    assert sum(len(BLOCK.findall(page.read_text())) for page in PAGES) >= 8
