"""The text of LightGBM's trees, checked before LightGBM reads it.

LightGBM trusts its own format: a count that is not that of the values, or a child that is not
there, ends the process. So the text is compared with itself first, and only what was checked, the
header and the trees, is handed on.
"""

from __future__ import annotations

import re
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from rankwise.errors import short_repr
from rankwise.limits import MAX_SPARSE_FEATURE, MAX_TREE_BYTES

_NUMBERS = re.compile(r"[-+0-9.eE infa]*")  # their letters; a word of them costs ten times this
_WHOLE = re.compile(r"-?[0-9]{1,10}")
_WHOLES = re.compile(r"[-0-9 ]*")
_END = "end of trees"
_HEADER = ("version", "num_class", "num_tree_per_iteration", "label_index", "max_feature_idx")
_NAMED = ("feature_names", "feature_infos")
_KNOWN_HEADER = {*_HEADER, *_NAMED, "objective", "monotone_constraints", "tree_sizes"}
_MOST_LEAVES = 1 << 17  # LightGBM's own limit
_BY_NODE: tuple[str, ...] = (
    "split_feature",
    "split_gain",
    "threshold",
    "decision_type",
    "left_child",
)
_BY_NODE += ("right_child", "internal_value", "internal_weight", "internal_count")
_BY_LEAF = ("leaf_value", "leaf_weight", "leaf_count")
_INTEGERS = ("split_feature", "decision_type", "left_child", "right_child", "cat_boundaries")
_KNOWN = {*_BY_NODE, *_BY_LEAF, "num_leaves", "num_cat", "cat_boundaries", "cat_threshold"}
_KNOWN |= {"is_linear", "shrinkage"}


def checked_trees(text: str, outputs: int = 1) -> str:
    """Return the header and the trees of a text, without the parameters that made them.

    Raises:
        ValueError: The text is not one that LightGBM writes for this number of outputs.
    """
    if len(text) > MAX_TREE_BYTES:
        raise ValueError(f"the text of the trees has {len(text):,} letters")
    head, blank, rest = text.partition("\n\n")
    first, *lines = head.split("\n")
    if first != "tree" or not blank:
        raise ValueError(f"it begins with {short_repr(first)}, trees of LightGBM with 'tree'")
    if "\0" in text or "\r" in text:
        raise ValueError("it has letters that LightGBM does not write")
    header = _fields(lines)
    if unknown := header.keys() - _KNOWN_HEADER:  # such as a Tree, which LightGBM would begin with
        raise ValueError(f"its header has {short_repr(min(unknown))}, which is unknown")
    numbers = {name: _whole(header, name) for name in _HEADER if name != "version"}
    columns = numbers["max_feature_idx"] + 1
    if not numbers["num_class"] == numbers["num_tree_per_iteration"] == outputs:
        several = "several outputs" if outputs == 1 else f"not {outputs} outputs"
        raise ValueError(f"its trees have {several}")
    if not 1 <= columns <= MAX_SPARSE_FEATURE + 1:
        raise ValueError(f"it has {columns} columns")
    for name in _NAMED:
        if len(header.get(name, "").split(" ")) != columns:
            raise ValueError(f"{name} must have one word for each of {columns} columns")
    if not _WHOLES.fullmatch(header.get("tree_sizes", "-")):
        raise ValueError("tree_sizes must be whole numbers")
    sizes = [int(size) for size in header["tree_sizes"].split()]
    ends = list(accumulate(sizes, initial=0))
    body = rest.encode()
    if any(size <= 0 for size in sizes) or not body[ends[-1] :].lstrip(b"\n").startswith(
        _END.encode()
    ):
        raise ValueError("tree_sizes are not those of its trees")
    if len(sizes) % outputs:
        raise ValueError(f"it has {len(sizes)} trees, which are not rounds of {outputs}")
    for number, (start, end) in enumerate(pairwise(ends)):
        _require_tree(body[start:end].decode(), number, columns)
    return f"{head}\n\n{body[: ends[-1]].decode()}{_END}\n"


def _fields(lines: list[str]) -> dict[str, str]:
    pairs = [line.partition("=") for line in lines if line]
    fields = {name: value for name, _, value in pairs}
    if len(fields) < len(pairs):
        raise ValueError("a name is there twice")
    return fields


def _whole(fields: dict[str, str], name: str) -> int:
    text = fields.get(name, "")
    if not _WHOLE.fullmatch(text):
        raise ValueError(f"{name} must be a whole number, got {short_repr(text)}")
    return int(text)


def _array(fields: dict[str, str], name: str, count: int) -> NDArray[np.float64]:
    return np.array(_words(fields, name, count), dtype=np.float64)


def _words(fields: dict[str, str], name: str, count: int) -> list[str]:
    text = fields.get(name, "")
    form = _WHOLES if name in _INTEGERS else _NUMBERS
    words = text.split()
    if not form.fullmatch(text) or len(words) != count:
        raise ValueError(f"{name} must be {count} numbers, got {short_repr(text)}")
    return words


def _require_tree(text: str, number: int, columns: int) -> None:
    first, *lines = text.rstrip("\n").split("\n")
    # LightGBM reads on to a blank line, of whatever comes after the text.
    if first != f"Tree={number}" or not text.endswith("\n\n") or "" in lines:
        raise ValueError(f"tree {number} does not begin where tree_sizes says")
    if wrong := next((line for line in lines if "=" not in line), None):
        raise ValueError(f"tree {number} has the line {short_repr(wrong)}, which has no '='")
    fields = _fields(lines)
    if unknown := fields.keys() - _KNOWN:
        raise ValueError(f"tree {number} has {short_repr(min(unknown))}, which is unknown")
    leaves, cats = _whole(fields, "num_leaves"), _whole(fields, "num_cat")
    if not 1 <= leaves <= _MOST_LEAVES or fields.get("is_linear", "0") != "0":
        raise ValueError(f"tree {number} has {leaves} leaves, or equations in its leaves")
    nodes = leaves - 1
    _words(fields, "leaf_value", leaves)
    _words(fields, "shrinkage", 1)
    optional = [(name, leaves) for name in _BY_LEAF[1:]] + [(name, nodes) for name in _BY_NODE[6:]]
    for name, count in optional:
        if fields.get(name):
            _words(fields, name, count)
    if nodes:
        _words(fields, "split_gain", nodes)
        found = {name: _array(fields, name, nodes) for name in _BY_NODE[:6] if name != "split_gain"}
        _require_splits(found, number, nodes, columns, _categories(fields, cats))


def _categories(fields: dict[str, str], cats: int) -> int:
    """Return the number of splits by category, whose bits are all there."""
    if cats == 0:
        return 0
    if not 0 < cats < _MOST_LEAVES:
        raise ValueError(f"num_cat is {cats}")
    bounds = _array(fields, "cat_boundaries", cats + 1)
    if bounds[0] != 0 or (np.diff(bounds) <= 0).any() or bounds[-1] > _MOST_LEAVES << 10:
        raise ValueError("cat_boundaries must ascend from 0")
    if (_array(fields, "cat_threshold", int(bounds[-1])) < 0).any():
        raise ValueError("cat_threshold must be bits")
    return cats


def _require_splits(
    found: dict[str, NDArray[np.float64]], number: int, nodes: int, columns: int, cats: int
) -> None:
    where = f"tree {number}"
    features, kinds = found["split_feature"], found["decision_type"]
    if features.min() < 0 or features.max() >= columns:
        raise ValueError(f"{where} splits a column that is not there")
    if kinds.min() < 0 or kinds.max() > 15:
        raise ValueError(f"{where} has an unknown kind of split")
    by_category = kinds.astype(np.int64) & 1 == 1
    places = found["threshold"][by_category]
    if len(places) and not ((places >= 0) & (places < cats) & (places % 1 == 0)).all():
        raise ValueError(f"{where} splits by categories that are not there")
    children = np.concatenate([found["left_child"], found["right_child"]])
    parents = np.tile(np.arange(nodes), 2)
    inner = children >= 0
    # LightGBM numbers a node after the one it is in, so a cycle goes back somewhere.
    if (children[inner] <= parents[inner]).any():
        raise ValueError(f"{where} has a node in itself")
    want = np.concatenate([np.arange(-nodes - 1, 0), np.arange(1, nodes)])
    if not np.array_equal(np.sort(children), want):
        raise ValueError(f"{where} does not have each of its nodes and leaves once")
