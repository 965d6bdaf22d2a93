"""What the pages of the reference are made of, without building them."""

from __future__ import annotations

import pytest
from tests.public_api import LIST

pytest.importorskip("griffe")

from docs.hooks.docstrings import as_markdown
from docs.hooks.public_names import PAGES, ROOT, public_names
from docs.hooks.reference import reference_pages

PUBLIC = {line.partition(":")[0] for line in LIST.read_text().splitlines()}


def test_the_names_are_those_of_the_checked_in_list():
    assert {name.path for name in public_names()} == PUBLIC


def test_every_page_is_in_the_navigation():
    navigation = (ROOT / "mkdocs.yml").read_text()
    assert [page for page in PAGES if f"- reference/{page}.md\n" not in navigation] == []


def test_every_name_has_a_summary():
    assert not [name.path for name in public_names() if not name.summary]


def test_every_object_is_described_once():
    described = [
        line
        for _, text in reference_pages()
        for line in text.splitlines()
        if line.startswith("::: ")
    ]
    assert len(set(described)) == len(described)
    assert "::: rankwise.objectives.SOPRC" in described
    assert "::: rankwise.objectives.ap.SOPRC" not in described


@pytest.mark.parametrize(
    ("docstring", "markdown"),
    [
        (":class:`SOPRC`", "[`SOPRC`][rankwise.objectives.SOPRC]"),
        (":class:`~rankwise.objectives.NDCG`", "[`NDCG`][rankwise.objectives.NDCG]"),
        (":meth:`Objective.forward`", "[`Objective.forward`][rankwise.objectives.Objective]"),
        (":func:`~rankwise.vision.run.fit_images`", "`fit_images`"),
        ("Example:\n    >>> 1", "Examples:\n    >>> 1"),
        ("signature::\n\n    f(x)", "signature:\n\n    f(x)"),
        ("mask\n    False for padding.", "mask\n:   False for padding."),
        ("f_y(i) − f_[k](i)", r"f_y(i) − f_\[k\](i)"),
    ],
)
def test_a_docstring_becomes_markdown(docstring, markdown):
    assert as_markdown(docstring) == markdown
