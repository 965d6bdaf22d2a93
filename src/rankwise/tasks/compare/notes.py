"""What a reader of the results should know before believing them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from rankwise.tasks.compare.contest import Contest
from rankwise.tasks.compare.finished import Finished

__all__ = ["notes_on"]


def notes_on(
    finished: Sequence[Finished], contest: Contest, left_out: Mapping[str, str]
) -> list[str]:
    """Contenders that failed or learnt nothing, and columns that are odd or were not used."""
    notes = [f"left out, it failed: {why}" for why in left_out.values()]
    notes += [note for each in finished if (note := _no_better_than_chance(each, contest))]
    table = contest.table
    notes += table.slips
    if table.left_out:
        columns = ", ".join(table.left_out)
        notes.append(f"columns left out (the table of columns says why): {columns}")
    return notes


def _no_better_than_chance(each: Finished, contest: Contest) -> str | None:
    """A contender that has learnt nothing makes every other look good beside it."""
    splits = contest.plan.splits[: len(each.judged)]
    chance = [contest.value(np.zeros(len(rows)), rows) for _, rows in splits]
    bad = sum(value <= level for value, level in zip(each.values, chance, strict=True))
    if not bad:
        return None
    return (
        f"{each.contender.name} is no better than chance ({np.mean(chance):.4f}) on {bad} of "
        f"{len(splits)} validation splits: it has not learnt, so do not trust differences to it"
    )
