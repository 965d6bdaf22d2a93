"""The page of a comparison: what ``rankwise compare`` found, in one file of HTML.

Read (:mod:`.run`), measured with numpy (:mod:`.measured`), drawn as SVG (:mod:`.drawn`), put into
sections (:mod:`.sections`) and one page (:mod:`.page`). Scripts only react: without them the page
still shows every number and every curve.
"""

from __future__ import annotations

from pathlib import Path

from rankwise.report.comparison.report import comparison_page
from rankwise.report.comparison.run import read_run
from rankwise.report.files import write_whole

__all__ = ["write_report"]


def write_report(folder: Path | str) -> Path:
    """Write ``index.html`` of the run in a folder, and return its path.

    Reads ``results.json``, ``config.json`` and ``predictions.npz``; what is missing or does not fit
    together raises a ValueError in one line, and an earlier page stays as it was.
    """
    folder = Path(folder)
    return write_whole(folder / "index.html", comparison_page(read_run(folder)))
