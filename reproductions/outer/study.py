"""The report: what the screen chose, how it did on the test, and whether the goal is met."""

from __future__ import annotations

from dataclasses import asdict

from rankwise.report import Section, Table
from reproductions.frame import Report, Setting, Study
from reproductions.outer.finalists import MOST
from reproductions.outer.measure import Measured, measure
from reproductions.outer.pages import (
    figure,
    final_table,
    percent,
    screen_figure,
    screen_table,
    summary_table,
    time_table,
)
from reproductions.outer.plan import Plan
from reproductions.outer.standing import LEAST_AHEAD, goal_of, recipe, recipes, standings
from reproductions.sentences import listed, share


def report(plan: Plan, measured: Measured, setting: Setting) -> Report:
    """Make the tables, figures and words of the report."""
    tasks = [task for task in plan.arms if plan.of_task(task)]
    table, first = summary_table(measured, tasks), figure(measured, tasks)
    screened = screen_figure(measured, tasks)
    sections = [
        Section("The goal", [_goal(measured, tasks), *_recipes(measured, tasks)], [first], [table]),
        Section("Method", _method(plan, setting)),
        *(_task(plan, measured, task) for task in tasks),
        Section("The screen", [], [screened]),
        Section("Time", [_missing(measured)], [], [time_table(measured, tasks)]),
    ]
    return Report(
        title="The outer function: which form of a metric's own loss trains from nothing",
        verdict=_verdict(measured, tasks),
        rows=measured.cells,
        summary=_summary(measured, tasks),
        sections=sections,
        figures={"figure": first, "screen": screened},
        table=table,
    )


def _task(plan: Plan, measured: Measured, task: str) -> Section:
    tables: list[Table] = [screen_table(plan, measured, task)]
    if measured.of(task, "final"):
        tables.insert(0, final_table(plan, measured, task))
    metrics = {problem.metric for problem in plan.of_task(task)}
    return Section(f"Task: {task}", [f"Metric: {listed(sorted(metrics))}."], [], tables)


def _verdict(measured: Measured, tasks: list[str]) -> str:
    goal = goal_of(measured, tasks)
    known = len(tasks) - len(goal.missing)
    ahead = f" ({listed(goal.ahead)})" if goal.ahead else ""
    behind = f" ({listed(goal.behind)})" if goal.behind else ""
    left = f"; {len(goal.missing)} are not measured yet" if goal.missing else ""
    return (
        "Training on the metric itself, from nothing, gives better results than the usual losses "
        f"in {share(len(goal.ahead), known)} kinds of task{ahead} and worse ones in "
        f"{share(len(goal.behind), known)}{behind}{left}."
    )


def _goal(measured: Measured, tasks: list[str]) -> str:
    goal = goal_of(measured, tasks)
    open_tasks = f"; open: {listed(goal.missing)}" if goal.missing else ""
    return (
        "Goal, never significantly behind softmax, SupCon or cross-entropy on any task and ahead "
        f"on at least {LEAST_AHEAD}: {goal.word}. Ahead: {listed(goal.ahead)}; behind: "
        f"{listed(goal.behind)}{open_tasks}."
    )


def _recipes(measured: Measured, tasks: list[str]) -> list[str]:
    words = []
    for task in tasks:
        words += [
            f"{task}: {one.arm} against {one.base}, {percent(one)} %: {one.word}."
            for one in recipes(measured, task)
        ]
    return words


def _method(plan: Plan, setting: Setting) -> list[str]:
    counts = ", ".join(f"{len(plan.screened(task))} of {task}" for task in plan.arms)
    return [
        f"{setting} Every training starts from nothing, without a warm start by another loss. "
        "Surrogate, outer function, scale of the scores and weighting are varied; everything else "
        f"is the same for all arms of a task. Arms: {counts}.",
        "Screen: one seed, validation only, no test value is computed. The reference is the best "
        f"of the task's usual losses on validation; the best softmax, SupCon or cross-entropy is "
        f"repeated beside it. Finalists, at most {MOST}, are the best arm of "
        "the best families and the published forms of SOPRC and StableAP. The choice is written "
        "into the folder of the run before any test value is computed.",
        f"Finalists: {plan.repeats} seeds that the screen does not have, each with a split of its "
        "own; where a data set has a published test part, only training and validation are "
        "split anew. Elsewhere a row of the screen's validation part may be in a test part of "
        "another seed: it chose among arms, never a model. Differences are paired by seed; the "
        "interval is Student's over the seeds. The epoch, and where a task has several the "
        "learning rate, is that of the best validation.",
        "Recommendation: matrix factorization, 64 dimensions, cosines, whole catalog, at most "
        f"{plan.recommendation_epochs} epochs. Retrieval: {plan.scratch_steps} steps of a network "
        f"of four convolutions, and {plan.head_steps} steps of a linear head on features of "
        f"MobileNetV2. Long tail: {plan.longtail_steps} steps. Tables: two hidden layers of 64, "
        f"{plan.table_epochs} epochs, 60:20:20. Ranking: a linear scorer and one hidden layer of "
        f"64, {plan.ranking_epochs} epochs, five folds of the queries.",
    ]


def _missing(measured: Measured) -> str:
    if not measured.missing:
        return "No training is missing."
    parts = [
        f"{name}: {few} of {total} trainings" if total else f"{name}: not begun"
        for name, (few, total) in measured.missing.items()
    ]
    return f"Missing, to be continued by the same command: {'; '.join(parts)}."


def _summary(measured: Measured, tasks: list[str]) -> dict[str, object]:
    goal = goal_of(measured, tasks)
    return {
        "goal": goal.word,
        "ahead": list(goal.ahead),
        "behind": list(goal.behind),
        "open": list(goal.missing),
        "missing": measured.missing,
        "choices": {task: asdict(choice) for task, choice in measured.choices.items()},
        "standings": {
            task: [
                {**asdict(one), "standing": one.word, "half_width": one.test.half_width()}
                for one in standings(measured, task)
            ]
            for task in tasks
        },
        "recipes": {task: one.arm for task in tasks if (one := recipe(measured, task)) is not None},
    }


study = Study(Plan, measure, report)
