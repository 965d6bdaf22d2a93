"""The boosters behind one interface: grow a tree, evaluate it, remove trees."""

from rankwise.boosting.engines.base import Engine, EngineName, Table, Trees, engine_of

__all__ = ["Engine", "EngineName", "Table", "Trees", "engine_of"]
