"""The linear ranker of pAp@k, and the choice of its settings by folds of users."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, astuple, dataclass, field, replace
from itertools import product
from typing import ClassVar, Literal, Self, get_args

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state

from rankwise.checks import require_count, require_number, require_one_of, require_positive
from rankwise.estimators._inputs import learn_features, read_groups, read_target
from rankwise.estimators.data import Loaded, Part, State, TableLike, Training, Vector
from rankwise.estimators.linear._ranker import LinearModel
from rankwise.estimators.linear._search import Design
from rankwise.estimators.papk.descent import Found, Gradient, Problem, RiskGradient, descend
from rankwise.estimators.papk.users import UserCounts, Users
from rankwise.objectives import PApAtK

_Form = Literal["avg", "max", "ts", "ts_eq14", "ramp"]

ETAS = (1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2, 2e-2, 5e-2, 0.1, 0.2, 0.5)
"""The paper's learning rates (Section 7.3.2)."""
LAMS = (1e-3, 1e-2, 1e-1, 1.0, 10.0)
"""The paper's ridges."""


@dataclass(eq=False, repr=False)
class PApAtKRanker(LinearModel):
    """Linear ranker of the items of many users, trained on a surrogate of pAp@k (GD-pAp@k).

    Scores are x·w. Starting from w₀, each step moves w by η/√(t+1) against a subgradient of the
    mean surrogate over users, with the ridge λ‖w‖². A share of the users is held out, and the
    iterate with the best Micro-pAp@k on them is kept. Users without both classes have nothing to
    rank: they are counted in ``users_`` and reported by a warning.

    Args:
        k: Number of places of each user.
        form: Surrogate of pAp@k. ``"avg"``, ``"max"`` and ``"ts_eq14"`` (the paper's Eq. 14) are
            convex. ``"ts"`` (what its Algorithm 2 differentiates) and ``"ramp"`` are not, and
            descent on them ends in a local minimum; see :class:`~rankwise.objectives.PApAtK`.
        eta: Step size η; :meth:`cv` chooses it together with ``lam``.
        lam: Ridge λ.
        radius: Radius of the ball that w is projected on after every step; None: no projection.
        start: ``"zero"``, as in the paper, or ``"log_loss"``: the logistic solution, scaled to
            scores of spread 1.
        alpha: Ridge α/2 · ‖w‖² of the logistic solution.
        batch_users: Users per step, in turn; None: all users.
        max_iter: Maximum number of steps. Every fifth and the last are evaluated.
        patience: Number of evaluations without improvement after which the descent stops.
        tolerance: Share of its length that w must move in a step, or the descent stops (only with
            all users in every step).
        standardize: Whether columns are brought to mean 0 and spread 1; ``coef_`` refers to the
            columns as given.
        threshold: Rule of the decision threshold; see :class:`~rankwise.estimators.Ranker`.
        calibration: Calibration of the probabilities.
        validation_fraction: Share of the users held out.
        random_state: Seed.

    Attributes:
        coef_: Weights of the columns, (1, columns).
        intercept_: Intercept, (1,).
        n_iter_: Number of steps taken.
        users_: Number of users, and of those that cannot be ranked.
        cv_results_: ``eta``, ``lam`` and ``values`` (settings, folds), set by :meth:`cv`.

    Example:
        >>> import numpy as np
        >>> from rankwise.estimators import PApAtKRanker
        >>> rng = np.random.default_rng(0)
        >>> X, users = rng.normal(size=(600, 4)), np.repeat(np.arange(30), 20)
        >>> y = X[:, 0] + 0.3 * rng.normal(size=600) > 0.5
        >>> ranker = PApAtKRanker(3, random_state=0).fit(X, y, groups=users)
        >>> round(float(ranker.score(X, y, groups=users)), 1), int(ranker.coef_.argmax())
        (1.0, 0)

    Reference:
        Algorithms 1 and 2 of the pAp@k paper.
    """

    k: int = 10
    form: _Form = "avg"
    eta: float = 0.1
    lam: float = 1e-3
    radius: float | None = None
    _: KW_ONLY
    start: Literal["zero", "log_loss"] = "zero"
    alpha: float = 1e-3
    batch_users: int | None = None
    max_iter: int = 300
    patience: int = 20
    tolerance: float = 1e-6
    standardize: bool = True

    # Fixed, not parameters: the objective follows from k, and the metric from the objective.
    objective: str = field(init=False, default=property(lambda self: f"pap@{self.k}"))  # type: ignore[assignment]
    metric: str | None = field(init=False, default=None)
    text: Sequence[str] | None = field(init=False, default=None)
    intercept: ClassVar[bool] = False  # whether the loss depends on more than score differences

    users_: UserCounts = field(init=False)
    cv_results_: dict[str, Vector] = field(init=False)

    def _check_options(self) -> None:
        self._require(require_count, "k", "max_iter", "patience", "batch_users")
        require_one_of("form", self.form, get_args(_Form))
        require_one_of("start", self.start, ("zero", "log_loss"))
        require_positive("eta", self.eta)
        self._require(require_positive, "radius")
        self._require(require_number, "lam", "alpha", "tolerance", minimum=0)
        super()._check_options()

    def _gradient(self) -> Gradient:
        """Return what one descent follows."""
        return RiskGradient(PApAtK(self.k, self.form, score_scale=1.0))

    def _search(self, problem: Problem, grid: Sequence[tuple[float, float]]) -> Found:
        """Find the best iterate for every (η, λ) of the grid."""
        etas, lams = np.array(grid, dtype=np.float64).T
        start = None
        if self.start == "log_loss":
            start = problem.logistic_start(alpha=self.alpha, unit=not self.intercept)
        return descend(problem, self._gradient(), etas, lams, self, start=start)

    def _fit_scores(self, data: Training) -> None:
        problem = _problem(self, data.train, data.held_out, data.seed)
        self.users_ = problem.users.counts(self.k)
        if data.train.groups is not None:
            self.users_.warn()
        found = self._search(problem, [(self.eta, self.lam)])
        if not np.isfinite(found.values[0]):
            raise ValueError(f"{type(self).__name__} has diverged: take a smaller eta, or scale X")
        self._keep_weights(problem.design, found.weights[:, 0], float(found.intercepts[0]))
        self.n_iter_ = int(found.steps[0])

    def cv(
        self,
        X: TableLike,
        y: ArrayLike,
        *,
        groups: ArrayLike,
        sample_weight: ArrayLike | None = None,
        etas: Sequence[float] = ETAS,
        lams: Sequence[float] = LAMS,
        folds: int = 5,
    ) -> Self:
        """Choose (η, λ) by cross-validation over users, and fit a new ranker to all rows.

        All settings of a fold share one descent, and the best iterate of each counts, evaluated by
        Micro-pAp@k of the users left out. The defaults are the paper's grid.
        """
        self._check_options()
        require_count("folds", folds)
        grid = settings(etas, lams)
        copy = clone(self)
        rows, y_read, weight = learn_features(copy, X, y, sample_weight)
        _, target = read_target(y_read, graded=False)
        part = Part(rows, target, weight, read_groups(groups, len(target)))
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        table = np.stack(
            [
                search_grid(copy, part.rows(~left_out), part.rows(left_out), grid, seed).values
                for left_out in folds_of_users(part, folds, seed)
            ],
            axis=1,
        )
        eta, lam = np.array(grid[: len(table)]).T
        best = int(np.argmax(table.mean(1)))
        chosen: Self = clone(self)._with(*grid[best])
        chosen.fit(X, y, groups=groups, sample_weight=sample_weight)
        chosen.cv_results_ = {"eta": eta, "lam": lam, "values": table}
        return chosen

    def _with(self, eta: float, lam: float) -> Self:
        self.set_params(eta=eta, lam=lam)
        return self

    def _state(self) -> State:
        return {**super()._state(), "users": np.array(astuple(self.users_))}

    def _restore(self, state: Loaded) -> None:
        super()._restore(state)
        self.users_ = UserCounts(*(int(count) for count in state["users"]))


def settings(etas: Sequence[float], lams: Sequence[float]) -> tuple[tuple[float, float], ...]:
    """Combine every η with every λ."""
    if not len(etas) or not len(lams):
        raise ValueError(f"etas and lams must not be empty, got {list(etas)} and {list(lams)}")
    return tuple((float(eta), float(lam)) for eta, lam in product(etas, lams))


def search_grid(
    ranker: PApAtKRanker,
    train: Part,
    held_out: Part,
    grid: Sequence[tuple[float, float]],
    seed: int = 0,
    *,
    single: bool = False,
) -> Found:
    """Train every setting on ``train``, and keep its best iterate on ``held_out``.

    The weights are for X as given. ``single``: products with X in single precision, in about two
    thirds of the time.
    """
    problem = _problem(ranker, train, held_out, seed, single=single)
    found = ranker._search(problem, grid)
    return replace(found, weights=found.weights / problem.design.spread[:, None])


def _problem(
    ranker: PApAtKRanker, train: Part, held_out: Part, seed: int, *, single: bool = False
) -> Problem:
    same = held_out is train
    if train.groups is not None:
        # Rows that are summed together stand together, so that their order changes no result.
        train = train.rows(np.lexsort((train.target, train.groups)))
    held_out = train if same else held_out
    design = Design(train.X, train.weight, raw=not ranker.standardize, single=single)
    users = Users.of_part(train)
    evaluated = users if same else Users.of_part(held_out)

    def evaluate(weights: Vector) -> Vector:
        # The means of the columns move all scores of a setting alike and change no ranking.
        scores = np.asarray(held_out.X @ (weights / design.spread[:, None]), dtype=np.float64)
        return evaluated.gain(torch.from_numpy(np.ascontiguousarray(scores.T)), ranker.k).numpy()

    return Problem(design, users, evaluate, seed)


def folds_of_users(part: Part, folds: int, seed: int) -> list[NDArray[np.bool_]]:
    """Return the rows left out in each fold; users with both classes are dealt evenly."""
    groups = part.groups
    number = 1 if groups is None else int(groups.max()) + 1
    if groups is None or number < folds:
        raise ValueError(
            f"groups must name at least folds={folds} users to leave out in turn, got {number}"
        )
    positives = np.bincount(groups, part.target > 0, number)
    sizes = np.bincount(groups, minlength=number)
    order = np.random.default_rng(seed).permutation(number)
    complete = (positives > 0) & (positives < sizes)
    if complete.sum() < folds:
        raise ValueError(
            f"at least folds={folds} users must have both classes, got {int(complete.sum())}"
        )
    order = order[np.argsort(~complete[order], kind="stable")]
    fold = np.empty(number, dtype=np.int64)
    fold[order] = np.arange(number) % folds
    return [fold[groups] == f for f in range(folds)]
