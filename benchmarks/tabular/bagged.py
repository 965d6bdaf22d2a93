"""Averages of trees that draw rows and columns: the recommended one, its controls, and the trials.

The forms were tried with ``--choose``, on training rows only: ``bagged_ap_choice.json`` has every
value. AP less that of one log-loss, mean of 3 seeds on thyroid, waveform, pendigits, mammography,
satimage_2, optdigits, and the mean of the six:

* the form so far, log-loss and AP on all rows: .000, +.053, .000, +.017, +.026, .000; +.016
* one log-loss with 80 % of the rows and columns for each tree: +.013, +.114, −.003, +.017, +.016,
  −.009; +.025. Two of them: +.016, +.112, +.002, +.016, +.022, −.005; +.027
* such a log-loss and such an AP: +.019, +.134, −.001, +.027, +.016, −.005; +.032
* with 80 % of the rows and all columns: +.018, +.123, −.002, +.023, +.022, −.006; +.030. Two of
  each: +.019, +.130, −.002, +.021, +.021, −.002; +.031
* with half of the rows and columns: +.005, +.151, −.003, −.008, +.018, +.007; +.028
* AP only for the last rounds, with a log-loss, 80 % of the rows: +.007, +.117, +.002, +.005, +.017
  (five sets; log-loss is at its best by then, and few trees of AP are kept)
* log-loss on all rows and with 80 %: +.018, +.099, +.001, +.013, +.024, −.001; +.026
* these two and AP with 80 %: +.024, +.110, +.001, +.020, +.026, +.002; +.031; with AP on all rows
  +.011, +.097, +.002, +.024, +.026, −.001; +.027
* log-loss and AP, each on all rows and with 80 %: +.023, +.111, +.002, +.025, +.028, +.002; +.032

On campaign (3 seeds), card fraud (2) and aloi (1): log-loss on all rows and with 80 % +.005, −.003,
+.018; with AP with 80 % +.006, +.007, +.020; all four +.006, +.010 (aloi was not tried). Two
log-losses that both draw +.005, −.043, +.014; a log-loss and an AP that both draw +.005, −.014,
+.005: on card fraud a log-loss that draws is .088 below one on all rows.

The form of four is recommended, ``BoostedRanker("ap", bagged=True)``: it is above one log-loss on
each of the eight sets it was tried on. This was written down before any test row was scored by it.
"""

from __future__ import annotations

from benchmarks.tabular.boosted import trees
from benchmarks.tabular.fits import Fit, Remembered, mean
from benchmarks.tabular.sets import Parts

from rankwise.estimators.data import Floats

__all__ = ["AP", "TRIALS"]


def drawn(objective: str, rows: float, columns: float, number: int = 0) -> Remembered:
    """Trees of one objective that draw rows and columns; others for every ``number``."""
    blend = None if objective == "log_loss" else 1.0
    fit = trees(objective, subsample=rows, colsample=columns, blend=blend)

    def reseeded(parts: Parts, metric: str, seed: int) -> Floats:
        return fit(parts, metric, seed + 1000 * number)

    return Remembered(reseeded)


plain, metrical = Remembered(trees("log_loss")), Remembered(trees("ap", blend=1.0))
log_losses = [drawn("log_loss", 0.8, 0.8, number) for number in range(3)]

AP: dict[str, Fit] = {
    "log-loss": plain,
    'BoostedRanker("ap", bagged=True, blend=.5)': mean(
        plain, metrical, log_losses[0], drawn("ap", 0.8, 0.8)
    ),
    "two bagged log-losses": mean(*log_losses[:2]),
    "four log-losses, three of them bagged": mean(plain, *log_losses),
}

first, second = (drawn("log_loss", 0.8, 0.8, number) for number in (1, 2))
rows_only = [drawn("log_loss", 0.8, 1.0, number) for number in (1, 2)]
halves = [drawn("log_loss", 0.5, 0.5, number) for number in (1, 2, 3, 4)]
ap_first, ap_half = drawn("ap", 0.8, 0.8, 1), drawn("ap", 0.5, 0.5, 1)
ap_rows = [drawn("ap", 0.8, 1.0, number) for number in (1, 2)]

TRIALS: dict[str, Fit] = {
    "log-loss": plain,
    "log-loss + AP": mean(plain, metrical),
    "drawn log-loss": first,
    "two drawn log-losses": mean(first, second),
    "drawn log-loss + drawn AP": mean(first, ap_first),
    "the same, rows only": mean(rows_only[0], ap_rows[0]),
    "the same, rows only, two of each": mean(*rows_only, *ap_rows),
    "the same, halves": mean(halves[0], ap_half),
    "four log-losses, halves": mean(*halves),
    "log-loss + drawn log-loss": mean(plain, first),
    "log-loss + drawn log-loss + drawn AP": mean(plain, first, ap_first),
    "log-loss + drawn log-loss + AP": mean(plain, first, metrical),
    "log-loss + AP + both drawn": mean(plain, metrical, first, ap_first),
}
