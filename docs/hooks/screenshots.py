"""The gallery of reports: a section for every screenshot in docs/images/reports."""

from __future__ import annotations

import re
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "images" / "reports"
MARK = "<!-- screenshots -->"
_WORDS = re.compile(r"[-_]")


def with_screenshots(markdown: str, folder: Path = FOLDER) -> str:
    """Replace the mark in a page by all screenshots, ``<kind>[-dark][-phone].png``, by kind."""
    if MARK not in markdown:
        return markdown
    kinds: dict[str, list[Path]] = {}
    for path in sorted(folder.glob("*.png")):
        kinds.setdefault(_WORDS.split(path.stem)[0], []).append(path)
    return markdown.replace(MARK, "\n\n".join(_section(*each) for each in kinds.items()))


def _section(kind: str, paths: list[Path]) -> str:
    shots = [
        f"![Screenshot of the report of {', '.join(_WORDS.split(path.stem))}]"
        f"(images/reports/{path.name}){{ .shot loading=lazy }}"
        for path in paths
    ]
    return "\n\n".join([f"## {kind.capitalize()}", *shots])
