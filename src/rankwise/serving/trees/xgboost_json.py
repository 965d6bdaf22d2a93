"""The JSON of XGBoost's trees, checked before XGBoost reads it.

XGBoost follows the children of a node wherever they lead, and takes memory for as many features as
the text announces. So the trees are compared with themselves first.
"""

from __future__ import annotations

import json
import re
from math import isfinite
from typing import Any

from rankwise.errors import short_repr
from rankwise.limits import MAX_SPARSE_FEATURE, MAX_TREE_BYTES

_WHOLE = re.compile(r"[0-9]{1,9}")
_NODES: tuple[str, ...] = (
    "base_weights",
    "default_left",
    "left_children",
    "loss_changes",
    "parents",
)
_NODES += ("right_children", "split_conditions", "split_indices", "split_type", "sum_hessian")
_WHOLES: tuple[str, ...] = (
    "default_left",
    "left_children",
    "parents",
    "right_children",
    "split_indices",
)
_WHOLES += ("split_type",)
_NO_PARENT = 2**31 - 1
_MOST_CATEGORIES = 1 << 24


def require_trees(text: str, outputs: int = 1) -> None:
    """Raise unless a text is trees of this number of outputs that XGBoost can follow.

    Raises:
        ValueError, KeyError, TypeError: The text is another one.
    """
    if len(text) > MAX_TREE_BYTES:
        raise ValueError(f"the text of the trees has {len(text):,} letters")
    learner = json.loads(text)["learner"]
    about, booster = learner["learner_model_param"], learner["gradient_booster"]
    features = _whole(about["num_feature"], "num_feature")
    if booster["name"] != "gbtree":
        raise ValueError(f"its booster is {short_repr(booster['name'])}, not 'gbtree'")
    classes = max(1, _whole(about["num_class"], "num_class"))
    if features > MAX_SPARSE_FEATURE + 1 or classes != outputs:
        raise ValueError(f"it has another number of classes than {outputs}, or too many features")
    if _whole(about.get("num_target", "1"), "num_target") != 1:
        raise ValueError("its trees have several outputs")
    for name in ("feature_names", "feature_types"):
        if learner.get(name) and len(_strings(learner[name])) != features:
            raise ValueError(f"{name} must be {features} words")
    model = booster["model"]
    trees = model["trees"]
    count = _whole(model["gbtree_model_param"]["num_trees"], "num_trees")
    if not isinstance(trees, list) or len(trees) != count:
        raise ValueError(f"it announces {count} trees")
    if any(one not in range(outputs) for one in _wholes(model["tree_info"], count)):
        raise ValueError(f"tree_info must be below {outputs} for each tree")
    ends = model.get("iteration_indptr", [0, count])
    if _wholes(ends, len(ends)) != sorted(ends) or (ends[0], ends[-1]) != (0, count):
        raise ValueError("iteration_indptr must ascend from 0 to the number of trees")
    for number, tree in enumerate(trees):
        _require_tree(tree, number, features)


def _strings(values: object) -> list[str]:
    if not isinstance(values, list) or not all(isinstance(one, str) for one in values):
        raise ValueError(f"must be words, got {short_repr(values)}")
    return values


def _whole(text: object, name: str) -> int:
    if not isinstance(text, str) or not _WHOLE.fullmatch(text):
        raise ValueError(f"{name} must be a whole number in quotes, got {short_repr(text)}")
    return int(text)


def _is_whole(value: object) -> bool:
    return type(value) is int and abs(value) < 2**31


def _wholes(values: object, count: int) -> list[int]:
    found = values if isinstance(values, list) else []
    if values == found and len(found) == count and all(_is_whole(one) for one in found):
        return found
    raise ValueError(f"must be {count} whole numbers, got {short_repr(values)}")


def _numbers(values: object, count: int) -> None:
    found = values if isinstance(values, list) else []
    good = len(found) == count and all(type(one) in (int, float) for one in found)
    if values == found and good and all(map(isfinite, found)):
        return
    raise ValueError(f"must be {count} numbers, got {short_repr(values)}")


def _require_tree(tree: dict[str, Any], number: int, features: int) -> None:
    where, about = f"tree {number}", tree["tree_param"]
    count = _whole(about["num_nodes"], "num_nodes")
    if _whole(about["num_feature"], "num_feature") != features or not count:
        raise ValueError(f"{where} has other features, or no nodes")
    if _whole(about["size_leaf_vector"], "size_leaf_vector") > 1:
        raise ValueError(f"{where} has several outputs")
    if tree.get("id", number) != number:
        raise ValueError(f"{where} has the number {short_repr(tree['id'])}")
    for name in _NODES:
        (_wholes if name in _WHOLES else _numbers)(tree[name], count)
    left, right, parents = tree["left_children"], tree["right_children"], tree["parents"]
    seen, waiting = 0, [0]
    if parents[0] not in (_NO_PARENT, -1):
        raise ValueError(f"{where}: its first node is in another one")
    while waiting:
        node = waiting.pop()
        seen += 1
        if seen > count:
            raise ValueError(f"{where} has a node in itself")
        inside = [child for child in (left[node], right[node]) if child != -1]
        if len(inside) == 1 or any(
            not 0 < child < count or parents[child] != node for child in inside
        ):
            raise ValueError(f"{where}: node {node} has children that are not there")
        if inside and not 0 <= tree["split_indices"][node] < max(1, features):
            raise ValueError(f"{where} splits a column that is not there")
        waiting += inside
    deleted = _whole(about["num_deleted"], "num_deleted")
    if seen + deleted != count:
        raise ValueError(f"{where} has {count} nodes and reaches {seen}")
    _require_categories(tree, where, count)


def _require_categories(tree: dict[str, Any], where: str, count: int) -> None:
    held, nodes = tree.get("categories", []), tree.get("categories_nodes", [])
    _wholes(held, len(held))
    if any(not 0 <= one < _MOST_CATEGORIES for one in held):
        raise ValueError(f"{where} has categories that are too large")
    starts = _wholes(tree.get("categories_segments", []), len(nodes))
    sizes = _wholes(tree.get("categories_sizes", []), len(nodes))
    by_category = [node for node, kind in enumerate(tree["split_type"]) if kind]
    if any(kind not in (0, 1) for kind in tree["split_type"]) or len(by_category) > len(nodes):
        raise ValueError(f"{where} has an unknown kind of split")
    done = -1
    for node, start, size in zip(_wholes(nodes, len(nodes)), starts, sizes, strict=True):
        good = done < node < count and start >= 0 and size >= 0 and start + size <= len(held)
        if not good or tree["split_type"][node] != 1:
            raise ValueError(f"{where} splits by categories that are not there")
        done = node
