"""What the paper compares with, under the same interface and judged alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self

from sklearn.base import clone

from rankwise.checks import require_count
from rankwise.estimators.base import Calibration
from rankwise.estimators.papk.descent import Found, Problem
from rankwise.estimators.papk.gradients import (
    Gradient,
    LogisticGradient,
    PartialAUCAtK,
    RiskGradient,
    SelectedGradient,
    StrictPrecisionAtK,
)
from rankwise.estimators.papk.greedy import combine_greedily
from rankwise.estimators.papk.grouped import GroupedRanker
from rankwise.estimators.papk.ranker import DescentRanker
from rankwise.estimators.threshold import Rule
from rankwise.objectives import PairwiseAUC
from rankwise.pairs import Hinge

__all__ = [
    "GreedyPApAtKRanker",
    "LogisticAtKRanker",
    "PartialAUCAtKRanker",
    "PrecisionAtKRanker",
    "SelectPApAtKRanker",
    "StructuralAUCRanker",
]


class StructuralAUCRanker(DescentRanker):
    """The structural surrogate of AUC, Eq. 4: the mean hinge over all pairs of a user.

    The maximum over the orderings π is taken entry by entry, since 1[s_i − 1 ≤ s_j] is one.
    Parameters: :class:`~rankwise.estimators.papk.DescentRanker`.
    """

    def _gradient(self) -> Gradient:
        return RiskGradient(PairwiseAUC(Hinge(1.0)))


class PartialAUCAtKRanker(DescentRanker):
    """SVM-pAUC: all positives × the k highest negatives   (Narasimhan and Agarwal 2017).

    The same surrogate as theirs by subgradients instead of cutting planes. Parameters:
    :class:`~rankwise.estimators.papk.DescentRanker`.
    """

    def _gradient(self) -> Gradient:
        return RiskGradient(PartialAUCAtK(self.k))


class PrecisionAtKRanker(DescentRanker):
    """SGD@k-avg: the average surrogate of precision@k   (Kar, Narasimhan and Jain 2015).

    Of a user with n⁺ < k positives the k − n⁺ highest negatives cost nothing: precision@k does not
    see them. ``batch_users`` makes it stochastic. Parameters:
    :class:`~rankwise.estimators.papk.DescentRanker`.
    """

    def _gradient(self) -> Gradient:
        return RiskGradient(StrictPrecisionAtK(self.k))


class LogisticAtKRanker(DescentRanker):
    """Logistic regression on all rows by the same descent, stopped and chosen by Micro-pAp@k.

    Parameters: :class:`~rankwise.estimators.papk.DescentRanker`.
    """

    intercept = True

    def _gradient(self) -> Gradient:
        return LogisticGradient()


class SelectPApAtKRanker(DescentRanker):
    """Select-pAp@k: cross-entropy on the top of every user   (Budhiraja et al. 2020).

    inner
        Steps on one pool of the β highest positives and k highest negatives of every user before
        the next pool is chosen.

    All users are in every step. For all other parameters see
    :class:`~rankwise.estimators.papk.DescentRanker`.
    """

    intercept = True

    def __init__(
        self,
        k: int = 10,
        eta: float = 0.1,
        lam: float = 1e-3,
        radius: float | None = None,
        *,
        start: Literal["zero", "log_loss"] = "zero",
        alpha: float = 1e-3,
        inner: int = 10,
        max_iter: int = 300,
        patience: int = 20,
        tolerance: float = 1e-6,
        standardize: bool = True,
        threshold: str | float = 0.5,
        calibration: Calibration = "sigmoid",
        validation_fraction: float = 0.2,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            k,
            eta,
            lam,
            radius,
            start=start,
            alpha=alpha,
            max_iter=max_iter,
            patience=patience,
            tolerance=tolerance,
            standardize=standardize,
            threshold=threshold,
            calibration=calibration,
            validation_fraction=validation_fraction,
            random_state=random_state,
        )
        self.inner = inner

    def _check_options(self) -> Rule:
        require_count("inner", self.inner)
        return super()._check_options()

    def _gradient(self) -> Gradient:
        return SelectedGradient(self.k, self.inner)


class GreedyPApAtKRanker(GroupedRanker):
    """Greedy-pAp@k: columns added one by one   (Ricamato and Tortorella 2011).

    Each is added at the angle that raises Micro-pAp@k of the training users most; how many columns
    is decided by the users held out.

    angles
        Angles tried on each side of leaving a column out.
    max_columns
        Most columns; None: all. ``n_iter_`` is how many were kept.

    There is no η and no λ, and :meth:`cv` has one setting.
    """

    def __init__(
        self,
        k: int = 10,
        *,
        angles: int = 4,
        max_columns: int | None = None,
        standardize: bool = True,
        threshold: str | float = 0.5,
        calibration: Calibration = "sigmoid",
        validation_fraction: float = 0.2,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            k,
            standardize=standardize,
            threshold=threshold,
            calibration=calibration,
            validation_fraction=validation_fraction,
            random_state=random_state,
        )
        self.angles = angles
        self.max_columns = max_columns

    def _check_options(self) -> Rule:
        require_count("angles", self.angles)
        if self.max_columns is not None:
            require_count("max_columns", self.max_columns)
        return super()._check_options()

    def _search(self, problem: Problem, grid: Sequence[tuple[float, float]]) -> Found:
        return combine_greedily(problem, self.k, self.angles, self.max_columns)

    def _setting(self) -> tuple[float, float]:
        return 0.0, 0.0

    def _with(self, eta: float, lam: float) -> Self:
        same: Self = clone(self)
        return same
