"""Does training on an objective raise the metric it stands for, more than cross-entropy does?"""

from reproductions.fidelity.study import study

__all__ = ["study"]
