"""Which surrogates of pAp@k vanish under which margin condition?"""

from reproductions.papk_figure1.study import study

__all__ = ["study"]
