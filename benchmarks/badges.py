"""``python -m benchmarks.badges``: the badges of the README, from pyproject.toml."""

from __future__ import annotations

import tomllib
from pathlib import Path

from benchmarks.page import write_safely

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "docs" / "images" / "readme"
BADGE = """<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20" role="img" \
aria-label="{left}: {right}">
<title>{left}: {right}</title>
<clipPath id="r"><rect width="{width}" height="20" rx="3"/></clipPath>
<g clip-path="url(#r)"><rect width="{split}" height="20" fill="#444"/>\
<rect x="{split}" width="{rest}" height="20" fill="#00695c"/></g>
<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
<text x="{first}" y="14" textLength="{left_length}">{left}</text>
<text x="{second}" y="14" textLength="{right_length}">{right}</text>
</g>
</svg>
"""


def badge(left: str, right: str) -> str:
    """Return a badge as SVG."""
    lengths = [7 * len(word) for word in (left, right)]
    split, rest = (length + 12 for length in lengths)
    return BADGE.format(
        left=left, right=right.replace("≥", "&#8805;"), width=split + rest, split=split, rest=rest,
        first=split / 2, second=split + rest / 2, left_length=lengths[0], right_length=lengths[1],
    )  # fmt: skip


def badges() -> dict[str, str]:
    """Return the text of every badge by its name; each is read from the project."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    found = {
        "license": badge("license", project["license"]),
        "python": badge("python", project["requires-python"].replace(">=", "≥ ")),
    }
    if (ROOT / "src/rankwise/py.typed").exists():
        found["typed"] = badge("typed", "mypy --strict")
    return found


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in badges().items():
        write_safely(FOLDER / f"{name}.svg", text)
