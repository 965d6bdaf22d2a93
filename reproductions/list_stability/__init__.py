"""Listwise model stability with falling rates, and the inequalities of StableAP on any loss."""

QUESTION = "Does one example move a model as far as Theorem 2 of SOPRC allows?"
TIME = "5 min"
