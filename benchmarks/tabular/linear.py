"""Linear models: ours and log-loss in its forms. A linear model is nearly always misspecified.

Without the pull to the start (``proximity=0``; 10⁻³) LinearRanker("ap") gains more where there are
positives enough. On training rows (as with ``--choose``, 3 seeds), AP less that of log-loss for
``proximity`` 10⁻², 10⁻³, 0: campaign (2 227 training positives) +.0040, +.0050, +.0050; aloi (723)
+.0029, +.0060, +.0076; mammography (124) +.0081, +.0089, +.0091. On thyroid, waveform, satimage_2
and card fraud the difference is .0000 with each. It is not tested yet; the default is 10⁻².
"""

from __future__ import annotations

from typing import Any

from benchmarks.tabular.fits import Fit, Remembered, fitted, together, weighted

from rankwise.estimators import LinearRanker

__all__ = ["AP", "PARTIAL"]


def linear(objective: str | None = None, **options: Any) -> Fit:
    """LinearRanker with its own options; None: the objective of the metric."""
    return fitted(lambda metric: LinearRanker(objective or metric, metric=metric, **options))


plain, metric = Remembered(linear("log_loss")), Remembered(linear())

AP: dict[str, Fit] = {
    "log-loss": plain,
    'LinearRanker("ap")': metric,
    "both, mean of ranks": together(plain, metric),
    "class-weighted log-loss": weighted(linear("log_loss")),
}
PARTIAL: dict[str, Fit] = {
    "log-loss": plain,
    'LinearRanker("opauc(max_fpr=.05)")': metric,
    "both, mean of ranks": together(plain, metric),
    "class-weighted log-loss": weighted(linear("log_loss")),
}
