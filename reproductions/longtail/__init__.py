"""Do StableAP and SOPRC rank rare classes better than the losses of Table 6, on equal terms?"""

from reproductions.longtail.study import study

__all__ = ["study"]
