"""Table 5 of StableAP in small: one detector under many losses, on blood cells."""

QUESTION = "Does ranking its anchors make a better detector?"
TIME = "2 h"
DATA = "--data DIR (BCCD)"
