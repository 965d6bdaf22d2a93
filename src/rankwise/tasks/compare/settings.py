"""Settings of a comparison."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Self

from annotated_types import Gt
from pydantic import BeforeValidator, Field, model_validator

from rankwise.errors import UsageError
from rankwise.settings import MAX_SEED, Count, CountFromZero, Seed, TaskSettings

_UNITS = {"": 1.0, "s": 1.0, "sec": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


def seconds_of(span: object) -> object:
    """Return a span of time such as ``90s``, ``2m``, ``1.5h`` or ``1h30m`` in seconds."""
    if not isinstance(span, str):
        return span
    parts = re.findall(r"([0-9.]+)\s*([a-z]*)\s*", span.strip().lower())
    whole = "".join(number + unit for number, unit in parts)
    try:
        if not parts or whole != re.sub(r"\s", "", span.lower()):
            raise ValueError
        return sum(float(number) * _UNITS[unit] for number, unit in parts)
    except (ValueError, KeyError):
        raise UsageError(f"--budget must be a time such as 90s, 2m or 1h, got {span!r}") from None


class Settings(TaskSettings):
    """Settings of a comparison."""

    data: Path = Field(description="Table: csv, parquet or svmlight (LETOR).")
    target: str | None = Field(None, description="Target column; not needed for svmlight.")
    metric: str = Field(
        "ap",
        description="Metric to train for and to choose by: ap, auc, opauc(max_fpr=.05), ndcg@10.",
    )
    group: str | None = Field(None, description="Column with the list (query, user) of each row.")
    time: str | None = Field(
        None, description="Column of dates or numbers; the latest rows are the test part."
    )
    positive: str | None = Field(
        None, description="Value of the target that is the positive class."
    )
    weight: str | None = Field(
        None, description="Column of sample weights, for training and metrics."
    )
    drop: tuple[str, ...] = Field(
        (), description="Column to leave out of the features; may be repeated."
    )
    use: tuple[str, ...] = Field(
        (), description="Column to keep as a feature although it looks like an id; may be repeated."
    )
    text: tuple[str, ...] = Field(
        (), description="Column of free text to use as TF-IDF features; may be repeated."
    )
    date_format: str | None = Field(
        None, description="strftime format of the dates, such as %d/%m/%Y."
    )
    threshold: str | None = Field(
        None,
        description="Rule that chooses the threshold on the test part, such as "
        "precision>=0.8@95%, recall>=0.9, fpr<=0.01, alerts<=200/day.",
    )
    rows_per_day: Annotated[float, Gt(0)] | None = Field(
        None,
        description="Number of rows per day, for --threshold alerts<=…/day. Default: from --time.",
    )
    candidates: str = Field(
        "linear,boosted,neural",
        description="Models to train, separated by commas: MODEL, MODEL:OBJECTIVE for one "
        "objective, MODEL:both for the mean of two: boosted,linear:log_loss,neural:both.",
    )
    budget: Annotated[float, Gt(0), BeforeValidator(seconds_of)] = Field(
        120.0, description="Total training time in seconds, or such as 90s, 2m, 1h."
    )
    trials: Count = Field(30, description="Maximum number of tuning trials per candidate.")
    repeats: CountFromZero = Field(
        0,
        description="Repeats of 5-fold cross-validation over all rows; 0 for one test part.",
    )
    out_of_core: bool = Field(
        False,
        description="Keep the features on disk: a parquet file of numbers larger than memory.",
    )
    seeds: Count = Field(1, description="Number of fits per candidate; their ranks are averaged.")
    seed: Seed = Field(0, description="Random seed.")

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        # Here, so that the help does not wait for torch.
        from rankwise.tasks.compare.metrics import (  # noqa: PLC0415
            require_higher_is_better,
            resolve_metric,
        )

        metric = resolve_metric(self.metric, grouped=self.group is not None, several=True)
        require_higher_is_better(metric)
        object.__setattr__(self, "metric", metric)
        if self.threshold is not None:
            self._check_threshold(self.threshold)
        if self.repeats and self.time is not None:
            raise UsageError(
                f"--repeats {self.repeats} cannot be combined with --time {self.time}: folds of "
                "all rows would learn from the future; leave out one of them"
            )
        if self.seed + self.seeds - 1 > MAX_SEED:  # of the last fit
            raise UsageError(
                f"--seed and --seeds together must not go beyond {MAX_SEED}, "
                f"got {self.seed} + {self.seeds}"
            )
        return self

    def _check_threshold(self, rule: str) -> None:
        from rankwise.tasks.compare.metrics import is_graded  # noqa: PLC0415
        from rankwise.tasks.compare.operating import read_rule  # noqa: PLC0415

        limit = read_rule(rule, grouped=self.group is not None or is_graded(self.metric))
        if self.repeats:
            raise UsageError(
                f"--threshold {rule} cannot be combined with --repeats {self.repeats}: the model "
                "that is kept has no test rows then; leave out one of them"
            )
        if limit.confidence is not None and self.weight is not None:
            raise UsageError(
                f"--threshold {rule} cannot be combined with --weight {self.weight}: a confidence "
                "needs rows that count once each; leave out @… or --weight"
            )
        per_day = limit.kind == "alerts" and limit.rows is None
        if per_day and self.rows_per_day is None and self.time is None:
            raise UsageError(
                f"--threshold {rule} needs the number of rows per day: pass --rows-per-day, or "
                "--time with a column of dates"
            )
