"""Hooks of mkdocs.yml: add the reference pages, and put figures into the pages."""

from __future__ import annotations

import sys
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

sys.path.insert(0, str(Path(__file__).parents[2]))

from docs.hooks.reference import reference_pages


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages of the API reference."""
    for path, text in reference_pages():
        files.append(File.generated(config, path, content=text))
    return files
