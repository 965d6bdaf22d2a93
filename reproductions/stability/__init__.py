"""Bounded differences and algorithmic stability of the losses."""

QUESTION = "How far does one example move the loss, and the trained model?"
TIME = "3 min"
