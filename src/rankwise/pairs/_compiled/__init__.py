"""The engine compiled by numba: sort both sides, then walk over them with running sums.

Nothing here is imported before the first large sum on a CPU, and numba only with it.
"""
