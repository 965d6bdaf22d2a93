"""Table 5 of StableAP in small: the same detector under eight losses, on blood cells."""

QUESTION = "Does ranking its anchors make a better detector?"
TIME = "70 min"
DATA = "--data DIR (BCCD)"
