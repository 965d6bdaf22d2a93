"""Bias and spread of the batch AP loss and of SOPRC's estimate (Figures 1, 3, 4, 5 of SOPRC)."""

from reproductions.estimator_bias.study import study

__all__ = ["study"]
