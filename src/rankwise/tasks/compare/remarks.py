"""The verdict on the recommendation, and remarks a reader should know before believing it."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from rankwise.data.splits import count_positives
from rankwise.tasks.compare.budget import Budget
from rankwise.tasks.compare.fit import Fitted
from rankwise.tasks.compare.problem import Problem
from rankwise.tasks.compare.results import Outcome
from rankwise.tasks.compare.selection import Evaluation

FEW = 50  # tested positives (lists with one) below which no difference can be decided
_VISIBLE = 0.0005  # differences below it are shown as zero

_KEPT = {
    "linear": "trained on the metric it ranked its held-out rows no better, and kept log-loss",
    "boosted": "its log-loss trees alone ranked its held-out rows better, and were kept alone",
}


def verdict_of(outcome: Outcome) -> str:
    """Return what the tested rows say of the recommended candidate against the baseline."""
    few = undecided(outcome.evaluation)
    said = [] if few is None else [few]
    gain, base = outcome.gains[outcome.choice.recommended], outcome.baseline
    if gain is None:
        if any(each.candidate.objective != base.objective for each in outcome.fitted):
            said.append("Training on the metric itself did not pay here.")
    elif (why := _why_zero(outcome, gain.mean)) is not None:
        said.append(why)
    elif not said and not math.isnan(gain.low):
        place = f"On {outcome.evaluation.description}"
        if gain.low > 0:
            said.append(f"{place} it is clearly better than {base.name}.")
        elif gain.high < 0:
            said.append(f"{place} it is worse than {base.name}: keep the baseline, or look closer.")
        else:
            said.append(f"{place} the difference to {base.name} is within chance.")
    return " ".join(said)


def undecided(evaluation: Evaluation) -> str | None:
    """Return that nothing can be decided and what to do about it; None where something can be."""
    table, settings = evaluation.problem.table, evaluation.problem.settings
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


def remarks_on(outcome: Outcome, failed: Mapping[str, str], budget: Budget) -> list[str]:
    """Return the remarks on the results of a run, on its training and on its columns."""
    fitted, problem, remarks = outcome.fitted, outcome.problem, list[str]()
    evaluation, choice = outcome.evaluation, outcome.choice
    same = [
        each.candidate.name
        for number, each in enumerate(fitted)
        if number not in (choice.baseline, choice.recommended)
        and evaluation.same_ranking(number, choice.baseline)
    ]
    if same:
        base, names = outcome.baseline.name, "; ".join(same)
        remarks.append(f"difference 0, ranks every tested row as {base} does: {names}")
    if evaluation.repeats:
        remarks.append(
            f"chosen anew within every fold, the recommended candidate has "
            f"{problem.metric} {evaluation.nested_value():.4f}: "
            "the best of several looks a little better than it is"
        )
    remarks += budget.announced
    if budget.left_out:
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


def _why_zero(outcome: Outcome, gain: float) -> str | None:
    """Return why the difference is zero, where it is."""
    best, base, choice = outcome.recommended, outcome.baseline, outcome.choice
    if not abs(gain) < _VISIBLE:
        return None
    if outcome.evaluation.same_ranking(choice.recommended, choice.baseline):
        why = f": {_KEPT[best.model]}" if best.model == base.model and best.model in _KEPT else ""
        return (
            f"{best.name} ranks every tested row as {base.name} does, so the difference is 0{why}."
        )
    if math.isclose(outcome.tests[choice.recommended].mean, 1.0):
        return (
            f"Both rank every positive above every negative, so the difference to {base.name} is 0."
        )
    return (
        f"{best.name} and {base.name} rank some tested rows differently, but "
        f"{outcome.problem.metric} changes by less than {_VISIBLE}: take the simpler one."
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
