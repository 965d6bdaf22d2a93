"""The results of a run, and the files that hold them: results, predictions, recommended model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

from rankwise.files import write_npz
from rankwise.report import write_csv, write_json
from rankwise.tasks.compare.candidates import Params
from rankwise.tasks.compare.fit import Fitted
from rankwise.tasks.compare.metrics import Estimate, every_metric, finite, takes_weights
from rankwise.tasks.compare.problem import Problem
from rankwise.tasks.compare.run_files import write_parts
from rankwise.tasks.compare.selection import Choice, Evaluation, validation_of

Numbers = dict[str, float | None]  # with an interval; what is not defined is null


@dataclass(frozen=True)
class CandidateResult:
    """A row of ``results.json``."""

    name: str
    model: str
    objective: str
    baseline: bool
    validation: Numbers
    test: Numbers
    difference: Numbers | None
    seconds: float
    cut_short: bool
    trials: int
    params: Params
    curve: list[list[float]]


@dataclass(frozen=True, eq=False)
class Outcome:
    """All candidates, the choice among them, and their evaluation after it."""

    problem: Problem  # by which the choice was made
    fitted: Sequence[Fitted]
    choice: Choice
    evaluation: Evaluation

    @cached_property
    def rows(self) -> list[CandidateResult]:
        """The candidates on the tested rows."""
        return [self._row(number, each) for number, each in enumerate(self.fitted)]

    @property
    def recommended(self) -> CandidateResult:
        """The recommended candidate."""
        return self.rows[self.choice.recommended]

    @property
    def baseline(self) -> CandidateResult:
        """The candidate that the others are compared with."""
        return self.rows[self.choice.baseline]

    def _row(self, number: int, each: Fitted) -> CandidateResult:
        against = None
        if number != self.choice.baseline:
            difference = self.evaluation.difference(number, self.choice.baseline)
            against = _numbers(difference) | {"p": finite(difference.p)}
        return CandidateResult(
            name=each.candidate.name,
            model=each.candidate.model,
            objective=each.candidate.objective,
            baseline=number == self.choice.baseline,
            validation=_numbers(validation_of(each, self.problem), "mean"),
            test=_numbers(self.evaluation.estimate(number)),
            difference=against,
            seconds=each.seconds,
            cut_short=each.cut,
            trials=each.trials,
            params=each.params,
            curve=each.curve,
        )

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
            "candidates": [asdict(row) for row in self.rows],
            "recommended": self.choice.recommended,
            "why": self.choice.why,
            "left_out": dict(left_out),
            "other_metrics": {
                name: [finite(self.evaluation.value(n, name)) for n in range(len(self.rows))]
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
        for number in range(len(self.rows)):
            columns[f"score_{number}"] = self.evaluation.scores(number)
            columns[f"probability_{number}"] = self.evaluation.probabilities(number)
        known = {name: column for name, column in columns.items() if column is not None}
        write_npz(folder / "predictions.npz", known)
        write_parts(folder, self.problem.plan.parts.in_file(table))
        write_csv(folder / "tables.csv", [_as_csv(row) for row in self.rows])
        write_json(folder / "results.json", results)


def _as_csv(row: CandidateResult) -> dict[str, object]:
    against = row.difference or dict.fromkeys(("value", "low", "high", "p"))
    parts = {"validation": row.validation, "test": row.test, "difference": against}
    numbers = {f"{part} {key}": parts[part][key] for part in parts for key in parts[part]}
    return {"candidate": row.name, **numbers, "seconds": row.seconds, "trials": row.trials}


def _numbers(found: Estimate, point: str = "value") -> Numbers:
    return {point: finite(found.mean), "low": finite(found.low), "high": finite(found.high)}
