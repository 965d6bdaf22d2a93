"""The report of a comparison: one HTML file that fetches nothing."""

from __future__ import annotations

import base64
import hashlib
import json
from importlib import resources

from rankwise.report.comparison.curves import levels_of
from rankwise.report.comparison.markup import Section, color_class
from rankwise.report.comparison.run import Run
from rankwise.report.comparison.sections.curves import curves, lift
from rankwise.report.comparison.sections.results import headline, results, title_of
from rankwise.report.comparison.sections.scores import calibration, groups, scores
from rankwise.report.comparison.sections.settings import columns, importance, setting
from rankwise.report.comparison.sections.threshold import explorer
from rankwise.report.comparison.sections.time import time
from rankwise.report.html import Markup, element, fill

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>{title}</title><style>{style}</style></head>
<body><header><div class="bar"><p class="brand">rankwise compare</p>
<button type="button" id="theme" class="quiet-button">Dark</button></div>
<h1>{title}</h1>{headline}<nav aria-label="Sections">{links}</nav></header>
<main>{sections}</main>
<footer>Written by rankwise. Everything in this report is in this one file.</footer>
<script type="application/json" id="data">{data}</script><script>{script}</script></body></html>
"""


def comparison_report(run: Run) -> str:
    """Return the whole report of a run as one string of HTML."""
    sections = _sections(run)
    style, script = _file("report.css"), _file("report.js")
    data = {
        "names": {each.number: each.name for each in run.drawn},
        "colors": {each.number: color_class(run, each) for each in run.drawn},
        "charts": {name: chart for section in sections for name, chart in section.charts.items()},
    }
    return fill(
        _PAGE,
        policy=_policy(style, script),
        title=title_of(run),
        style=Markup(style),
        headline=headline(run),
        links=[element("a", each.heading, href=f"#{each.anchor}") for each in sections],
        sections=[each.render() for each in sections],
        data=Markup(_embedded(data)),
        script=Markup(script),
    )


def _sections(run: Run) -> list[Section]:
    found: list[Section | None] = [results(run), importance(run)]
    if run.grouped:
        found += [groups(run), time(run)]
    else:
        given = run.predictions
        levels = {
            number: levels_of(scores, given.target, given.weight)
            for number, scores in given.scores.items()
        }
        found += [curves(run, levels), time(run), scores(run), explorer(run)]
        found += [lift(run, levels), calibration(run)]
    return [each for each in (*found, columns(run), setting(run)) if each is not None]


def _policy(style: str, script: str) -> str:
    """Allow this style and this script only; nothing may be fetched or sent."""
    return (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _embedded(data: object) -> str:
    """Return JSON that no name in it can end: browsers look for the end of a script first."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _file(name: str) -> str:
    return resources.files("rankwise.report.comparison").joinpath(name).read_text(encoding="utf-8")
