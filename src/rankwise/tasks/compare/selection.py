"""Choose a candidate on validation, and estimate all of them on rows held out from training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import rankdata

from rankwise.data.splits import count_positives
from rankwise.report.format import capitalized, full_name
from rankwise.tasks.compare.fit import Fitted
from rankwise.tasks.compare.metrics import Estimate, Floats, corrected
from rankwise.tasks.compare.model import Model
from rankwise.tasks.compare.problem import Problem, Rows

VISIBLE = 0.0005  # differences below it are shown as zero
_DECIDABLE = 50  # tested positives (lists with one) from which a difference can be decided


@dataclass(frozen=True)
class Choice:
    """The recommended candidate, the baseline to compare with, and the reason."""

    recommended: int
    baseline: int
    why: str


def on_common_splits(fitted: Mapping[str, Fitted]) -> dict[str, Fitted]:
    """Leave out the splits that some candidate had no time for: all are compared on the same."""
    fewest = min((len(each.folds) for each in fitted.values()), default=0)
    return {name: replace(each, folds=each.folds[:fewest]) for name, each in fitted.items()}


def choose(fitted: Sequence[Fitted], metric: str) -> Choice:
    """Choose the best mean on validation; log-loss where nothing beats it.

    The baseline is the best of those trained on log-loss, so that what is recommended is never
    worse than it on validation.
    """
    plain = [n for n, each in enumerate(fitted) if each.candidate.is_log_loss]
    others = [n for n, each in enumerate(fitted) if not each.candidate.is_log_loss]
    baseline = max(plain, key=lambda n: fitted[n].mean)
    rival = max(others, key=lambda n: fitted[n].mean, default=None)
    name = full_name(metric)
    log_loss = f"{fitted[baseline].candidate.words} ({fitted[baseline].mean:.4f})"
    if rival is None:
        only = "the best on validation" if len(plain) > 1 else "the only candidate"
        why = f"{capitalized(log_loss)} is {only} by {name}; all were trained on log-loss."
        return Choice(baseline, baseline, why)
    named = f"{fitted[rival].candidate.words} ({fitted[rival].mean:.4f})"
    if fitted[rival].mean > fitted[baseline].mean:
        best = f"{capitalized(named)} has the best {name} on validation"
        return Choice(rival, baseline, f"{best}; the best on log-loss is {log_loss}.")
    why = (
        f"Log-loss won: {log_loss} has the best {name} on validation, "
        f"and no other candidate beat it; the nearest is {named}."
    )
    return Choice(baseline, baseline, why)


def validation_of(each: Fitted, problem: Problem) -> Estimate:
    """Return the metric on validation with its interval.

    Of one part, that of the metric; over folds that of :func:`corrected`, within 0 and 1.
    """
    plan = problem.plan
    if not plan.cross_validated:
        return problem.estimate(each.folds[0].scores, plan.splits[0][1])
    return corrected(each.values, *map(len, plan.splits[0])).within(0.0, 1.0)


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Candidates, by number, on rows that had no part in their training.

    ``folds`` are the test parts with the candidates of each, in one order: a single one, or those
    of repeated cross-validation.
    """

    folds: Sequence[tuple[Problem, Sequence[Fitted]]]
    repeats: int = 0  # of cross-validation; 0: one test part

    @property
    def problem(self) -> Problem:
        """The first of the problems, which share the table and the settings."""
        return self.folds[0][0]

    @property
    def description(self) -> str:
        """What was tested on, for a reader."""
        if not self.repeats:
            return "the test part"
        return f"{len(self._first)}-fold cross-validation of all rows × {self.repeats}"

    @property
    def _first(self) -> Sequence[tuple[Problem, Sequence[Fitted]]]:
        """The folds of the first repeat, which together are all rows that are tested."""
        return self.folds[: len(self.folds) // max(1, self.repeats)]

    @property
    def rows(self) -> Rows:
        """The rows that were tested, each once, in the order of the table."""
        return np.sort(np.concatenate([problem.plan.parts.test for problem, _ in self._first]))

    @property
    def undecided(self) -> str | None:
        """Why nothing can be decided, and what to do about it; None where something can be."""
        table, settings = self.problem.table, self.problem.settings
        tested = count_positives(table, self.rows)
        if tested >= _DECIDABLE:
            return None
        noun = "positives" if table.groups is None else "lists with a positive"
        size = f"{self.description} has {tested} {noun}, fewer than {_DECIDABLE}"
        if table.classes:
            counts = table.class_counts(self.rows)
            rarest = min(counts, key=lambda label: counts[label])
            size = (
                f"{self.description} has {counts[rarest]} rows of the class {rarest!r}, and a mean "
                f"over the classes is as uncertain as one of {tested} positives, fewer than "
                f"{_DECIDABLE}"
            )
        said = f"Nothing can be decided: {size}."
        if settings.repeats:
            return f"{said} More rows are needed."
        if settings.time is not None:
            return f"{said} Test on a longer time: more rows are needed."
        every = count_positives(table, np.arange(len(table)))
        on_all = "all rows" if table.classes else f"all {every} positives"
        return f"{said} Pass --repeats 5 to test on {on_all} by repeated cross-validation."

    def scores(self, number: int) -> Floats:
        """Return scores of these rows by models that have not seen them."""
        # Log-odds of ranks: scores of models of different folds have no scale in common.
        return self._by_row(number, "test_ranked" if self.repeats else "test")

    def probabilities(self, number: int) -> Floats:
        """Return calibrated probabilities of these rows."""
        return self._by_row(number, "probability")

    def _by_row(self, number: int, kind: str) -> Floats:
        order = np.concatenate([problem.plan.parts.test for problem, _ in self._first])
        parts = [getattr(fitted[number], kind) for _, fitted in self._first]
        return np.concatenate(parts)[np.argsort(order)]

    def value(self, number: int, metric: str) -> float:
        """Return a metric of a candidate."""
        return float(np.mean(self._values(number, metric)))

    def estimate(self, number: int) -> Estimate:
        """Return the metric that decides, with its interval."""
        if self.repeats:
            return corrected(self._values(number), *self.sizes).within(0.0, 1.0)
        return self.problem.estimate(self.scores(number), self.rows)

    def difference(self, number: int, base: int) -> Estimate:
        """Return the metric of one candidate minus that of another, paired."""
        if self.repeats:
            pairs = zip(self._values(number), self._values(base), strict=True)
            return corrected([one - other for one, other in pairs], *self.sizes)
        if self.same_ranking(number, base):
            return Estimate(0.0, 0.0, 0.0, 1.0)
        return self.problem.difference(self.scores(number), self.scores(base), self.rows)

    def nested_value(self) -> float:
        """Return the metric of what each fold would have recommended without its test part."""
        values = [
            at.value(fitted[choose(fitted, at.metric).recommended].test, at.plan.parts.test)
            for at, fitted in self.folds
        ]
        return float(np.mean(values))

    def tested(self, number: int) -> list[tuple[Model, Rows]]:
        """Return the models of a candidate, each with the rows it was tested on; each row once."""
        return [(fitted[number].model, at.plan.parts.test) for at, fitted in self._first]

    def same_ranking(self, number: int, base: int) -> bool:
        """Return whether two candidates put all tested rows in the same order, ties included."""
        return all(
            np.array_equal(
                rankdata(fitted[number].test, axis=0), rankdata(fitted[base].test, axis=0)
            )
            for _, fitted in self.folds
        )

    def _values(self, number: int, metric: str | None = None) -> list[float]:
        return [
            problem.value(fitted[number].test, problem.plan.parts.test, metric)
            for problem, fitted in self.folds
        ]

    @property
    def sizes(self) -> tuple[int, int]:
        """The rows that a model is trained on and those it is tested on."""
        parts = self.problem.plan.parts
        return len(parts.development), len(parts.test)


def not_best(
    fitted: Sequence[Fitted], choice: Choice, evaluation: Evaluation, tests: Sequence[Estimate]
) -> str:
    """Return why the recommended candidate is not the best on the tested rows; empty if it is."""
    best = int(np.nanargmax([-np.inf, *(test.mean for test in tests)])) - 1
    if best < 0 or not tests[best].mean - tests[choice.recommended].mean >= VISIBLE:
        return ""
    gain = evaluation.difference(best, choice.recommended)
    sure = "more than chance explains" if gain.low > 0 else "within chance"
    return (
        f"{capitalized(fitted[best].candidate.words)} has the highest value here, but the "
        "choice was made on validation, before these rows were read. Choosing by the test rows "
        "would make the best model look better than it is. The difference to the recommended "
        "candidate, "
        f"{gain.mean:+.4f} (95 % {gain.low:+.4f} to {gain.high:+.4f}), is {sure}."
    )
