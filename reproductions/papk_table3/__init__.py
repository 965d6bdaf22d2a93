"""Does training on pAp@k raise pAp@k of real recommendations over the paper's baselines?"""

from reproductions.papk_table3.study import study

__all__ = ["study"]
