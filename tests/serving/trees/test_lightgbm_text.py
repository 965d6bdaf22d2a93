"""Texts of trees that would end the process in LightGBM."""

from __future__ import annotations

import re

import lightgbm
import numpy as np
import pytest

from rankwise.boosting.engines import Trees
from rankwise.boosting.engines.with_lightgbm import LightGBM
from rankwise.boosting.rows import Rows
from rankwise.serving.trees.lightgbm_text import checked_trees

X = np.random.default_rng(0).normal(size=(3000, 4))
X[:, 3] = np.arange(3000) % 10
Y = (X[:, 0] + np.sin(X[:, 3] * 5) > 0.5).astype(np.float64)


@pytest.fixture(scope="module")
def text():
    trees = Trees(
        0.1, 6, 5, 1.0, 1.0, 0.0, 1, 0, (3,)
    )  # as many rows as a split by categories needs
    engine = LightGBM(trees, Rows(Y, None, None, X), None, 0.0)
    for _ in range(3):
        engine.grow(lambda scores, _: (1 / (1 + np.exp(-scores)) - Y, np.full(len(Y), 0.25)))
    made = engine.text()
    assert "\ncat_threshold" in made
    return made


def test_the_trees_are_the_same_without_the_parameters(text):
    checked = checked_trees(text)
    assert "parameters" not in checked
    whole, part = (lightgbm.Booster(model_str=each) for each in (text, checked))
    assert (whole.predict(X, raw_score=True) == part.predict(X, raw_score=True)).all()
    assert (whole.feature_importance("gain") == part.feature_importance("gain")).all()


def resized(text: str) -> str:
    """Return the text with the sizes that its trees have."""
    trees = re.findall(r"Tree=\d+\n.*?\n\n\n", text, re.DOTALL)
    sizes = " ".join(str(len(tree)) for tree in trees)
    return re.sub(r"tree_sizes=.*", f"tree_sizes={sizes}", text)


@pytest.mark.parametrize(
    ("pattern", "new", "message"),
    [
        (r"^tree\n", "forest\n", "begins with 'forest'"),
        (r"tree_sizes=", "Tree=2\ntree_sizes=", "its header has 'Tree', which is unknown"),
        (r"num_class=1", "num_class=3", "several outputs"),
        (r"num_class=1", "num_class=1_0", "num_class must be a whole number, got '1_0'"),
        (r"max_feature_idx=3", "max_feature_idx=2000000000", "2000000001 columns"),
        (r"max_feature_idx=3", "max_feature_idx=2", "one word for each of 3 columns"),
        (r"num_leaves=(\d+)", "num_leaves=1000", "leaf_value must be 1000 numbers"),
        (r"num_leaves=(\d+)", "num_leaves=999999999", "leaves"),
        (r"split_feature=\d+", "split_feature=77", "splits a column that is not there"),
        (r"left_child=-?\d+", "left_child=0", "has a node in itself"),
        (r"left_child=-?\d+", "left_child=-100", "each of its nodes and leaves once"),
        (r"right_child=-?\d+", "right_child=5000", "each of its nodes and leaves once"),
        (r"decision_type=\d+", "decision_type=99", "unknown kind of split"),
        (r"num_cat=[1-9]\d*", "num_cat=900", "cat_boundaries must be 901 numbers"),
        (r"cat_boundaries=0", "cat_boundaries=9", "must ascend from 0"),
        (r"cat_threshold=\d+", "cat_threshold=1 2 3 4 5 6", "cat_threshold must be"),
        (r"threshold=\S+", "threshold=x", "threshold must be"),
        (r"is_linear=0", "is_linear=1", "equations in its leaves"),
        (r"shrinkage=", "surprise=", "'surprise', which is unknown"),
        (r"leaf_count=.*", "leaf_count", "the line 'leaf_count', which has no '='"),
    ],
)
def test_what_does_not_agree_with_itself_is_refused(text, pattern, new, message):
    changed = resized(re.sub(pattern, new, text, count=1))
    assert changed != text
    with pytest.raises(ValueError, match=message):
        checked_trees(changed)
    with pytest.raises(ValueError, match="the trees are not LightGBM's: "):
        LightGBM.read(changed, 1)


@pytest.mark.parametrize("change", [("tree_sizes=", "tree_sizes=9"), ("Tree=1", "Tree=4")])
def test_sizes_must_be_those_of_the_trees(text, change):
    with pytest.raises(ValueError, match=r"tree_sizes|begin"):
        checked_trees(text.replace(*change))


def test_a_tree_without_the_blank_line_that_ends_it_is_refused(text):
    # LightGBM would read on: into the next tree, or into whatever is in memory after the text.
    shorter = re.sub(r"tree_sizes=.*", lambda sizes: _last_less_2(sizes.group()), text)
    with pytest.raises(ValueError, match="tree 2 does not begin where tree_sizes says"):
        checked_trees(shorter)


def _last_less_2(sizes: str) -> str:
    start, _, last = sizes.rpartition(" ")
    return f"{start} {int(last) - 2}"
