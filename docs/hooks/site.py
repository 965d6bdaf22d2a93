"""Hooks of mkdocs.yml: add the pages of the reference, and draw the figures into the pages."""

from __future__ import annotations

import sys
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

sys.path.insert(0, str(Path(__file__).parents[2]))

from docs.hooks.figures import with_figures
from docs.hooks.reference import reference_pages


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages of the API reference."""
    for path, text in reference_pages():
        files.append(File.generated(config, path, content=text))
    return files


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Put drawings in place of their images, after the search index is made."""
    return with_figures(output)
