"""Trees by LightGBM."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import lightgbm as lgb
import numpy as np
from scipy.sparse import csr_matrix, issparse

from rankwise.boosting.disk import BLOCK, DiskMatrix, by_blocks
from rankwise.boosting.engines import Engine, Trees
from rankwise.boosting.gradient import Gradient
from rankwise.boosting.rows import Floats, Matrix, Rows
from rankwise.errors import foreign_errors
from rankwise.serving.trees.lightgbm_text import checked_trees

_NOTHING = "num_features"  # what LightGBM's error says where no column can be split


class LightGBM(Engine):
    """A ``lightgbm.Booster`` that is given its gradients."""

    def __init__(
        self, trees: Trees, train: Rows, held_out: Rows | None, start: float | Floats
    ) -> None:
        params = {
            "objective": "none",
            "metric": "none",
            "learning_rate": trees.learning_rate,
            "num_leaves": trees.num_leaves,
            "min_data_in_leaf": trees.min_child_samples,
            "bagging_fraction": trees.subsample,
            "bagging_freq": int(trees.subsample < 1),
            "feature_fraction": trees.colsample,
            "lambda_l2": trees.reg,
            "num_threads": trees.n_jobs,
            "seed": trees.seed,
            "deterministic": True,
            "force_row_wise": True,  # or LightGBM measures which is faster: not repeatable
            "feature_pre_filter": False,
            "verbosity": -1,
        }
        if trees.outputs > 1:
            params["num_class"] = trees.outputs
        self.rows = train
        count = len(train.target)
        first = np.full(count, start) if trees.outputs == 1 else np.tile(start, (count, 1))
        data = lgb.Dataset(
            _matrix(train.X),
            train.target,
            init_score=first,
            categorical_feature=list(trees.categories),
            params=params,
        )
        self.params, self.data, self.held_out = params, data, None
        if held_out is not None:
            # A constant start does not change how rows are ranked, but for that of a softmax.
            alike = None if trees.outputs == 1 else np.tile(start, (len(held_out.target), 1))
            self.held_out = lgb.Dataset(
                _matrix(held_out.X), held_out.target, data, init_score=alike, params=params
            )
        self._begin()

    def _begin(self) -> None:
        self.booster = lgb.Booster(self.params, self.data)
        self._rounds = 0  # a first tree that is only a leaf, of value 0, LightGBM counts but keeps
        if self.held_out is not None:
            self.booster.add_valid(self.held_out, "held out")

    @property
    def rounds(self) -> int:
        return self._rounds

    def grow(self, gradient: Gradient) -> bool:
        rows = replace(self.rows, round=self._rounds)
        try:
            finished = self.booster.update(fobj=lambda scores, _: gradient(scores, rows))
        except lgb.basic.LightGBMError as error:
            if _NOTHING in str(error):
                return False
            raise
        self._rounds += not finished
        return not finished

    def value(self, evaluate: Callable[[Floats], float]) -> float:
        found = self.booster.eval_valid(lambda scores, _: ("value", evaluate(scores), True))
        return float(found[0][2])

    def cut(self, rounds: int) -> None:
        if rounds == 0 and self._rounds:
            self._begin()  # rolling back would leave rounding errors in the scores
        for _ in range(self._rounds - rounds):
            self.booster.rollback_one_iter()
        self._rounds = min(self._rounds, rounds)

    def text(self) -> str:
        return self.booster.model_to_string()

    @classmethod
    def read(cls, text: str, n_jobs: int, outputs: int = 1) -> Callable[[Matrix], Floats]:
        booster = _booster(text, outputs)

        def scores(rows: Matrix) -> Floats:
            if booster.num_trees() == 0:
                count = rows.shape[0]
                return np.zeros(count if outputs == 1 else (count, outputs))
            found = booster.predict(_matrix(rows), raw_score=True, num_threads=n_jobs)
            return np.asarray(found, dtype=np.float64)

        return by_blocks(scores)

    @classmethod
    def gains(cls, text: str, columns: int, outputs: int = 1) -> Floats:
        booster = _booster(text, outputs)
        if booster.num_trees() == 0:
            return np.zeros(columns)
        return np.asarray(booster.feature_importance("gain"), dtype=np.float64)


def _booster(text: str, outputs: int) -> lgb.Booster:
    with foreign_errors("the trees are not LightGBM's"):
        return lgb.Booster(model_str=checked_trees(text, outputs))


class _Sequence(lgb.Sequence):
    """Rows on disk, of which LightGBM keeps one byte a value."""

    def __init__(self, rows: DiskMatrix) -> None:
        self.rows = rows
        self.batch_size = max(1, BLOCK // (8 * rows.shape[1]))

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, chosen: int | slice | list[int]) -> Floats:
        if isinstance(chosen, slice):
            return self.rows[chosen].astype(np.float64)
        found = self.rows[np.atleast_1d(chosen)].astype(np.float64)
        return found if isinstance(chosen, list) else found[0]


def _matrix(rows: Matrix) -> Matrix:
    if isinstance(rows, DiskMatrix):
        return _Sequence(rows)
    return csr_matrix(rows) if issparse(rows) else rows  # LightGBM does not know sparse arrays
