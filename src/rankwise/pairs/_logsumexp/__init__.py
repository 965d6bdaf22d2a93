"""Log-sum-exps of surrogates over all pairs, in n log n: what :func:`pair_logsumexp` goes by.

In each, the largest term that may occur is taken out; what is left of a term is at most 1.
"""

from rankwise.pairs._logsumexp.lines import highest, log_sum_exp_of_lines, safe_log
from rankwise.pairs._logsumexp.logistic import SMALLEST_POWER, log_sum_exp_of_logistic
from rankwise.pairs._logsumexp.one_sided_squares import log_sum_exp_of_one_sided_squares
from rankwise.pairs._logsumexp.two_sided_squares import log_sum_exp_of_two_sided_squares

__all__ = [
    "SMALLEST_POWER",
    "highest",
    "log_sum_exp_of_lines",
    "log_sum_exp_of_logistic",
    "log_sum_exp_of_one_sided_squares",
    "log_sum_exp_of_two_sided_squares",
    "safe_log",
]
