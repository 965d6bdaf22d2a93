"""The columns of a table as numbers: missing values, words, booleans, dates and text."""

from __future__ import annotations

from rankwise.estimators.preparation._columns import Column, columns_of
from rankwise.estimators.preparation._learned import Learned
from rankwise.estimators.preparation._preparation import Preparation, learn_preparation

__all__ = ["Column", "Learned", "Preparation", "columns_of", "learn_preparation"]
