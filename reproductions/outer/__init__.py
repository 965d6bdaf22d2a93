"""Which form of a metric's own loss trains from nothing: surrogate, outer function and scale."""

QUESTION = "Which outer function, surrogate and scale let a metric's own loss train from nothing?"
TIME = "3 h"
DATA = "--data DIR with images/, ranking/, recommendation/, tabular/ and weights/"
