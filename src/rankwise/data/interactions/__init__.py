"""Interactions of users with items: read, checked, and split by user."""

from rankwise._lazy import attach
from rankwise.extras import require

require("rankwise.data.interactions", "polars", "scipy")

__getattr__, __dir__, __all__ = attach(__name__, __file__)
