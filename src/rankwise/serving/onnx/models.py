"""The scores of linear models, trees and networks in ONNX."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from onnx import numpy_helper

from rankwise.errors import UsageError
from rankwise.serving.files import Header, Parts
from rankwise.serving.onnx.graph import FLOAT, INT64, ML, Graph
from rankwise.serving.scorer import BOOSTED, LINEAR, NEURAL, boosted_parts, linear_parts
from rankwise.serving.trees.read import read_trees
from rankwise.serving.trees.tree import Tree, TreeSet

_LEQ, _MEMBER, _SUM = 0, 6, 1  # of the operator TreeEnsemble


def raw_scores(graph: Graph, header: Header, parts: Parts, rows: str) -> str:
    """Return the scores of prepared rows, (rows, 1)."""
    kind = header["class"]
    if kind in LINEAR:
        coefficients, intercept = linear_parts(parts)
        product = graph.op("MatMul", rows, graph.constant(coefficients[:, None]))
        return graph.op("Add", product, graph.constant(intercept))
    if kind == BOOSTED:
        score, sets = boosted_parts(header, parts)
        found = graph.constant([[score]])
        for text, weight in sets:
            leaves = _trees(graph, read_trees(header["params"]["engine"], text), rows)
            found = graph.op("Add", found, graph.affine(leaves, weight, 0.0))
        return found
    if kind == NEURAL:
        return _network(graph, parts, rows)
    raise UsageError(f"a {kind} has no graph in ONNX; the estimators of rankwise have one")


def _trees(graph: Graph, trees: TreeSet, rows: str) -> str:
    if not trees.trees:
        zero = graph.constant(np.zeros((1, 1)))
        return graph.op("Mul", graph.columns(rows, [0]), zero)
    given = rows if trees.dtype is np.float64 else graph.cast(rows, FLOAT)
    listed = _Listed()
    for tree in trees.trees:
        listed.add(tree)
    found = graph.op("TreeEnsemble", given, domain=ML, **listed.attributes(trees.dtype))
    return found if trees.dtype is np.float64 else graph.cast(found)


class _Listed:
    """Nodes and leaves of all trees, one after the other."""

    def __init__(self) -> None:
        names: tuple[str, ...] = (
            "featureids",
            "modes",
            "splits",
            "truenodeids",
            "trueleafs",
            "falsenodeids",
        )
        names += ("falseleafs", "missing_value_tracks_true")
        self.nodes: dict[str, list[Any]] = {name: [] for name in names}
        self.roots: list[int] = []
        self.leaves: list[float] = []
        self.members: list[float] = []

    def add(self, tree: Tree) -> None:
        """Append a tree; one that is a leaf alone becomes a split with this leaf on both sides."""
        first, leaf = len(self.nodes["splits"]), len(self.leaves)
        self.roots.append(first)
        self.leaves += tree.leaves.tolist()
        if not len(tree.feature):
            self._node(0, _LEQ, 0.0, (leaf, 1), (leaf, 1), False)
        for node, feature in enumerate(tree.feature.tolist()):
            sides = [
                (leaf + ~child, 1) if child < 0 else (first + child, 0)
                for child in (int(tree.left[node]), int(tree.right[node]))
            ]
            members = tree.members.get(node)
            mode, split = (_LEQ, float(tree.threshold[node])) if members is None else (_MEMBER, 0.0)
            if members is not None:
                self.members += [*members.tolist(), np.nan]
            self._node(feature, mode, split, sides[0], sides[1], bool(tree.missing_left[node]))

    def _node(  # noqa: PLR0917  (in the order of the attributes)
        self,
        feature: int,
        mode: int,
        split: float,
        true: tuple[int, int],
        false: tuple[int, int],
        missing: bool,
    ) -> None:
        values = (feature, mode, split, *true, *false, int(missing))
        for held, value in zip(self.nodes.values(), values, strict=True):
            held.append(value)

    def attributes(self, dtype: type[np.floating]) -> dict[str, Any]:
        """Return the attributes of the operator."""

        def tensor(values: list[Any], kind: type = dtype) -> Any:
            return numpy_helper.from_array(np.array(values, dtype=kind))

        found = {f"nodes_{name}": values for name, values in self.nodes.items()}
        found["nodes_modes"] = tensor(self.nodes["modes"], np.uint8)
        found["nodes_splits"] = tensor(self.nodes["splits"])
        if self.members:
            found["membership_values"] = tensor(self.members)
        return found | {
            "tree_roots": self.roots,
            "leaf_targetids": [0] * len(self.leaves),
            "leaf_weights": tensor(self.leaves),
            "n_targets": 1,
            "aggregate_function": _SUM,
            "post_transform": 0,
        }


def _network(graph: Graph, parts: Parts, rows: str) -> str:
    """Return what ``Encoding`` and ``Network`` of the neural ranker compute."""
    encoding = {n[15:]: p for n, p in parts.items() if n.startswith("model.encoding.")}
    weights = {n[14:]: p for n, p in parts.items() if n.startswith("model.network.")}
    inputs = []
    if len(encoding["numbers"]):
        centered = graph.op(
            "Sub", graph.columns(rows, encoding["numbers"]), graph.constant(encoding["mean"])
        )
        scaled = graph.op("Div", centered, graph.constant(encoding["spread"]))
        gone = graph.op("IsNaN", scaled)
        inputs.append(graph.op("Where", gone, graph.constant(0.0), scaled))
    if len(encoding["gaps"]):
        inputs.append(graph.cast(graph.op("IsNaN", graph.columns(rows, encoding["gaps"]))))
    for number, place in enumerate(encoding["words"].tolist()):
        code = graph.affine(graph.op("Gather", rows, graph.constant(place, np.int64), axis=1), 1, 1)
        known = graph.op("Where", graph.op("IsNaN", code), graph.constant(0.0), code)
        table = graph.constant(weights[f"embeddings.{number}.weight"])
        inputs.append(graph.op("Gather", table, graph.cast(known, INT64)))
    value = graph.concat(inputs)
    layers = sorted(int(n) for name in weights for n in re.findall(r"^layers\.(\d+)\.bias", name))
    for number in layers:
        weight = graph.constant(weights[f"layers.{number}.weight"].T)
        bias = graph.constant(weights[f"layers.{number}.bias"])
        value = graph.op("Add", graph.op("MatMul", value, weight), bias)
        if number != layers[-1]:
            value = graph.op("Relu", value)
    return value
