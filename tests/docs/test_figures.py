"""The figures of the site: drawn again, they are the files in docs/images."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("lightgbm")
pytest.importorskip("sklearn")

from docs.figures import FOLDER, load_all, svg
from docs.hooks.figures import with_figures

NAMES = load_all()
PAGES = sorted(FOLDER.parent.glob("**/*.md"))
USED = re.compile(r"!\[([^\]]*)\]\((?:\.\./)*images/([\w-]+)\.svg\)")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
HASHED = re.compile(r'(id|href|clip-path)="[^"]*"')
BYTES = re.compile(r"data:image/png;base64,[^\"]*")  # pixels: zlib's bytes depend on its version


def differences(drawn: str, kept: str, tolerance: float = 1.0) -> list[str]:
    """Where two drawings differ in words, or in numbers by more than the tolerance (in points)."""
    drawn, kept = (HASHED.sub("", BYTES.sub("", text)) for text in (drawn, kept))
    if NUMBER.sub("0", drawn) != NUMBER.sub("0", kept):
        return ["the words or the elements differ"]
    pairs = zip(NUMBER.findall(drawn), NUMBER.findall(kept), strict=True)
    return [f"{a} and {b}" for a, b in pairs if abs(float(a) - float(b)) > tolerance]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_figure_is_what_its_code_draws(name):
    drawn = svg(name)
    assert len(drawn) < 60_000
    found = differences(drawn, (FOLDER / f"{name}.svg").read_text())
    assert not found, f"run `python -m docs.figures {name}` and look at it: {found[:5]}"


def test_a_figure_that_rots_is_reported():
    kept = (FOLDER / "surrogates.svg").read_text()
    assert differences(kept, kept) == []
    assert differences(kept.replace("SquaredHinge", "Hinge"), kept)
    assert differences(re.sub(r"M (\d)", r"M 9\1", kept), kept)


def test_there_are_at_least_twenty_and_no_file_is_left_over():
    assert len(NAMES) >= 20
    assert {path.stem for path in FOLDER.glob("*.svg")} == set(NAMES)


def test_every_figure_is_on_a_page_with_a_text_alternative():
    used = {name: text for page in PAGES for text, name in USED.findall(page.read_text())}
    assert set(used) == set(NAMES)
    assert not {name for name, text in used.items() if len(text) < 40}


def test_the_site_draws_a_figure_in_its_text_color():
    page = with_figures('<p><img alt="Curves of losses" src="../images/surrogates.svg" /></p>')
    assert page.startswith(
        '<p><span class="figure" tabindex="0"><svg role="img" aria-label="Curves of losses" '
    )
    assert "currentColor" in page
    assert "#7d8590" not in page
    assert "<img" not in page


def test_the_plot_of_the_first_page_scrolls_where_the_screen_is_narrow():
    image = '<img alt="Time against n" src="../images/readme/speed.svg" />'
    assert with_figures(image) == f'<span class="figure" tabindex="0">{image}</span>'
    badge = '<img alt="Typed" src="../images/readme/typed.svg" />'
    assert with_figures(badge) == badge
