"""Figures as part of the page, in the text color of its theme, with their text alternative."""

from __future__ import annotations

import re
from pathlib import Path

from docs.figures.frame import INK

IMAGES = Path(__file__).parents[1] / "images"
_IMAGE = re.compile(r'<img alt="([^"]*)" src="[^"]*images/([\w-]+)\.svg"[^>]*>')
_PLOT = re.compile(r'<img [^>]*src="[^"]*images/readme/speed\.svg"[^>]*>')


def with_figures(page: str) -> str:
    """Replace the images of drawn figures in the HTML of a page by the drawings themselves."""
    return _PLOT.sub(lambda image: _scrolling(image[0]), _IMAGE.sub(_drawing, page))


def _drawing(image: re.Match[str]) -> str:
    text = (IMAGES / f"{image[2]}.svg").read_text().replace(INK, "currentColor")
    drawing = text.replace("<svg ", f'<svg role="img" aria-label="{image[1]}" ', 1)
    return _scrolling(drawing)


def _scrolling(figure: str) -> str:
    """It scrolls where the screen is narrow, by keyboard, too."""
    return f'<span class="figure" tabindex="0">{figure}</span>'
