"""Table 2 of pAp@k: between partial AUC and precision@k."""

QUESTION = "Does pAp@k rank as pAUC with few positives and as precision with many?"
TIME = "30 s"
