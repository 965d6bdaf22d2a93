"""Sets of trees from the formats of LightGBM and XGBoost."""

from __future__ import annotations

import json
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from rankwise.serving.trees.lightgbm_text import checked_trees
from rankwise.serving.trees.tree import Tree, TreeSet
from rankwise.serving.trees.xgboost_json import require_trees

# Bits of LightGBM's decision_type.
_CATEGORICAL, _DEFAULT_LEFT = 1, 2
_MISSING_AT, _ZERO, _NAN = 2, 1, 2
_WORD = 32


def read_trees(engine: str, text: str) -> TreeSet:
    """Read the trees that an engine wrote.

    Args:
        engine: ``"lightgbm"`` or ``"xgboost"``.
        text: The trees in its own format.

    Raises:
        ValueError, KeyError, TypeError: The text is another one.
    """
    if engine == "lightgbm":
        return _lightgbm(text)
    if engine == "xgboost":
        return _xgboost(text)
    raise ValueError(f"engine must be 'lightgbm' or 'xgboost', got {engine!r}")


def _lightgbm(text: str) -> TreeSet:
    head, _, rest = checked_trees(text).partition("\n\n")
    header = dict(line.split("=", 1) for line in head.split("\n")[1:] if "=" in line)
    body, ends = rest.encode(), accumulate(map(int, header["tree_sizes"].split()), initial=0)
    trees = tuple(_lightgbm_tree(body[a:b].decode()) for a, b in pairwise(ends))
    return TreeSet(trees, int(header["max_feature_idx"]) + 1, np.float64)


def _lightgbm_tree(text: str) -> Tree:
    fields = dict(line.split("=", 1) for line in text.split("\n") if "=" in line)

    def numbers(name: str, dtype: type = np.int64) -> Any:
        return np.array(fields.get(name, "").split(), dtype=np.float64).astype(dtype)

    kind = numbers("decision_type")
    threshold, missing = numbers("threshold", np.float64), kind >> _MISSING_AT & 3
    if (missing == _ZERO).any():
        raise ValueError("zeros are missing values in it, which rankwise never asks for")
    by_category = kind & _CATEGORICAL > 0
    # Without missing values in training LightGBM takes a missing number for 0.
    left = np.where(missing == _NAN, kind & _DEFAULT_LEFT > 0, threshold >= 0) & ~by_category
    bounds, words = numbers("cat_boundaries"), numbers("cat_threshold")
    members = {}
    for node in np.flatnonzero(by_category).tolist():
        first, last = bounds[int(threshold[node]) :][:2]
        bits = words[first:last, None] >> np.arange(_WORD) & 1
        members[node] = np.flatnonzero(bits)
    return Tree(
        numbers("split_feature"),
        threshold,
        numbers("left_child"),
        numbers("right_child"),
        left,
        numbers("leaf_value", np.float64),
        members,
    )


def _xgboost(text: str) -> TreeSet:
    require_trees(text)
    learner = json.loads(text)["learner"]
    trees = learner["gradient_booster"]["model"]["trees"]
    columns = int(learner["learner_model_param"]["num_feature"])
    return TreeSet(tuple(map(_xgboost_tree, trees)), columns, np.float32)


def _xgboost_tree(tree: dict[str, Any]) -> Tree:
    """Return a tree with nodes and leaves numbered apart, and members to the left."""
    left, right = (np.array(tree[f"{side}_children"], np.int64) for side in ("left", "right"))
    inner = left >= 0
    # Nodes that were pruned are in no other: they stay, and are never reached.
    number = np.where(inner, np.cumsum(inner) - 1, -np.cumsum((~inner).astype(np.int64)))
    nodes, leaves = np.flatnonzero(inner), np.flatnonzero(~inner)
    condition = np.array(tree["split_conditions"], np.float32)
    # x < t is x <= the number before t.
    threshold = np.nextafter(condition[nodes], np.float32(-np.inf)).astype(np.float64)
    missing_left = np.array(tree["default_left"], dtype=np.int64)[nodes] > 0
    children = [number[left[nodes]], number[right[nodes]]]
    held, members = tree.get("categories", []), {}
    for node, start, size in zip(
        *(tree.get(f"categories_{name}", []) for name in ("nodes", "segments", "sizes")),
        strict=True,
    ):
        place = int(number[node])
        members[place] = np.array(sorted(held[start : start + size]), dtype=np.int64)
        # XGBoost's members go right.
        for side in (0, 1):
            children[side][place] = number[(right, left)[side][node]]
        missing_left[place] = not missing_left[place]
    feature = np.array(tree["split_indices"], np.int64)[nodes]
    values = condition[leaves].astype(np.float64)
    return Tree(feature, threshold, children[0], children[1], missing_left, values, members)
