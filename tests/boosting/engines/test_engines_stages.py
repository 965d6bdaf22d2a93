from __future__ import annotations

import numpy as np

from rankwise.boosting.engines import Stage, boost


class Scripted:
    """An engine whose values are written down: value after each tree, by stage."""

    def __init__(self, values: dict[str, list[float]], dry: int = 10**9) -> None:
        self.values, self.trees, self.dry = values, [], dry
        self.grown = 0

    @property
    def rounds(self) -> int:
        return len(self.trees)

    def grow(self, gradient) -> bool:
        if self.grown == self.dry:
            return False
        self.grown += 1
        stage = gradient(None, None)
        self.trees.append((stage, sum(s == stage for s, _ in self.trees)))
        return True

    def value(self, judge) -> float:
        stage, number = self.trees[-1]
        return judge(self.values[stage][number])

    def cut(self, rounds: int) -> None:
        del self.trees[rounds:]


def stage(name: str, until: int) -> Stage:
    return lambda *_: name, until


def test_each_stage_goes_back_to_the_best_of_all() -> None:
    engine = Scripted({"a": [0.3, 0.5, 0.4, 0.4], "b": [0.45, 0.6, 0.2, 0.1, 0.1]})
    best = boost(engine, [stage("a", 10), stage("b", 10)], evaluate=float, patience=2)
    assert best == 0.6
    assert engine.trees == [("a", 0), ("a", 1), ("b", 0), ("b", 1)]
    assert engine.grown == 4 + 4


def test_a_stage_that_only_harms_leaves_the_first() -> None:
    engine = Scripted({"a": [0.3, 0.5, 0.4], "b": [0.4, 0.49, 0.1]})
    assert boost(engine, [stage("a", 3), stage("b", 5)], evaluate=float, patience=10) == 0.5
    assert engine.trees == [("a", 0), ("a", 1)]


def test_the_number_of_trees_is_that_of_both_stages() -> None:
    engine = Scripted({"a": [], "b": []})
    boost(engine, [stage("a", 3), stage("b", 8)])
    assert [name for name, _ in engine.trees] == ["a"] * 3 + ["b"] * 5


def test_where_nothing_can_be_split_it_ends() -> None:
    engine = Scripted({"a": list(np.arange(9.0))}, dry=4)
    assert boost(engine, [stage("a", 9)], evaluate=float) == 3.0
    assert engine.rounds == 4


def test_stop_ends_a_stage_after_the_tree_and_goes_back_to_the_best() -> None:
    engine = Scripted({"a": [0.3, 0.5, 0.4, 0.9, 0.9], "b": [0.1, 0.2]})
    asked = iter([False, False, True, True])
    boost(engine, [stage("a", 5), stage("b", 9)], lambda x: x, None, lambda: next(asked))
    assert engine.trees == [("a", 0), ("a", 1)]
    assert engine.grown == 4  # three of a, and the one of b that a stage always has
