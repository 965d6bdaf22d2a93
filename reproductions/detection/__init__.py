"""Table 5's shape on blood cells: the same detector under six losses of its scores."""

from reproductions.detection.study import study

__all__ = ["study"]
