"""Log-sum-exps of surrogates over all pairs, in n log n, without their largest term.

In each, the largest term that may occur is taken out; what is left of a term is at most 1.
"""
