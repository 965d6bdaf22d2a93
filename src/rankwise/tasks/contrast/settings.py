"""Settings of contrastive training."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from annotated_types import Ge, Gt, Le
from pydantic import Field

from rankwise.settings import Count, NonNegative, Positive, Seed, TaskSettings

if TYPE_CHECKING:
    from rankwise.objectives import Objective


class Settings(TaskSettings):
    """Settings of contrastive training."""

    objective: Literal["global_contrastive", "nt_xent"] = Field(
        "global_contrastive", description="Loss: global_contrastive (SogCLR) or nt_xent (SimCLR)."
    )
    temperature: Positive = Field(0.2, description="Temperature of the cosine similarities.")
    ema_rate: Annotated[float, Gt(0), Le(1)] = Field(
        0.9, description="Rate of the moving average per image (global_contrastive)."
    )
    batch: Annotated[int, Ge(2)] = Field(
        64, description="Batch size (images; each is augmented twice)."
    )
    epochs: Count = Field(100, description="Number of epochs.")
    optimizer: Literal["adamw", "sgd"] = Field("adamw", description="Optimizer: adamw or sgd.")
    learning_rate: Positive = Field(
        1e-3, description="Initial learning rate; decays to 0 as a cosine."
    )
    weight_decay: NonNegative = Field(1e-4, description="Weight decay.")
    width: Count = Field(32, description="Number of channels of the first layer.")
    dimension: Count = Field(64, description="Dimension of the embedding.")
    seed: Seed = Field(0, description="Random seed.")

    def loss(self, num_items: int) -> Objective:
        """Return the loss for a data set of ``num_items`` images."""
        from rankwise.baselines import NTXent  # noqa: PLC0415  (torch, for the command's help)
        from rankwise.objectives import GlobalContrastive  # noqa: PLC0415

        if self.objective == "nt_xent":
            return NTXent(self.temperature)
        return GlobalContrastive(num_items, self.temperature, ema_rate=self.ema_rate)
