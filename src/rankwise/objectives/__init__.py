"""Ranking metrics as losses: one call, any optimiser, any loop."""

from rankwise.objectives.ap import AveragePrecision
from rankwise.objectives.base import Objective

__all__ = ["AveragePrecision", "Objective"]
