"""Hooks of mkdocs.yml: add the pages of the reference, and draw the figures into the pages."""

from __future__ import annotations

import sys
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

sys.path.insert(0, str(Path(__file__).parents[2]))

from docs.hooks.commands import command_page
from docs.hooks.figures import with_figures
from docs.hooks.reference import reference_pages
from docs.hooks.results import with_results
from docs.hooks.root_pages import root_pages
from docs.hooks.screenshots import with_screenshots
from docs.hooks.search import tag_names


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are generated: the reference, and files of the project's root."""
    for path, text in (*reference_pages(), command_page(), *root_pages()):
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Fill in what is read from files: screenshots of reports, results of benchmarks."""
    return with_results(with_screenshots(markdown))


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Put drawings in place of their images, after the search index is made."""
    return with_figures(output)


def on_post_build(config: MkDocsConfig) -> None:
    """Make the search find names that are also common words."""
    tag_names(Path(config.site_dir))
