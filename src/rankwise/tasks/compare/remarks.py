"""How sure one can be of the recommendation, in words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankwise.tasks.compare.budget import Budget
from rankwise.tasks.compare.fit import Finished
from rankwise.tasks.compare.problem import Problem, units
from rankwise.tasks.compare.selection import Evaluation

FEW = 50  # tested positives (lists with one) below which no difference can be decided
_VISIBLE = 0.0005  # differences below it are shown as zero

_KEPT = {
    "linear": "trained on the metric it ranked its held-out rows no better, and kept log-loss",
    "boosted": "its log-loss trees alone ranked its held-out rows better, and were kept alone",
}


def verdict_of(results: Mapping[str, Any], evaluation: Evaluation, problem: Problem) -> str:
    """What the tested rows say of the recommended candidate against the best log-loss model."""
    rows = results["candidates"]
    best = results["recommended"]
    base = next(number for number, row in enumerate(rows) if row["baseline"])
    said = []
    if (few := too_few(evaluation, problem)) is not None:
        said.append(few)
    if best == base:
        if any(row["objective"] != rows[base]["objective"] for row in rows):
            said.append("Training on the metric itself did not pay here.")
        return " ".join(said)
    if (why := _zero(rows, best, base, evaluation, problem.metric)) is not None:
        return " ".join([*said, why])
    gain, name = rows[best]["difference"], rows[base]["name"]
    if not said and gain["low"] is not None:
        place = f"On {evaluation.words}"
        if gain["low"] > 0:
            said.append(f"{place} it is clearly better than {name}.")
        elif gain["high"] < 0:
            said.append(f"{place} it is worse than {name}: keep the baseline, or look closer.")
        else:
            said.append(f"{place} the difference to {name} is within chance.")
    return " ".join(said)


def same_as_baseline(results: Mapping[str, Any], evaluation: Evaluation) -> str | None:
    """Which candidates have a difference of zero because they rank as the baseline does."""
    rows = results["candidates"]
    base = next(number for number, row in enumerate(rows) if row["baseline"])
    same = [
        row["name"]
        for number, row in enumerate(rows)
        if number not in (base, results["recommended"]) and evaluation.same_ranking(number, base)
    ]
    if not same:
        return None
    return f"difference 0, ranks every tested row as {rows[base]['name']} does: {'; '.join(same)}"


def too_few(evaluation: Evaluation, problem: Problem) -> str | None:
    """That nothing can be decided and what to do about it; None where something can be."""
    table, settings = problem.table, problem.settings
    noun = "positives" if table.groups is None else "lists with a positive"
    tested, every = units(table, evaluation.rows), units(table, problem.all_rows)
    if tested >= FEW:
        return None
    said = f"Nothing can be decided: {evaluation.words} has {tested} {noun}, fewer than {FEW}."
    if settings.repeats:
        return f"{said} More rows are needed."
    if settings.time is not None:
        return f"{said} Test on a longer time: more rows are needed."
    return f"{said} Pass --repeats 5 to test on all {every} by repeated cross-validation."


def _zero(
    rows: list[dict[str, Any]], best: int, base: int, evaluation: Evaluation, metric: str
) -> str | None:
    """Why the difference is zero, where it is."""
    gain = rows[best]["difference"]["value"]
    if gain is None or abs(gain) >= _VISIBLE:
        return None
    one, other = rows[best]["name"], rows[base]["name"]
    if evaluation.same_ranking(best, base):
        same = rows[best]["model"] == rows[base]["model"]
        why = _KEPT.get(rows[best]["model"]) if same else None
        reason = f": {why}" if why else ""
        return f"{one} ranks every tested row as {other} does, so the difference is 0{reason}."
    if math.isclose(rows[best]["test"]["value"], 1.0):
        return f"Both rank every positive above every negative, so the difference to {other} is 0."
    return (
        f"{one} and {other} rank some tested rows differently, but {metric} changes by less than "
        f"{_VISIBLE}: take the simpler one."
    )


def notes_on(
    finished: Sequence[Finished],
    problem: Problem,
    failed: Mapping[str, str],
    budget: Budget | None = None,
) -> list[str]:
    """What the budget did not allow, candidates that failed or learned nothing, odd columns."""
    notes = [] if budget is None else budget.announcements
    if budget is not None and budget.left_out:
        notes.append(f"left out, too long for --budget: {'; '.join(budget.left_out)}")
    notes += [f"left out, it failed: {why}" for why in failed.values()]
    if short := [each.candidate.name for each in finished if each.cut and not each.candidate.parts]:
        notes.append(f"cut short by --budget, and maybe better with more of it: {'; '.join(short)}")
    notes += [note for each in finished if (note := _no_better_than_chance(each, problem))]
    table = problem.table
    notes += table.slips
    if table.left_out:
        columns = ", ".join(table.left_out)
        notes.append(f"columns left out (the table of columns says why): {columns}")
    return notes


def _no_better_than_chance(each: Finished, problem: Problem) -> str | None:
    """A candidate that has learned nothing makes every other look good beside it."""
    splits = problem.plan.splits[: len(each.judged)]
    chance = [problem.value(np.zeros(len(rows)), rows) for _, rows in splits]
    bad = sum(value <= level for value, level in zip(each.values, chance, strict=True))
    if not bad:
        return None
    return (
        f"{each.candidate.name} is no better than chance ({np.mean(chance):.4f}) on {bad} of "
        f"{len(splits)} validation splits: it has not learned, so do not trust differences to it"
    )
