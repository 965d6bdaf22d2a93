"""Learning to rank: scorers of lists with relevances, trained on the metric of their evaluation."""

from rankwise._lazy import attach

# Checked before the pipeline is imported: no training ends without its report.
__getattr__, __dir__, __all__ = attach(
    __name__, __file__, pipeline=("matplotlib", "polars", "scipy", "sklearn", "threadpoolctl")
)
