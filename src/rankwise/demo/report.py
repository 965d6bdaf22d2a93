"""The report of the demo, its numbers as JSON, and the five lines that it ends with."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rankwise.demo.race import LOSSES, Race, settings
from rankwise.demo.table import Found
from rankwise.report import Headline, Section, Table, settings_section, write_html, write_json
from rankwise.report.elements import Markup
from rankwise.report.format import counted, in_sentence, subject
from rankwise.report.plots import line_chart
from rankwise.training.checkpoint import flat_settings
from rankwise.vision.gallery import neighbors_section


def chance(low: float, high: float) -> str:
    """Return whether an interval of a difference leaves room for chance, in words."""
    if low > 0:
        return "clearly better"
    return "clearly worse" if high < 0 else "the difference may be chance"


def image_words(race: Race) -> str:
    """Return the sentence about the images: ours against the best other loss."""
    other = race.best_other
    found = race.difference(other)
    return (
        f"{race.ours} has mAP {found.value_a:.3f} on {len(race.splits.test.classes)} characters "
        f"never trained on, {found.difference:+.3f} (95 % over characters {found.low:+.3f} to "
        f"{found.high:+.3f}) against {other}, the best other loss: "
        f"{chance(found.low, found.high)} in these trainings; pass --seed for others"
    )


def table_words(found: Found) -> str:
    """Return the sentence about the table: the best model of the metric against log-loss."""
    own, other, run = found.metric, found.log_loss, found.run
    on = f"on {run.data['test']} later flights, {found.positives} of them late"
    if own is None or own.difference is None:
        has = f"{subject(other.title)} has AP {other.test.value:.3f} {on}"
        return f"{has}; the time did not suffice for a model trained on AP"
    gap, chosen = own.difference, run.recommended
    also = f"; validation recommends {in_sentence(chosen.title)}, AP {chosen.test.value:.3f}"
    return (
        f"{subject(own.title)} has AP {own.test.value:.3f} {on}, {gap.value:+.3f} (95 % "
        f"{gap.low:+.3f} to {gap.high:+.3f}) against {in_sentence(other.title)}, the best of "
        "log-loss: "
        f"{chance(gap.low, gap.high)}{'' if chosen in (own, other) else also}"
    )


def lines(race: Race, found: Found, report: Path) -> list[str]:
    """Return the five lines that the demo ends with."""
    names = ", ".join(loss.name for loss in LOSSES)
    train = race.splits.train
    return [
        f"Trained   one small network with {names}, {race.size.steps} steps each on {len(train)} "
        f"drawings; {counted(len(found.run.candidates), 'model')} on {found.run.data['rows']} "
        "flights",
        f"Images    {image_words(race)}",
        f"Table     {table_words(found)}",
        f"Report    {report} (table: {found.run.folder / 'index.html'})",
        "Next      rankwise compare table.csv --target COLUMN   |   rankwise retrieval train "
        "photos/   |   rankwise recommend train interactions.csv",
    ]


def write_report(
    out: Path, race: Race, found: Found, command: str, seconds: Mapping[str, float]
) -> Path:
    """Write ``results.json`` and ``index.html``, and return the path of the latter."""
    write_json(out / "results.json", _numbers(race, found, seconds))
    shown = dict(flat_settings(settings(LOSSES[-1], race.size, race.seed).plain()))
    chosen = ("network", "augmentations", "batches", "optimizer", "training")
    listed = {name: str(value) for name, value in shown.items() if name.startswith(chosen)}
    embeddings = {"before training": race.states[race.ours][0].embeddings}
    embeddings |= {name: states[-1].embeddings for name, states in race.states.items()}
    sections = [
        _images(race),
        neighbors_section(race.splits.test, embeddings),
        _table(found, command),
        settings_section({f"loss {loss.name}": loss.objective for loss in LOSSES} | listed),
    ]
    words = [f"Images: {image_words(race)}.", f"Table: {table_words(found)}."]
    headline = Headline(_verdict(race), words)
    title = "Three losses on images, and models on a table"
    return write_html(out / "index.html", title, sections, headline=headline, command="demo")


def _verdict(race: Race) -> str:
    """Return what a reader needs, in numbers of drawings found."""
    others = len(race.splits.test) / len(race.splits.test.classes) - 1
    start = race.states[race.ours][0].result.r_precision * others
    by_loss = sorted(LOSSES, key=lambda loss: -race.last(loss.name).map)
    counted = [f"{race.last(x.name).r_precision * others:.1f} with {x.name}" for x in by_loss]
    return (
        f"Of the {others:.0f} other drawings of a character, the network finds "
        f"{', '.join(counted)} among its first {others:.0f} results, and {start:.1f} before "
        "training."
    )


def _images(race: Race) -> Section:
    size, train = race.size, race.splits.train
    rows = []
    for loss in LOSSES:
        result, gap = race.last(loss.name), race.difference(loss.name)
        shown = f"{gap.difference:+.4f} ({gap.low:+.4f} to {gap.high:+.4f})"
        rows.append((loss.name, f"{result.map:.4f}", f"{result.hit_at[1]:.4f}",
                     f"{result.r_precision:.4f}", "" if loss is LOSSES[-1] else shown))  # fmt: skip
    start = race.states[race.ours][0].result
    rows.insert(0, ("before training", f"{start.map:.4f}", f"{start.hit_at[1]:.4f}",
                    f"{start.r_precision:.4f}", ""))  # fmt: skip
    caption = (
        f"{len(race.splits.test)} queries, seed {race.seed}. Intervals are over the "
        f"{len(race.splits.test.classes)} characters, not over trainings."
    )
    header = ("loss", "mAP", "R@1", "R-precision", f"mAP of {race.ours} − this loss (95 %)")
    return Section(
        "Three losses, one network",
        [
            f"The same network, the same batches, {size.steps} steps each on {len(train)} drawings "
            f"of {len(train.classes)} hand-written characters (Omniglot, Lake et al. 2015). The "
            "test part has other alphabets. The network after the last step is evaluated; the "
            "earlier values are only shown.",
        ],
        figures=_figures(race),
        tables=[Table(header, rows, caption)],
    )


def _figures(race: Race) -> list[Markup]:
    """Draw mAP over the steps, and the mean precision at each recall, of every loss."""
    over = {
        name: ([state.step for state in states], [state.result.map for state in states])
        for name, states in race.states.items()
    }
    ends = ", ".join(f"{name} {race.last(name).map:.3f}" for name in race.states)
    results = {"before training": race.states[race.ours][0].result}
    results |= {name: race.last(name) for name in race.states}
    curves = {name: (x.recall.tolist(), x.precision.tolist()) for name, x in results.items()}
    half = ", ".join(f"{name} {result.precision[50]:.2f}" for name, result in results.items())
    return [
        line_chart(
            "step",
            "mAP of unseen characters",
            over,
            f"mAP over the steps; at the end {ends}.",
            baseline=False,  # the colors of the next figure, whose first line is the start
        ),
        line_chart(
            "recall",
            "mean precision",
            curves,
            f"Mean precision at each recall. Where half of the drawings are found: {half}.",
        ),
    ]


def _table(found: Found, command: str) -> Section:
    run = found.run
    rows = []
    for each in run.candidates:
        gap = each.difference
        shown = (
            "baseline" if gap is None else f"{gap.value:+.4f} ({gap.low:+.4f} to {gap.high:+.4f})"
        )
        rows.append((each.title + (" ★" if each is run.recommended else ""),
                     f"{each.validation.value:.4f}", f"{each.test.value:.4f}", shown))  # fmt: skip
    caption = (
        f"{run.data['test']} rows of the test part, {found.positives} of them late; ★ is "
        "recommended by validation."
    )
    return Section(
        "Flights that arrive an hour late",
        [
            f"{run.data['rows']} flights from New York in 2013, in order of time: which arrive an "
            f"hour late or more? {run.why} {run.verdict}",
            f"The whole report is table/index.html next to this file; it was made by {command}",
        ],
        tables=[Table(("model", "validation AP", "test AP", "difference (95 %)"), rows, caption)],
    )


def _numbers(race: Race, found: Found, seconds: Mapping[str, float]) -> dict[str, object]:
    gaps = {loss.name: race.difference(loss.name) for loss in LOSSES[:-1]}
    rows = {
        "metric": found.metric,
        "log_loss": found.log_loss,
        "recommended": found.run.recommended,
    }
    gap = None if found.metric is None else found.metric.difference
    return {
        "seed": race.seed,
        "steps": race.size.steps,
        "images": {
            name: {
                "map": {str(state.step): state.result.map for state in states},
                "r_precision": states[-1].result.r_precision,
                "recall_at_1": states[-1].result.hit_at[1],
            }
            for name, states in race.states.items()
        },
        "differences": {
            name: {"value": x.difference, "low": x.low, "high": x.high} for name, x in gaps.items()
        },
        "best_other": race.best_other,
        "table": {
            **{
                role: row and {"name": row.name, "test": row.test.value}
                for role, row in rows.items()
            },
            "difference": gap and {"value": gap.value, "low": gap.low, "high": gap.high},
            "positives": found.positives,
        },
        "processor_seconds": dict(seconds),
    }
