"""What a reader of the results should know before believing them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from rankwise.tasks.compare.budget import Budget
from rankwise.tasks.compare.finished import Finished
from rankwise.tasks.compare.problem import Problem

__all__ = ["notes_on"]


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
