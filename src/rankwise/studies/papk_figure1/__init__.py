"""Which surrogates of pAp@k vanish under which margin condition?"""

from rankwise.studies.papk_figure1.study import study

__all__ = ["study"]
