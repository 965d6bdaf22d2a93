"""The results of a run: numbers, the verdict, remarks to know before believing them, and files."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from rankwise.files import write_npz
from rankwise.report import write_csv, write_json
from rankwise.report.format import capitalized, full_name
from rankwise.tasks.compare.budget import Budget
from rankwise.tasks.compare.classes import METRICS, by_class
from rankwise.tasks.compare.control import Controlled, controlled, explain
from rankwise.tasks.compare.fit import Fitted
from rankwise.tasks.compare.metrics import Estimate, every_metric, finite, takes_weights
from rankwise.tasks.compare.operating import as_json, choose_points, daily_rows, rows_per_day
from rankwise.tasks.compare.problem import Problem
from rankwise.tasks.compare.run_files import PARTS, PARTS_FILE
from rankwise.tasks.compare.selection import VISIBLE, Choice, Evaluation, not_best, validation_of

Numbers = dict[str, float | None]  # with an interval; what is not defined is null
_KEPT = {
    "linear": "trained on the metric it ranked its held-out rows no better, and kept log-loss",
    "boosted": "its log-loss trees alone ranked its held-out rows better, and were kept alone",
}


@dataclass(frozen=True, eq=False)
class Outcome:
    """All candidates, the choice among them, and their evaluation after it."""

    problem: Problem  # by which the choice was made
    fitted: Sequence[Fitted]
    choice: Choice
    evaluation: Evaluation

    @cached_property
    def tests(self) -> list[Estimate]:
        """The metric of every candidate on the tested rows."""
        return [self.evaluation.estimate(number) for number in range(len(self.fitted))]

    @cached_property
    def gains(self) -> list[Estimate | None]:
        """The difference of every candidate to the baseline; None for the baseline itself."""
        base, numbers = self.choice.baseline, range(len(self.fitted))
        return [None if n == base else self.evaluation.difference(n, base) for n in numbers]

    @cached_property
    def controls(self) -> list[Controlled]:
        """The candidates trained on the metric against the average of two log-loss fits."""
        return controlled(self.fitted, self.choice, self.evaluation)

    @cached_property
    def _estimates(self) -> list[dict[str, Numbers | None]]:
        against = {pair.candidate: pair.difference for pair in self.controls}
        found = enumerate(zip(self.fitted, self.tests, self.gains, strict=True))
        return [
            {
                "validation": _numbers(validation_of(each, self.problem), "mean"),
                "test": _numbers(test),
                "difference": _with_p(gain),
                "against_control": _with_p(against.get(number)),
            }
            for number, (each, test, gain) in found
        ]

    def results(self, left_out: Mapping[str, str]) -> dict[str, object]:
        """Return the content of ``results.json``, without the remarks and the importance."""
        table, plan, rows = self.problem.table, self.problem.plan, self.evaluation.rows
        grouped = table.groups is not None
        names = every_metric(len(rows), grouped=grouped, graded=table.graded)
        if table.classes:
            names = list(METRICS)
        classes = table.class_counts(np.arange(len(table))) if table.classes else {}
        counts = {
            "rows_without_target": table.without_target,
            "rows_of_weight_0": table.without_weight,
            "periods": plan.parts.periods(table),  # from when to when, with a time column
            "rows_per_day": None if classes else rows_per_day(table),
            "classes": classes,
        }
        of_classes = {} if not classes else {"classes": list(classes), "by_class": self._by_class}
        return {
            "metric": self.problem.metric,
            "data": {
                "path": str(table.path),
                "rows": len(table),
                "features": len(table.names),
                **({} if classes else {"positives": table.positives}),
                "train": len(plan.parts.train),
                "validation": len(plan.parts.validation),
                "test": len(rows),
                **{name: value for name, value in counts.items() if value},
            },
            "columns": [asdict(column) for column in table.columns],
            "evaluation": self.evaluation.description,
            "choice": plan.describe(len(self.fitted[0].folds)),
            "candidates": [
                {
                    "name": each.candidate.name,
                    "model": each.candidate.model,
                    "objective": each.candidate.objective,
                    "baseline": each is self.fitted[self.choice.baseline],
                    **numbers,
                    "seconds": each.seconds,
                    "cut_short": each.cut,
                    "trials": each.trials,
                    "params": each.params,
                    "curve": each.curve,
                }
                for each, numbers in zip(self.fitted, self._estimates, strict=True)
            ],
            "recommended": self.choice.recommended,
            "operating_point": self._operating_point(),
            "why": self.choice.why,
            "decided": self.evaluation.undecided is None,
            "verdict": self.verdict,
            "not_best": not_best(self.fitted, self.choice, self.evaluation, self.tests),
            "left_out": dict(left_out),
            "other_metrics": {
                name: [finite(self.evaluation.value(n, name)) for n in range(len(self.fitted))]
                for name in names
                if name != self.problem.metric
                and (table.classes or takes_weights(name, table.weight))
            },
            **of_classes,
        }

    @property
    def _by_class(self) -> list[dict[str, object]]:
        return by_class(self.evaluation, self.choice.recommended, self.choice.baseline)

    def _operating_point(self) -> dict[str, object] | None:
        """Return the threshold of the recommended candidate by the rule, if one is given."""
        settings, table = self.problem.settings, self.problem.table
        if settings.threshold is None:
            return None
        values = self.evaluation.probabilities(self.choice.recommended)
        daily = daily_rows([settings.threshold], table, settings.rows_per_day)
        truth = self.problem.truth(self.evaluation.rows)
        points = choose_points([settings.threshold], values, truth, daily)
        return as_json(points[settings.threshold], "probability")

    @property
    def verdict(self) -> str:
        """What the tested rows say of the recommended candidate: is it better, and by what."""
        few, base = self.evaluation.undecided, self.fitted[self.choice.baseline].candidate
        said = [] if few is None else [few]
        gain = self.gains[self.choice.recommended]
        if gain is None:
            if any(each.candidate.objective != base.objective for each in self.fitted):
                said.append("Training on the metric itself did not pay here.")
        elif abs(gain.mean) < VISIBLE:
            said.append(self._why_zero())
        elif not said and not math.isnan(gain.low):
            place = f"On {self.evaluation.description}"
            if gain.low > 0:
                said.append(f"{place} it is clearly better than {base.words}.")
            elif gain.high < 0:
                worse = f"{place} it is worse than {base.words}"
                said.append(f"{worse}: keep the baseline, or look closer.")
            else:
                said.append(f"{place} the difference to {base.words} is within chance.")
            model = self.fitted[self.choice.recommended].candidate.model
            said += [
                explain(pair, self.fitted, self.choice, clear=gain.low > 0)
                for pair in self.controls
                if pair.model == model and not math.isnan(pair.difference.low)
            ]
        return " ".join(said)

    def _why_zero(self) -> str:
        numbers = self.choice.recommended, self.choice.baseline
        best, base = (self.fitted[number].candidate for number in numbers)
        if self.evaluation.same_ranking(*numbers):
            kept = _KEPT.get(best.model) if best.model == base.model else None
            why = "" if kept is None else f": {kept}"
            same = f"{capitalized(best.words)} ranks every tested row as {base.words} does"
            return f"{same}, so the difference is 0{why}."
        if math.isclose(self.tests[numbers[0]].mean, 1.0):
            both = "Both rank every positive above every negative"
            if self.problem.table.classes:
                both = "Both rank the rows of every class above all others"
            return f"{both}, so the difference to {base.words} is 0."
        metric = full_name(self.problem.metric)
        return (
            f"{capitalized(best.words)} and {base.words} rank some tested rows differently, but "
            f"{metric} changes by less than {VISIBLE}: take the simpler one."
        )

    def remarks(self, failed: Mapping[str, str], budget: Budget) -> list[str]:
        """Return the remarks on the results, on the training of the candidates and on columns."""
        evaluation, table, remarks = self.evaluation, self.problem.table, list[str]()
        base, names = self.choice.baseline, [each.candidate.words for each in self.fitted]
        others = set(range(len(names))) - {base, self.choice.recommended}
        if same := [names[n] for n in sorted(others) if evaluation.same_ranking(n, base)]:
            words = f"difference 0, ranks every tested row as {names[base]} does"
            remarks.append(f"{words}: {'; '.join(same)}")
        if evaluation.repeats:
            remarks.append(
                f"chosen again within every fold, the recommended candidate has "
                f"{full_name(self.problem.metric)} {evaluation.nested_value():.4f}: "
                "the best of several looks a little better than it is"
            )
        remarks += budget.announced
        if budget.left_out:
            remarks.append(f"left out, too long for --budget: {'; '.join(budget.left_out)}")
        remarks += [f"left out, it failed: {why}" for why in failed.values()]
        cut = [each.candidate for each in self.fitted if each.cut]
        # Of the second fit of log-loss there is only the control.
        if short := "; ".join(each.words for each in cut if not each.parts or each.is_control):
            remarks.append(f"stopped by --budget, a larger budget may improve: {short}")
        for each in self.fitted:  # next to one that did not learn, every other looks good
            splits = self.problem.plan.splits[: len(each.folds)]
            shapes = [fold.scores.shape for fold in each.folds]
            chance = [
                self.problem.value(np.zeros(shape), rows)
                for shape, (_, rows) in zip(shapes, splits, strict=True)
            ]
            bad = sum(value <= level for value, level in zip(each.values, chance, strict=True))
            if bad:
                name = capitalized(each.candidate.words)
                remarks.append(
                    f"{name} does not beat chance ({np.mean(chance):.4f}) on "
                    f"{bad} of {len(splits)} validation splits: it has not learned, so do not "
                    "trust differences to it"
                )
        remarks += table.warnings
        if left_out := ", ".join(table.left_out):
            remarks.append(f"columns left out (for reasons see the table of columns): {left_out}")
        return remarks

    def write(self, folder: Path, results: Mapping[str, object]) -> None:
        """Write the model first, the results last: who finds results finds what belongs to them."""
        table, rows = self.problem.table, self.evaluation.rows
        truth = self.problem.truth(rows)
        self.fitted[self.choice.recommended].model.save(folder / "model")
        columns = {
            "target": truth.target,
            "row": table.in_file(rows),
            "weight": truth.weight,
            "group": truth.groups,
        }
        for number in range(len(self.fitted)):
            columns[f"score_{number}"] = self.evaluation.scores(number)
            columns[f"probability_{number}"] = self.evaluation.probabilities(number)
        known = {name: column for name, column in columns.items() if column is not None}
        write_npz(folder / "predictions.npz", known)
        parts = self.problem.plan.parts.in_file(table)
        write_npz(folder / PARTS_FILE, {name: getattr(parts, name) for name in PARTS})
        empty: Numbers = dict.fromkeys(("value", "low", "high", "p"))
        lines = []
        for each, estimates in zip(self.fitted, self._estimates, strict=True):
            numbers = {part: known or empty for part, known in estimates.items()}
            cells = {f"{p} {key}": n for p, known in numbers.items() for key, n in known.items()}
            spent = {"seconds": each.seconds, "trials": each.trials}
            lines.append({"candidate": each.candidate.name, **cells, **spent})
        write_csv(folder / "tables.csv", lines)
        write_json(folder / "results.json", results)


def _numbers(found: Estimate, point: str = "value") -> Numbers:
    return {point: finite(found.mean), "low": finite(found.low), "high": finite(found.high)}


def _with_p(found: Estimate | None) -> Numbers | None:
    return None if found is None else {**_numbers(found), "p": finite(found.p)}
