"""The report of ``rankwise compare`` as one HTML file.

A run is read (:mod:`.run`), measured (:mod:`.curves`, :mod:`.distributions`), drawn as SVG
(:mod:`.charts`) and put into :mod:`.sections` of one :mod:`.report`. Scripts only react: without
them the report still shows every number and every curve.
"""

from __future__ import annotations

from pathlib import Path

from rankwise.files import write_whole
from rankwise.report.comparison.report import comparison_report
from rankwise.report.comparison.run import read_run

__all__ = ["write_report"]


def write_report(folder: Path | str) -> Path:
    """Write ``index.html`` of the run in a folder, and return its path.

    Reads ``results.json``, ``config.json`` and ``predictions.npz``; what is missing or does not fit
    together raises a ValueError in one line, and an earlier report stays as it was.
    """
    folder = Path(folder)
    return write_whole(folder / "index.html", comparison_report(read_run(folder)))
