"""The metrics of a column of scores, as a table, as JSON and in words."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from rankwise.files import nan_to_none
from rankwise.metrics import Interval, OperatingPoint
from rankwise.tasks.compare import metrics as measures
from rankwise.tasks.compare.class_scores import OfClass, classes_frame, classes_json
from rankwise.tasks.compare.operating import as_json
from rankwise.tasks.compare.score_file import training_warning
from rankwise.tasks.compare.slices import Slice, as_frame, slices_json


@dataclass(frozen=True)
class EvaluationResult:
    """Metrics of scores with their intervals, and the numbers of rows and lists."""

    path: Path
    rows: int
    positives: int
    lists: int | None  # with groups
    left_out: int  # lists that have one class only, and so no value
    metrics: dict[str, Interval]
    graded_only: int = 0  # of those left out: all positive, which a metric of relevances takes
    trained_on: int | None = None  # rows that the model was trained on, where the file marks them
    without_target: int = 0  # rows that are left out
    candidate: str | None = None  # whose scores they are, where they are those of a run
    points: dict[str, OperatingPoint] = field(default_factory=dict)  # by rule
    column: str = "score"  # of the thresholds
    slices: tuple[Slice, ...] = ()  # of the columns that the rows are cut by
    more_paths: tuple[Path, ...] = ()  # further files, whose rows are part of the same list
    bounded: bool = False  # whether the values come from counts, with hard bounds
    by_class: tuple[OfClass, ...] = ()  # where the target has more than two classes

    @property
    def warning(self) -> str | None:
        """Why the numbers are too good, if the model was trained on some of the rows."""
        return training_warning(self.trained_on, self.rows)

    @property
    def caption(self) -> str:
        """The size of the data in words."""
        words = f"{self.rows} rows, {self.positives} positives"
        if self.by_class:
            words = f"{self.rows} rows, means over {len(self.by_class)} classes"
        if self.without_target:
            words += f" ({self.without_target} more rows without a target, left out)"
        if self.more_paths:
            words = f"{len(self.more_paths) + 1} files: {words}"
        if self.candidate is not None:
            words = f"{self.candidate}, held-out test rows of {self.path}: {words}"
        if self.lists is None:
            return words
        left_out = f" ({self.left_out} of one class only, left out)" if self.left_out else ""
        taken = ", ".join(filter(measures.is_graded, self.metrics)) if self.graded_only else ""
        more = f"; {taken}: over {self.graded_only} more, all positive" if taken else ""
        return f"{words}, mean over {self.lists - self.left_out} lists{left_out}{more}"

    def as_json(self) -> dict[str, object]:
        """Return the content of a JSON file; what is not defined is null."""
        keys = ["value", "low", "high", "method"]
        keys += ["lowest", "highest", "is_exact"] if self.bounded else []
        numbers = {n: {k: getattr(each, k) for k in keys} for n, each in self.metrics.items()}
        files = [str(path) for path in (self.path, *self.more_paths)]
        return {
            "data": files if self.more_paths else files[0],
            "memory": "bounded" if self.bounded else "all",
            "candidate": self.candidate,
            "rows": self.rows,
            **({} if self.by_class else {"positives": self.positives}),
            "rows_trained_on": self.trained_on,
            "rows_without_target": self.without_target,
            "lists": self.lists,
            "lists_left_out": self.left_out,
            "metrics": nan_to_none(numbers),
            "operating_points": [as_json(each, self.column) for each in self.points.values()],
            **({"slices": slices_json(self.slices)} if self.slices else {}),
            **({"classes": classes_json(self.by_class)} if self.by_class else {}),
        }

    def as_frame(self) -> pl.DataFrame:
        """Return the numbers as a table, with the slices or classes below those of all rows."""
        if self.by_class:
            return classes_frame(self.metrics, self.rows, self.by_class)
        lists = None if self.lists is None else self.lists - self.left_out
        counts = {"rows": self.rows, "positives": self.positives, "lists": lists}
        return as_frame(self.metrics, counts, self.slices)
