"""The notebooks run, equal their scripts, and have the outputs of one run in order."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
from examples.gallery import notebooks, scripts

ROOT = Path(__file__).parents[2]
GALLERY = (ROOT / "docs" / "gallery.md").read_text()
PAIRS = notebooks.SCRIPTS
EVERY = [*PAIRS, *scripts.SCRIPTS]
FIRST, *OTHERS = PAIRS


def committed(path):
    return nbformat.read(path.with_suffix(".ipynb"), as_version=4)


def test_the_five_that_were_promised():
    names = "first_loss rare_class_in_a_table image_search recommender your_own_x_risk"
    assert [path.stem[3:] for path in PAIRS] == names.split()
    assert {path.stem for path in notebooks.FOLDER.glob("*.ipynb")} == {p.stem for p in PAIRS}


@pytest.mark.parametrize("path", PAIRS, ids=lambda path: path.stem)
def test_a_notebook_has_the_cells_of_its_script_and_outputs_of_one_run(path):
    notebook = committed(path)
    nbformat.validate(notebook)
    assert notebooks.sources(notebook) == notebooks.sources(notebooks.read_script(path))
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    outputs = [output for cell in code for output in cell.outputs]
    assert all(output.output_type != "error" for output in outputs)
    assert all(output.get("name") != "stderr" for output in outputs)
    assert "assert " in code[-1].source  # says what must hold after a run
    assert notebooks.figures(notebook)


@pytest.mark.parametrize(
    "path",
    [FIRST, *(pytest.param(path, marks=pytest.mark.full) for path in OTHERS)],
    ids=lambda path: path.stem,
)
def test_it_runs(path):
    assert notebooks.figures(notebooks.execute(path))


@pytest.mark.parametrize("path", PAIRS, ids=lambda path: path.stem)
def test_links_of_a_notebook_lead_somewhere(path):
    links = re.findall(r"\]\((\.\./[^)#]+)", path.read_text())
    assert links
    assert all((path.parent / link).exists() for link in links)


@pytest.mark.parametrize("path", EVERY, ids=lambda path: path.stem)
def test_it_is_in_the_gallery_with_its_figure(path):
    shown = path.with_suffix(".ipynb") if path in PAIRS else path
    assert f"`{shown.relative_to(ROOT)}`" in GALLERY
    assert re.search(rf"!\[[^]]{{20,}}\]\(images/gallery/{path.stem}\.png\)", GALLERY)
    figure = ROOT / "docs" / "images" / "gallery" / f"{path.stem}.png"
    assert figure.read_bytes().startswith(b"\x89PNG")
    if path in PAIRS:
        assert figure.read_bytes() == notebooks.figures(committed(path))[-1]
