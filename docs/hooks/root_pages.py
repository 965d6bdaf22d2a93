"""Pages of the site from files in the root of the project."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
_PAGES = {"contributing.md": "CONTRIBUTING.md", "changelog.md": "CHANGELOG.md"}
_LINK = re.compile(r"\[([^\]]+)\]\((?!https?:|#)([^)\s]+)\)")


def root_pages() -> Iterator[tuple[str, str]]:
    """Yield the path of every page and its text, with links as they are from docs/."""
    for page, file in _PAGES.items():
        yield page, _LINK.sub(_from_docs, (ROOT / file).read_text())


def _from_docs(link: re.Match[str]) -> str:
    """A link to a page stays one; a link to another file becomes its text."""
    text, target = link.groups()
    return f"[{text}]({target[len('docs/') :]})" if target.startswith("docs/") else text
