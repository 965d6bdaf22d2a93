"""The results of a run, and the files that hold them: results, predictions, recommended model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

from rankwise.files import write_npz
from rankwise.report import write_csv, write_json
from rankwise.tasks.compare.candidates import Candidate
from rankwise.tasks.compare.fit import Fitted
from rankwise.tasks.compare.metrics import Estimate, every_metric, finite, takes_weights
from rankwise.tasks.compare.problem import Problem
from rankwise.tasks.compare.run_files import PARTS, PARTS_FILE
from rankwise.tasks.compare.selection import Choice, Evaluation, validation_of

Numbers = dict[str, float | None]  # with an interval; what is not defined is null


@dataclass(frozen=True, eq=False)
class Outcome:
    """All candidates, the choice among them, and their evaluation after it."""

    problem: Problem  # by which the choice was made
    fitted: Sequence[Fitted]
    choice: Choice
    evaluation: Evaluation

    @property
    def recommended(self) -> Candidate:
        """The recommended candidate."""
        return self.fitted[self.choice.recommended].candidate

    @property
    def baseline(self) -> Candidate:
        """The candidate that the others are compared with."""
        return self.fitted[self.choice.baseline].candidate

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
    def _estimates(self) -> list[dict[str, Numbers | None]]:
        return [
            {
                "validation": _numbers(validation_of(each, self.problem), "mean"),
                "test": _numbers(test),
                "difference": None if gain is None else {**_numbers(gain), "p": finite(gain.p)},
            }
            for each, test, gain in zip(self.fitted, self.tests, self.gains, strict=True)
        ]

    def results(self, left_out: Mapping[str, str]) -> dict[str, object]:
        """Return the content of ``results.json``, without the remarks and the importance."""
        table, plan, rows = self.problem.table, self.problem.plan, self.evaluation.rows
        grouped = table.groups is not None
        names = every_metric(len(rows), grouped=grouped, graded=table.graded)
        counts = {
            "rows_without_target": table.without_target,
            "rows_of_weight_0": table.without_weight,
            "periods": plan.parts.periods(table),  # from when to when, with a time column
        }
        return {
            "metric": self.problem.metric,
            "data": {
                "path": str(table.path),
                "rows": len(table),
                "features": len(table.names),
                "positives": table.positives,
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
            "why": self.choice.why,
            "left_out": dict(left_out),
            "other_metrics": {
                name: [finite(self.evaluation.value(n, name)) for n in range(len(self.fitted))]
                for name in names
                if name != self.problem.metric and takes_weights(name, table.weight)
            },
        }

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
        write_csv(folder / "tables.csv", list(map(_as_csv, self.fitted, self._estimates)))
        write_json(folder / "results.json", results)


def _as_csv(each: Fitted, numbers: Mapping[str, Numbers | None]) -> dict[str, object]:
    empty: Numbers = dict.fromkeys(("value", "low", "high", "p"))
    cells = {
        f"{part} {key}": number
        for part, known in numbers.items()
        for key, number in (known or empty).items()
    }
    shown = {"candidate": each.candidate.name, **cells}
    return {**shown, "seconds": each.seconds, "trials": each.trials}


def _numbers(found: Estimate, point: str = "value") -> Numbers:
    return {point: finite(found.mean), "low": finite(found.low), "high": finite(found.high)}
