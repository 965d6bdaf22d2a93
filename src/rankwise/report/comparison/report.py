"""The page, put together: one file that fetches nothing."""

from __future__ import annotations

import base64
import hashlib
import json
from importlib import resources

from rankwise.report.comparison.curves import levels_of
from rankwise.report.comparison.markup import Markup, Part, color_class, element
from rankwise.report.comparison.run import Run
from rankwise.report.comparison.sections.columns import columns, importance
from rankwise.report.comparison.sections.curves import curves, lift
from rankwise.report.comparison.sections.results import headline, results, title_of
from rankwise.report.comparison.sections.scores import calibration, groups, scores
from rankwise.report.comparison.sections.settings import setting
from rankwise.report.comparison.sections.threshold import explorer
from rankwise.report.comparison.sections.time import time


def comparison_page(run: Run) -> str:
    """The whole page of a run as one string of HTML."""
    title, parts = title_of(run), _parts(run)
    style, script = _file("report.css"), _file("report.js")
    links = [element("a", part.heading, href=f"#{part.anchor}") for part in parts]
    toggle = element("button", "Dark", type="button", id="theme", class_="quiet-button")
    data = {
        "names": {each.number: each.name for each in run.drawn},
        "colors": {each.number: color_class(run, each) for each in run.drawn},
        "charts": {name: chart for part in parts for name, chart in part.charts.items()},
    }
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_policy(style, script)),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("style", Markup(style)),
    )
    top = element(
        "header",
        element("div", element("p", "rankwise compare", class_="brand"), toggle, class_="bar"),
        element("h1", title),
        headline(run),
        element("nav", links, aria_label="Sections"),
    )
    body = element(
        "body",
        top,
        element("main", [part.drawn() for part in parts]),
        element("footer", "Written by rankwise. Everything on this page is in this one file."),
        element("script", Markup(_embedded(data)), type="application/json", id="data"),
        element("script", Markup(script)),
    )
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"


def _parts(run: Run) -> list[Part]:
    if run.grouped:
        found = [results(run), importance(run), groups(run), time(run), columns(run), setting(run)]
        return [part for part in found if part is not None]
    given = run.predictions
    levels = {
        number: levels_of(scores, given.target, given.weight)
        for number, scores in given.scores.items()
    }
    found = [
        results(run),
        importance(run),
        curves(run, levels),
        time(run),
        scores(run),
        explorer(run),
        lift(run, levels),
        calibration(run),
        columns(run),
        setting(run),
    ]
    return [part for part in found if part is not None]


def _policy(style: str, script: str) -> str:
    """Only this style and this script may act; nothing may be fetched or sent."""
    return (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _embedded(data: object) -> str:
    """JSON that no name in it can end: a browser looks for the end of a script before it parses."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _file(name: str) -> str:
    return resources.files("rankwise.report.comparison").joinpath(name).read_text(encoding="utf-8")
