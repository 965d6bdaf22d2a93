"""The verdict on the recommendation, and remarks a reader should know before believing it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from rankwise.tasks.compare.budget import Budget
from rankwise.tasks.compare.fit import Fitted
from rankwise.tasks.compare.problem import Problem, count_positives
from rankwise.tasks.compare.results import Results
from rankwise.tasks.compare.selection import Evaluation

FEW = 50  # tested positives (lists with one) below which no difference can be decided
_VISIBLE = 0.0005  # differences below it are shown as zero

_KEPT = {
    "linear": "trained on the metric it ranked its held-out rows no better, and kept log-loss",
    "boosted": "its log-loss trees alone ranked its held-out rows better, and were kept alone",
}


def verdict_of(results: Results, evaluation: Evaluation, problem: Problem) -> str:
    """Return what the tested rows say of the recommended candidate against the baseline."""
    rows, best, base = results["candidates"], results["recommended"], _baseline(results)
    few = undecided(evaluation, problem)
    said = [] if few is None else [few]
    gain = rows[best]["difference"]
    if best == base or gain is None:
        if any(row["objective"] != rows[base]["objective"] for row in rows):
            said.append("Training on the metric itself did not pay here.")
    elif (why := _why_zero(results, evaluation)) is not None:
        said.append(why)
    elif not said and gain["low"] is not None and gain["high"] is not None:
        place, name = f"On {evaluation.description}", rows[base]["name"]
        if gain["low"] > 0:
            said.append(f"{place} it is clearly better than {name}.")
        elif gain["high"] < 0:
            said.append(f"{place} it is worse than {name}: keep the baseline, or look closer.")
        else:
            said.append(f"{place} the difference to {name} is within chance.")
    return " ".join(said)


def undecided(evaluation: Evaluation, problem: Problem) -> str | None:
    """Return that nothing can be decided and what to do about it; None where something can be."""
    table, settings = problem.table, problem.settings
    tested = count_positives(table, evaluation.rows)
    if tested >= FEW:
        return None
    noun = "positives" if table.groups is None else "lists with a positive"
    place = evaluation.description
    said = f"Nothing can be decided: {place} has {tested} {noun}, fewer than {FEW}."
    if settings.repeats:
        return f"{said} More rows are needed."
    if settings.time is not None:
        return f"{said} Test on a longer time: more rows are needed."
    every = count_positives(table, np.arange(len(table)))
    return f"{said} Pass --repeats 5 to test on all {every} by repeated cross-validation."


def result_remarks(results: Results, evaluation: Evaluation) -> list[str]:
    """Return the remarks on the results of a run, besides those on its training."""
    remarks = [] if (same := same_as_baseline(results, evaluation)) is None else [same]
    if evaluation.repeats:
        remarks.append(
            f"chosen anew within every fold, the recommended candidate has {results['metric']} "
            f"{evaluation.nested_value():.4f}: the best of several looks a little better than it is"
        )
    return remarks


def training_remarks(
    fitted: Sequence[Fitted],
    problem: Problem,
    failed: Mapping[str, str],
    budget: Budget | None = None,
) -> list[str]:
    """Return what the budget did not allow, candidates that failed, columns left out."""
    remarks = [] if budget is None else list(budget.announced)
    if budget is not None and budget.left_out:
        remarks.append(f"left out, too long for --budget: {'; '.join(budget.left_out)}")
    remarks += [f"left out, it failed: {why}" for why in failed.values()]
    if short := [each.candidate.name for each in fitted if each.cut and not each.candidate.parts]:
        names = "; ".join(short)
        remarks.append(f"cut short by --budget, and maybe better with more of it: {names}")
    remarks += filter(None, (_no_better_than_chance(each, problem) for each in fitted))
    remarks += problem.table.warnings
    if left_out := ", ".join(problem.table.left_out):
        remarks.append(f"columns left out (the table of columns says why): {left_out}")
    return remarks


def same_as_baseline(results: Results, evaluation: Evaluation) -> str | None:
    """Return which candidates differ by zero because they rank as the baseline does."""
    rows, base = results["candidates"], _baseline(results)
    same = [
        row["name"]
        for number, row in enumerate(rows)
        if number not in (base, results["recommended"]) and evaluation.same_ranking(number, base)
    ]
    if not same:
        return None
    return f"difference 0, ranks every tested row as {rows[base]['name']} does: {'; '.join(same)}"


def _baseline(results: Results) -> int:
    return next(number for number, row in enumerate(results["candidates"]) if row["baseline"])


def _why_zero(results: Results, evaluation: Evaluation) -> str | None:
    """Return why the difference is zero, where it is."""
    best, base = results["recommended"], _baseline(results)
    one, other = (results["candidates"][number] for number in (best, base))
    gain, value = (one["difference"] or {}).get("value"), one["test"]["value"]
    if gain is None or abs(gain) >= _VISIBLE:
        return None
    if evaluation.same_ranking(best, base):
        why = _KEPT.get(one["model"]) if one["model"] == other["model"] else None
        return (
            f"{one['name']} ranks every tested row as {other['name']} does, so the difference is 0"
            f"{f': {why}' if why else ''}."
        )
    if value is not None and math.isclose(value, 1.0):
        name = other["name"]
        return f"Both rank every positive above every negative, so the difference to {name} is 0."
    return (
        f"{one['name']} and {other['name']} rank some tested rows differently, but "
        f"{results['metric']} changes by less than {_VISIBLE}: take the simpler one."
    )


def _no_better_than_chance(each: Fitted, problem: Problem) -> str | None:
    """Return a warning on a candidate that did not learn, next to which every other looks good."""
    splits = problem.plan.splits[: len(each.folds)]
    chance = [problem.value(np.zeros(len(rows)), rows) for _, rows in splits]
    bad = sum(value <= level for value, level in zip(each.values, chance, strict=True))
    if not bad:
        return None
    return (
        f"{each.candidate.name} is no better than chance ({np.mean(chance):.4f}) on {bad} of "
        f"{len(splits)} validation splits: it has not learned, so do not trust differences to it"
    )
