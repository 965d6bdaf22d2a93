"""Worked examples of three papers: the same scores under every metric."""

QUESTION = "Do two metrics prefer the same ranking?"
TIME = "5 s"
