"""One preparation for every ranker: missing values, words, booleans, dates and text as numbers."""

from __future__ import annotations

from rankwise.estimators.preparation.learned import Learned
from rankwise.estimators.preparation.preparation import Preparation, learn_preparation
from rankwise.estimators.preparation.table import Column, columns_of

__all__ = ["Column", "Learned", "Preparation", "columns_of", "learn_preparation"]
