"""Settings of learning to rank."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from annotated_types import Ge, Lt
from pydantic import Field, model_validator

from rankwise.errors import UsageError
from rankwise.settings import Positive, Seed, TaskSettings

if TYPE_CHECKING:
    from rankwise.estimators import Ranker

# Metrics that are reported, of lists and of a run file of TREC.
DEFAULT = ("ndcg@1", "ndcg@5", "ndcg@10", "ap", "mrr", "precision@5")
TREC = ("ndcg@10", "ndcg@10(gain=linear)", "ap", "mrr", "precision@10", "recall@100")
_CLASSES = {"linear": "LinearRanker", "mlp": "NeuralRanker", "boosted": "BoostedRanker"}
_SET_HERE = {"objective", "metric", "validation_fraction", "random_state"}
_UNUSED = {"threshold", "calibration"}  # of two classes


class Settings(TaskSettings):
    """Settings of learning to rank."""

    model: Literal["linear", "mlp", "boosted"] = Field(
        "mlp", description="Model: linear, mlp or boosted."
    )
    objective: str = Field(
        "ndcg@10",
        description="Objective: ndcg@10, listnet, lambda_loss@10, ap, … (see rankwise objectives).",
    )
    metric: str = Field("ndcg@10", description="Validation metric for early stopping.")
    relevant: Positive = Field(1.0, description="Smallest relevance of a positive.")
    validation_share: Annotated[float, Ge(0), Lt(1)] = Field(
        0.2, description="Share of the queries used for validation if there is no validation file."
    )
    options: dict[str, Any] = Field({}, description="Options of the model, such as epochs: 50.")
    seed: Seed = Field(0, description="Random seed.")

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        from rankwise.naming import canonical_metric  # noqa: PLC0415  (torch, for the help)

        known = self._default_ranker().get_params().keys() - _SET_HERE - _UNUSED
        if unknown := sorted(self.options.keys() - known):
            raise UsageError(
                f"{self.model} has no option {unknown[0]!r}; it has {', '.join(sorted(known))}"
            )
        object.__setattr__(self, "metric", canonical_metric(self.metric))
        return self

    @model_validator(mode="after")
    def _trainable(self) -> Self:
        from rankwise.estimators.names import is_log_loss  # noqa: PLC0415
        from rankwise.naming import canonical_objective  # noqa: PLC0415

        self.gains()
        if not is_log_loss(self.objective):
            object.__setattr__(self, "objective", canonical_objective(self.objective))
        return self

    def _default_ranker(self) -> Ranker:
        import rankwise.estimators  # noqa: PLC0415

        made: Ranker = getattr(rankwise.estimators, _CLASSES[self.model])()
        return made

    def ranker(self) -> Ranker:
        """Return the estimator, not yet fitted."""
        made: Ranker = self._default_ranker().set_params(
            objective=self.objective,
            metric=self.metric,
            validation_fraction=self.validation_share,
            random_state=self.seed,
            **{name: tuple(v) if isinstance(v, list) else v for name, v in self.options.items()},
        )
        return made

    def gains(self) -> dict[str, object]:
        """Return the gain of the objective and of the metric, None of those that have none."""
        from rankwise.estimators.names import objective_name  # noqa: PLC0415
        from rankwise.naming import metric, objective  # noqa: PLC0415

        # Of data unknown as yet any numbers will do: this is for the options of the name.
        name = objective_name(self.objective)
        made = objective(name, prior=0.5, num_items=1, num_lists=1)
        return {
            self.objective: getattr(made, "gain", None),
            self.metric: metric(self.metric).setting.options.get("gain"),
        }


class FinishedSettings(Settings):
    """Settings of a finished run. Scores need no objective, so that it is not imported."""

    @model_validator(mode="after")
    def _trainable(self) -> Self:
        return self
