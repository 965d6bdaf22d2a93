"""Every file in examples/ runs, its metric improves, and the page about them names it."""

from __future__ import annotations

from pathlib import Path

import pytest
from examples.gallery import scripts

ROOT = Path(__file__).parents[2]
EXAMPLES = scripts.SCRIPTS


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_metric_improves(path):
    before, after = scripts.load(path).main()
    assert 0 <= before <= 1
    assert before + 0.2 < after <= 1


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_is_short_and_on_the_page(path):
    assert len(path.read_text().splitlines()) <= 60
    assert f"`examples/{path.name}`" in (ROOT / "docs" / "integrations.md").read_text()


def test_there_is_one_for_every_framework():
    text = "".join(path.read_text() for path in EXAMPLES)
    names = "torch lightning transformers skorch sentence_transformers torchmetrics"
    assert all(f"\nimport {name}\n" in text or f"\nfrom {name} " in text for name in names.split())
