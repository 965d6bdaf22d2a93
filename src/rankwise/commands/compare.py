"""``rankwise compare``: the best model and objective for a metric on a table; its report."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.progress import TimeElapsedColumn

from rankwise import report as reports
from rankwise import training
from rankwise.commands.app import App, Command, add_config
from rankwise.commands.console import fail, progress_bar, require_folder, say, show
from rankwise.commands.options import Ray, Resume, Track
from rankwise.tasks import compare as task  # its modules are imported where they are used
from rankwise.tasks.compare.settings import Settings

if TYPE_CHECKING:
    from rankwise.report.comparison.run import Point
    from rankwise.tasks.compare.problem import Problem

_MANY = 40  # columns from which plain numbers are only counted
_COLUMNS = 10  # whose importance is shown

_config = App()
add_config(_config, lambda: Settings)


class CompareCommand(Command):
    """``rankwise compare DATA``, and ``rankwise compare config``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args[:1] == ["config"] and not Path("config").exists():
            _config(args[1:], prog_name=f"{ctx.command_path} config", standalone_mode=False)
            ctx.exit()
        return super().parse_args(ctx, args)


def compare(  # noqa: PLR0917  (a command line is called by names)
    data: Path,
    settings: Settings,
    budget: str = "2m",
    out: Path | None = None,
    resume: Resume = False,
    ray: Ray = None,
    track: Track = None,
) -> None:
    """Train on log-loss and on the metric, choose by validation, test once, keep the best model.

    `rankwise compare config` prints the settings as YAML, for --config.

    Args:
        data: Table: csv, parquet or svmlight (LETOR).
        budget: Total training time, such as 90s, 2m, 1h.
        out: Output folder of the run. Default: runs/NAME of the data.
    """
    folder = out or Path("runs") / re.sub(r"\.(gz|[a-z]+)$", "", data.name.removesuffix(".gz"))
    require_folder(folder)
    with progress_bar("{task.description}", "{task.fields[best]}", TimeElapsedColumn()) as progress:
        bar = progress.add_task("reading", total=None, best="")

        def advance(event: task.Event) -> None:
            best = "" if event.best is None else f"{settings.metric} {event.best:.4f}"
            what = f"{event.name}, trial {event.trials + 1}" if event.trials else event.name
            done = event.number + event.share
            progress.update(bar, description=what, completed=done, total=event.total, best=best)

        try:
            with training.tracking(track or [], folder):
                found = task.run(
                    settings,
                    folder,
                    resume=resume,
                    ray=ray,
                    on_read=_show_columns,
                    on_event=advance,
                    on_warning=lambda words: say([words], error=True, style="yellow"),
                )
        except KeyboardInterrupt:
            fail(f"stopped; the same command with --resume continues the run in {folder}")
    if found is not None:  # else another process writes
        _show(found)


def _show_columns(problem: Problem) -> None:
    """Print what every column was taken for, the rows left out, and the period of each part."""
    table, parts = problem.table, problem.plan.parts
    lines = []
    if table.columns:
        plain = [each for each in table.columns if each.taken_for == "number" and not each.said]
        counted = plain if len(table.columns) > _MANY else []
        listed = [each for each in table.columns if each not in counted]
        header = ("column", "type", "values", "missing", "remark")
        rows = [(c.name, c.taken_for, c.levels, c.missing, c.said) for c in listed]
        caption = f"and {len(counted)} columns of plain numbers" if counted else ""
        dim = {number: "dim" for number, each in enumerate(listed) if each.left_out}
        words, title = ("type", "remark"), "columns of the data"
        show(reports.Table(header, rows, caption), title=title, words=words, styles=dim)
    else:
        lines.append(
            f"{len(table.names)} columns of numbers, {table.names[0]} to {table.names[-1]}"
        )
    lines += [
        f"{name}: {len(getattr(parts, name))} rows, {problem.settings.time} {period}"
        for name, period in parts.periods(table).items()
    ]
    left_out = {"without a target": table.without_target, "of weight 0": table.without_weight}
    lines += [f"{count} rows {what} are left out" for what, count in left_out.items() if count]
    say(lines)


def _show(found: task.CompareResult) -> None:
    from rankwise.report.comparison.run_files import read_run  # noqa: PLC0415
    from rankwise.report.comparison.sections.headline import sentence  # noqa: PLC0415

    run = read_run(found.folder)
    best = run.recommended.number
    header = ("candidate", "validation", "test", "95 %", "difference", "p", "time")
    rows = [
        (
            row.name + (" ★" if row.number == best else ""),
            _number(row.validation.value),
            _number(row.test.value),
            f"{_number(row.test.low)} – {_number(row.test.high)}",
            "baseline" if row.difference is None else _number(row.difference.value, "+.4f"),
            "" if row.difference is None else _number(row.difference.p, ".3f"),
            f"{row.seconds:.1f} s",
        )
        for row in run.candidates
    ]
    caption = f"chosen by {run.choice}; difference and p against the best log-loss model"
    title = f"{run.metric} on {run.evaluation}, {run.data['test']} rows"
    show(reports.Table(header, rows, caption), title=title, styles={best: "bold"})
    say(filter(None, (sentence(run), run.why, run.verdict, run.not_best, *run.remarks)))
    _show_point(run.operating_point)
    if run.importance is not None:
        known = run.importance
        columns = [
            (row.name, f"{row.value:+.4f}", f"{row.low:+.4f} – {row.high:+.4f}")
            for row in known.columns[:_COLUMNS]
        ]
        caption = f"{known.rows:.0f} rows of {known.part}, {known.repeats:.0f} shuffles per column"
        title = f"loss of {run.metric} when a column is shuffled"
        show(reports.Table(("column", "importance", "95 %"), columns, caption), title=title)
        if (rest := (known.of_columns or 0) - _COLUMNS) > 0:
            say([f"{rest} more columns are in the report"])
    say([str(found.folder / "model"), str(found.report)], style="bold")


def _show_point(point: Point | None) -> None:
    """Print the threshold of the rule, if there is one."""
    if point is None:
        return
    rates = ", ".join(
        f"{name} {_number(rate.value)} ({_number(rate.low)} – {_number(rate.high)})"
        for name, rate in point.rates.items()
        if name != "alert_rate"
    )
    say(
        [
            f"{point.rule}: a {point.column} above {point.threshold:.6g} flags "
            f"{point.flagged:g} test rows: {rates}",
            point.meaning,
        ]
    )


def _number(value: float, form: str = ".4f") -> str:
    return "–" if math.isnan(value) else f"{value:{form}}"


def report(folder: Path) -> None:
    """Write the report of a comparison again, from its results and predictions.

    Args:
        folder: Folder of a run of `rankwise compare`.
    """
    # Here, so that the other commands do not wait for it.
    from rankwise.report.comparison.report import write_report  # noqa: PLC0415
    from rankwise.training import require_unchanged  # noqa: PLC0415
    from rankwise.training.run_folder import record_again  # noqa: PLC0415

    require_unchanged(folder, "config.json", "results.json", "predictions.npz")
    page = write_report(folder)
    record_again(folder, page.name)
    say([str(page)], style="bold")
