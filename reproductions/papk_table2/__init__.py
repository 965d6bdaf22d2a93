"""Does pAp@k rank as pAUC where positives are few, and as precision@k where they are many?"""

from reproductions.papk_table2.study import study

__all__ = ["study"]
