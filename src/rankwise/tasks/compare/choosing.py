"""Which candidate is recommended, by validation alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rankwise.tasks.compare.corrected import Estimate, corrected
from rankwise.tasks.compare.finished import Finished
from rankwise.tasks.compare.problem import Problem

__all__ = ["Choice", "choose", "on_common_splits", "validation_of"]


@dataclass(frozen=True)
class Choice:
    """The recommended candidate, the one to compare with, and the reason."""

    recommended: int
    baseline: int
    why: str


def on_common_splits(finished: Sequence[Finished]) -> list[Finished]:
    """Without the splits that some candidate had no time for: all are compared on the same."""
    fewest = min((len(each.judged) for each in finished), default=0)
    return [replace(each, judged=each.judged[:fewest]) for each in finished]


def choose(finished: Sequence[Finished], metric: str) -> Choice:
    """The best mean on validation; log-loss where nothing beats it.

    The baseline is the best of those trained on log-loss, so that what is recommended is never
    worse than it on validation.
    """
    plain = [n for n, each in enumerate(finished) if each.candidate.is_log_loss]
    others = [n for n, each in enumerate(finished) if not each.candidate.is_log_loss]
    baseline = max(plain, key=lambda n: finished[n].mean)
    rival = max(others, key=lambda n: finished[n].mean, default=None)
    log_loss = f"{finished[baseline].candidate.name} ({finished[baseline].mean:.4f})"
    if rival is None:
        only = "the best on validation" if len(plain) > 1 else "the only candidate"
        return Choice(baseline, baseline, f"{log_loss} is {only} by {metric}; all were log-loss.")
    named = f"{finished[rival].candidate.name} ({finished[rival].mean:.4f})"
    if finished[rival].mean > finished[baseline].mean:
        why = f"{named} has the best {metric} on validation; the best log-loss model is {log_loss}."
        return Choice(rival, baseline, why)
    why = (
        f"Log-loss won: {log_loss} has the best {metric} on validation, "
        f"and nothing trained on the metric beat it; the nearest is {named}."
    )
    return Choice(baseline, baseline, why)


def validation_of(each: Finished, problem: Problem) -> Estimate:
    """The metric on validation with its interval.

    Of one part, that of the metric; over folds that of :func:`corrected`, within 0 and 1.
    """
    plan = problem.plan
    if not plan.crosses:
        found = problem.interval(each.judged[0].scores, plan.splits[0][1])
        return Estimate(found.value, found.low, found.high)
    return corrected(each.values, *map(len, plan.splits[0])).within(0.0, 1.0)
