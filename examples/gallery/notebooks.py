"""Notebooks as pairs: a script in jupytext's percent format, and the notebook with its outputs."""

from __future__ import annotations

import base64
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

FOLDER = Path(__file__).parents[1] / "notebooks"
SCRIPTS = sorted(FOLDER.glob("*.py"))


def read_script(path: Path) -> NotebookNode:
    """Return the notebook of a script, without outputs; the same script gives the same notebook."""
    notebook = jupytext.read(path)
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number}"
        cell.metadata = {}
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook.metadata = nbformat.from_dict({"kernelspec": kernel})
    return notebook


def execute(path: Path, timeout: int = 300) -> NotebookNode:
    """Return the notebook of a script with the outputs of a run; raise what a cell raises."""
    notebook = read_script(path)
    options = {"timeout": timeout, "record_timing": False, "coalesce_streams": True}
    NotebookClient(notebook, resources={"metadata": {"path": str(FOLDER)}}, **options).execute()
    del notebook.metadata["language_info"]  # has the version of the interpreter
    return notebook


def sources(notebook: NotebookNode) -> list[tuple[str, str]]:
    """Return the kind and the text of every cell."""
    return [(cell.cell_type, cell.source) for cell in notebook.cells]


def figures(notebook: NotebookNode) -> list[bytes]:
    """Return the figures of the outputs as the bytes of PNG files."""
    outputs = (out for cell in notebook.cells for out in cell.get("outputs", []))
    shown = (out.data["image/png"] for out in outputs if "image/png" in out.get("data", {}))
    return [base64.b64decode(text) for text in shown]
