"""The report of a comparison: one HTML file that fetches nothing."""

from __future__ import annotations

import base64
import hashlib
import json
from importlib import resources
from pathlib import Path

from rankwise.files import write_whole
from rankwise.report.comparison.markup import color_class
from rankwise.report.comparison.run import read_run
from rankwise.report.comparison.sections.curves import curves, lift, time
from rankwise.report.comparison.sections.results import headline, results, title_of
from rankwise.report.comparison.sections.scores import calibration, groups, scores
from rankwise.report.comparison.sections.settings import columns, importance, setting
from rankwise.report.comparison.sections.threshold import explorer
from rankwise.report.html import Markup, element, fill

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src {style_hash};
 script-src {script_hash}; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>{title}</title><style>{style}</style></head>
<body><header><div class="bar"><p class="brand">rankwise compare</p>
<button type="button" id="theme" class="quiet-button">Dark</button></div>
<h1>{title}</h1>{headline}<nav aria-label="Sections">{links}</nav></header>
<main>{sections}</main>
<footer>Written by rankwise. Everything in this report is in this one file.</footer>
<script type="application/json" id="data">{data}</script><script>{script}</script></body></html>
"""

_OF_LISTS = (groups, time)
_OF_ROWS = (curves, time, scores, explorer, lift, calibration)


def write_report(folder: Path | str) -> Path:
    """Write ``index.html`` of the run in a folder, and return its path.

    Reads ``results.json``, ``config.json`` and ``predictions.npz``; what is missing or does not fit
    together raises a ValueError in one line, and an earlier report stays as it was.
    """
    run = read_run(Path(folder))
    builders = (results, importance, *(_OF_LISTS if run.grouped else _OF_ROWS), columns, setting)
    sections = [each for build in builders if (each := build(run)) is not None]
    style, script = _file("report.css"), _file("report.js")
    data = {
        "names": {each.number: each.name for each in run.drawn},
        "colors": {each.number: color_class(run, each) for each in run.drawn},
        "charts": {name: chart for section in sections for name, chart in section.charts.items()},
    }
    page = fill(
        _PAGE,
        style_hash=_hash(style),
        script_hash=_hash(script),
        title=title_of(run),
        style=Markup(style),
        headline=headline(run),
        links=[element("a", each.heading, href=f"#{each.anchor}") for each in sections],
        sections=[each.render() for each in sections],
        data=Markup(_embedded(data)),
        script=Markup(script),
    )
    return write_whole(run.folder / "index.html", page)


def _hash(text: str) -> str:
    """Return the source of the only style or script that the policy allows."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _embedded(data: object) -> str:
    """Return JSON that no name in it can end: browsers look for the end of a script first."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _file(name: str) -> str:
    return resources.files("rankwise.report.comparison").joinpath(name).read_text(encoding="utf-8")
