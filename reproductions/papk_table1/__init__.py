"""Does pAp@k prefer the ranking with the better top, where AUC, pAUC and precision@k do not?"""

from reproductions.papk_table1.study import study

__all__ = ["study"]
