"""The solvers that the pAp@k paper compares with, with the interface of ``PApAtKRanker``."""
