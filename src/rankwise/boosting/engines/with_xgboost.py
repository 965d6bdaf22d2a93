"""Trees by XGBoost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import xgboost as xgb

from rankwise.boosting.disk import DiskMatrix, by_blocks
from rankwise.boosting.engines import Engine, Trees
from rankwise.boosting.gradient import Gradient
from rankwise.boosting.rows import Floats, Matrix, Rows
from rankwise.errors import foreign_errors
from rankwise.serving.trees.xgboost_json import require_trees

_PAGE = 1 << 27  # bytes of the rows of a page: XGBoost reads all pages for every split


class XGBoost(Engine):
    """An ``xgboost.Booster`` that is given its gradients.

    XGBoost has no least number of rows in a leaf but a least curvature. ``min_child_samples`` rows
    are taken for that many times the mean curvature of log-loss at the start.
    """

    def __init__(
        self, trees: Trees, train: Rows, held_out: Rows | None, start: float | Floats
    ) -> None:
        rate = 1 / (1 + np.exp(-start))
        self.params = {
            "objective": "binary:logistic",  # only its link is used, only for the labels it takes
            "base_score": 0.5,
            "tree_method": "hist",
            "grow_policy": "lossguide",
            "max_depth": 0,
            "max_leaves": trees.num_leaves,
            "learning_rate": trees.learning_rate,
            "min_child_weight": float(np.mean(trees.min_child_samples * rate * (1 - rate))),
            "subsample": trees.subsample,
            "colsample_bytree": trees.colsample,
            "reg_lambda": trees.reg,
            "nthread": trees.n_jobs,
            "seed": trees.seed,
            "verbosity": 0,
        }
        if trees.outputs > 1:
            self.params |= {"objective": "multi:softprob", "num_class": trees.outputs}
        self.rows = train
        self.data = _matrix(train.X, start, trees.categories, trees.n_jobs)
        self.data.set_info(label=train.positive if trees.outputs == 1 else train.target)
        self.held_out = None
        if held_out is not None:
            like = self.data if isinstance(held_out.X, DiskMatrix) else None
            self.held_out = _matrix(held_out.X, start, trees.categories, trees.n_jobs, like)
        self.cut(0)

    @property
    def rounds(self) -> int:
        return self.booster.num_boosted_rounds()

    def grow(self, gradient: Gradient) -> bool:
        scores = self.booster.predict(self.data, output_margin=True, training=True)
        values = gradient(scores.astype(np.float64), replace(self.rows, round=self.rounds))
        slope, curvature = (part.astype(np.float32) for part in values)
        self.booster.boost(self.data, self.rounds, grad=slope, hess=curvature)
        return True  # a tree that is only a leaf changes no ranking: patience ends it

    def value(self, evaluate: Callable[[Floats], float]) -> float:
        assert self.held_out is not None
        scores = self.booster.predict(self.held_out, output_margin=True)
        return evaluate(scores.astype(np.float64))

    def cut(self, rounds: int) -> None:
        if rounds == 0:
            self.booster = xgb.Booster(self.params, cache=[self.data])
        elif rounds < self.rounds:
            self.booster = self.booster[:rounds]
            self.booster.set_param(self.params)

    def text(self) -> str:
        return bytes(self.booster.save_raw("json")).decode()

    @classmethod
    def read(cls, text: str, n_jobs: int, outputs: int = 1) -> Callable[[Matrix], Floats]:
        booster = _booster(text, outputs)
        booster.set_param({"nthread": n_jobs})
        kinds = booster.feature_types or []
        categories = tuple(place for place, kind in enumerate(kinds) if kind == "c")

        def scores(rows: Matrix) -> Floats:
            start = 0.0 if outputs == 1 else np.zeros(outputs)
            data = _matrix(rows, start, categories, n_jobs)
            return booster.predict(data, output_margin=True).astype(np.float64)

        return by_blocks(scores)

    @classmethod
    def gains(cls, text: str, columns: int, outputs: int = 1) -> Floats:
        found = np.zeros(columns)
        for name, gain in _booster(text, outputs).get_score(importance_type="total_gain").items():
            assert not isinstance(gain, list)  # that is of linear boosters
            found[int(name.removeprefix("f"))] = gain
        return found


def _booster(text: str, outputs: int) -> xgb.Booster:
    with foreign_errors("the trees are not XGBoost's"):
        require_trees(text, outputs)
        booster = xgb.Booster()
        booster.load_model(bytearray(text.encode()))
    return booster


def _matrix(
    rows: Matrix,
    start: float | Floats,
    categories: tuple[int, ...],
    n_jobs: int,
    like: xgb.DMatrix | None = None,
) -> xgb.DMatrix:
    """Return rows as XGBoost takes them; ``like`` has the bins of rows on disk."""
    kinds = ["c" if place in categories else "q" for place in range(rows.shape[1])]
    given = kinds if categories else None
    if isinstance(rows, DiskMatrix):
        pages = _Pages(rows, start, given)
        enable = bool(categories)
        return xgb.ExtMemQuantileDMatrix(pages, nthread=n_jobs, ref=like, enable_categorical=enable)
    return xgb.DMatrix(
        rows,
        base_margin=_margin(rows.shape[0], start),
        feature_types=given,
        enable_categorical=bool(categories),
        nthread=n_jobs,
    )


def _margin(rows: int, start: float | Floats) -> Floats:
    """Return the score of every row before the first tree, (rows,) or (rows, outputs)."""
    return np.full(rows, start) if isinstance(start, float) else np.tile(start, (rows, 1))


class _Pages(xgb.DataIter):
    """Rows on disk for XGBoost's external memory, whose pages are kept next to them."""

    def __init__(self, rows: DiskMatrix, start: float | Floats, kinds: list[str] | None) -> None:
        self.rows, self.start, self.kinds = rows, start, kinds
        self.reset()
        super().__init__(cache_prefix=str(rows.path.with_name("pages")))

    def next(self, input_data: Callable[..., None]) -> bool:
        block = next(self.blocks, None)
        if block is None:
            return False
        input_data(
            data=block, base_margin=_margin(len(block), self.start), feature_types=self.kinds
        )
        return True

    def reset(self) -> None:
        self.blocks = self.rows.blocks(_PAGE)
