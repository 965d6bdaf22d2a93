"""Bias and spread of the batch AP loss and of SOPRC's estimate (Figures 1, 3, 4, 5 of SOPRC)."""

QUESTION = "Is a batch's AP loss biased by its sampling rate, and SOPRC's not?"
TIME = "1 min"
