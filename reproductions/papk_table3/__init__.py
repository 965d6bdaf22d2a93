"""Table 3 of pAp@k: its solvers against the baselines on three data sets."""

QUESTION = "Does training on pAp@k raise it over the baselines?"
TIME = "30 min"
DATA = "--data u.data (MovieLens 100K)"
