"""Figure 1 of pAp@k: the surrogates under three margin conditions."""

QUESTION = "Which surrogates of pAp@k vanish under which margin condition?"
TIME = "1 min"
