"""The report of a comparison: one HTML file that fetches nothing."""

from __future__ import annotations

from pathlib import Path

from rankwise.report.comparison.markup import color_class
from rankwise.report.comparison.run_files import read_run
from rankwise.report.comparison.sections.classes import chart_names, class_curves, classes
from rankwise.report.comparison.sections.curves import curves, lift, time
from rankwise.report.comparison.sections.headline import headline, title_of
from rankwise.report.comparison.sections.results import results
from rankwise.report.comparison.sections.scores import calibration, groups, scores
from rankwise.report.comparison.sections.settings import columns, importance, setting
from rankwise.report.comparison.sections.threshold import explorer
from rankwise.report.html import write_html

_OF_LISTS = (groups, time)
_OF_ROWS = (curves, time, scores, explorer, lift, calibration)
_OF_CLASSES = (class_curves, time)


def write_report(folder: Path | str) -> Path:
    """Write ``index.html`` of the run in a folder, and return its path.

    Reads ``results.json``, ``config.json`` and ``predictions.npz``; what is missing or does not fit
    together raises a ValueError in one line, and an earlier report stays as it was.
    """
    run = read_run(Path(folder))
    middle = (importance, *(_OF_LISTS if run.grouped else _OF_ROWS))
    if run.classes:
        middle = (classes, importance, *_OF_CLASSES)
    builders = (results, *middle, columns, setting)
    sections = [each for build in builders if (each := build(run)) is not None]
    names, colors = chart_names(run)
    known = {
        "names": {each.number: each.title for each in run.drawn} | names,
        "colors": {each.number: color_class(run, each) for each in run.drawn} | colors,
    }
    return write_html(
        run.folder / "index.html",
        title_of(run),
        sections,
        headline=headline(run),
        command="compare",
        data=known,
    )
