"""Do the losses as printed stall on an untrained model, and does the annealed gain mend it?"""

from reproductions.saturation.study import study

__all__ = ["study"]
