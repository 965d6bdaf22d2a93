"""The boosters behind one face: grow a tree, judge it, take trees back."""

from rankwise.boosting.engines.base import Engine, EngineName, Table, Trees
from rankwise.boosting.engines.choice import engine_of

__all__ = ["Engine", "EngineName", "Table", "Trees", "engine_of"]
