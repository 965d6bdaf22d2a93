"""Table 1 of pAp@k: five rankings under every metric."""

QUESTION = "Does pAp@k prefer the ranking with the better top?"
TIME = "5 s"
