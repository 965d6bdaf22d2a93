"""The tables and figures of the report."""

from __future__ import annotations

from collections.abc import Sequence

from rankwise.report import Figure, Table
from rankwise.theory import mean_of
from reproductions.drawing import COLORS, canvas, plain, png
from reproductions.outer.finalists import relative_values
from reproductions.outer.measure import Measured
from reproductions.outer.plan import Plan
from reproductions.outer.problem import REFERENCE
from reproductions.outer.standing import Standing, differences, recipes, standings
from reproductions.sentences import difference


def screen_table(plan: Plan, measured: Measured, task: str) -> Table:
    """Validation of every arm on every problem; sorted once all are there."""
    cells, choice = measured.of(task, "screen"), measured.choices.get(task)
    problems = [p.name for p in plan.of_task(task, "screen")]
    values: dict[str, dict[str, float]] = {}
    for cell in cells:
        values.setdefault(cell.arm, {})[cell.problem] = cell.validation
    arms = [arm for arm in plan.screened(task) if arm.name in values]
    relative: dict[str, float] = {}
    if all(len(values[arm.name]) == len(problems) for arm in arms) and arms:
        relative = relative_values(arms, values)
        arms.sort(key=lambda arm: -relative[arm.name])
    rows = []
    for arm in arms:
        own = [f"{values[arm.name][p]:.4f}" if p in values[arm.name] else "–" for p in problems]
        share = f"{relative[arm.name]:.3f}" if relative else "–"
        why = choice.why.get(arm.name, "") if choice is not None else ""
        rows.append((arm.name, arm.family, *own, share, why))
    header = ("arm", "family", *problems, "relative", "chosen")
    caption = "Metric on validation, one seed; relative to the first arm of the table of arms."
    return Table(header, rows, caption)


def final_table(plan: Plan, measured: Measured, task: str) -> Table:
    """Test of the finalists: mean, and difference to the reference with its interval."""
    cells, choice = measured.of(task, "final"), measured.choices[task]
    problems = [p.name for p in plan.of_task(task)]
    found = {each.arm: each for each in standings(measured, task)}
    rows = []
    for arm in choice.names:
        row = []
        for problem in problems:
            tests = [
                c.test for c in cells if (c.arm, c.problem) == (arm, problem) and c.test is not None
            ]
            paired = differences(cells, arm, choice.reference, problem)
            text = f"{mean_of(tests).value:.4f}" if tests else "–"
            if arm != choice.reference and paired:
                text += f" ({difference(mean_of(paired), 4)})"
            row.append(text)
        rows.append((arm, *row, *_of_task(found.get(arm), arm == choice.reference)))
    header = ("arm", *problems, "relative, %", "standing")
    caption = (
        "Metric on the test; in brackets the paired difference to the reference, mean over the "
        "seeds ± half of the 95 % interval. Relative: the mean over the problems."
    )
    return Table(header, rows, caption)


def _of_task(found: Standing | None, is_reference: bool) -> tuple[str, str]:
    if is_reference:
        return "0", REFERENCE
    return ("–", "open") if found is None else (percent(found), found.word)


def percent(found: Standing) -> str:
    """Write the relative difference on the test in per cent."""
    mean = found.test
    scaled = type(mean)(100 * mean.value, 100 * mean.standard_error, mean.n)
    return difference(scaled, 2)


def summary_table(measured: Measured, tasks: Sequence[str]) -> Table:
    """One line for each task and base: the recipe and where it stands."""
    rows = []
    for task in tasks:
        found = recipes(measured, task)
        rows += [(task, one.arm, one.base, percent(one), one.word, one.test.n) for one in found]
        if not found:
            rows.append((task, "–", "–", "–", "open", 0))
    header = ("task", "recipe by validation", "against", "test, relative, %", "standing", "seeds")
    caption = (
        "The recipe is the finalist with the best validation over the seeds; it is compared with "
        "the plain loss of the goal, and with the best of the usual losses on validation where "
        "this is another one."
    )
    return Table(header, rows, caption)


def time_table(measured: Measured, tasks: Sequence[str]) -> Table:
    """Time of a training by task and stage, and of all of them."""
    rows = []
    for task in tasks:
        for stage in ("screen", "final"):
            times = [c.seconds for c in measured.cells if (c.task, c.stage) == (task, stage)]
            if times:
                whole = f"{sum(times) / 60:.1f}"
                rows.append((task, stage, len(times), f"{sum(times) / len(times):.1f}", whole))
    header = ("task", "stage", "trainings", "seconds of one", "minutes of all")
    return Table(header, rows, "Time of one thread.")


def figure(measured: Measured, tasks: Sequence[str]) -> Figure:
    """Relative difference of every finalist to the reference, one panel for each task."""
    made, axes = canvas(1, max(1, len(tasks)), width=3.0 * max(1, len(tasks)), height=3.2)
    for place, task in zip(axes[0], tasks, strict=True):
        found = standings(measured, task)
        for row, one in enumerate(found):
            half = 100 * one.test.half_width() if one.test.n > 1 else 0.0
            color = COLORS[2] if one.word == "ahead" else COLORS[1]
            place.errorbar(100 * one.test.value, row, xerr=half, fmt="o", color=color, capsize=3)
        place.axvline(0, color=COLORS[0], linewidth=1)
        place.set_yticks(range(len(found)), [one.arm for one in found])
        place.invert_yaxis()
        plain(place, title=task, x="test, relative to reference, %")
    words = (
        "Relative difference of the finalists to the reference on the test, in per cent, with "
        "95 % intervals, one panel for each task."
    )
    return Figure(png(made), words, words)


def screen_figure(measured: Measured, tasks: Sequence[str]) -> Figure:
    """Relative validation of every arm of the screen, a panel for each task."""
    made, axes = canvas(1, max(1, len(tasks)), width=3.0 * max(1, len(tasks)), height=4.2)
    for place, task in zip(axes[0], tasks, strict=True):
        choice = measured.choices.get(task)
        if choice is not None:
            ranked = sorted(choice.relative.items(), key=lambda item: item[1])
            colors = [
                COLORS[0]
                if name == choice.reference
                else COLORS[2]
                if name in choice.finalists
                else COLORS[1]
                for name, _ in ranked
            ]
            place.barh([name for name, _ in ranked], [v for _, v in ranked], color=colors)
            place.tick_params(axis="y", labelsize=6)
        plain(place, title=task, x="validation, relative")
        place.tick_params(axis="y", labelsize=5)
    words = (
        "Validation of every arm of the screen relative to the first of the table; the reference "
        "and the finalists have a color."
    )
    return Figure(png(made), words, words)
