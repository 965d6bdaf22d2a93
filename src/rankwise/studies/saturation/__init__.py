"""Do the losses as printed stall on an untrained model, and does the annealed gain mend it?"""

from rankwise.studies.saturation.study import study

__all__ = ["study"]
