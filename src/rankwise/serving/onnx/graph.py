"""A graph of ONNX that is written node by node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import ArrayLike, NDArray
from onnx import TensorProto, helper, numpy_helper

from rankwise.errors import UsageError

ML = "ai.onnx.ml"
DOUBLE, FLOAT, INT64, STRING = (
    TensorProto.DOUBLE,
    TensorProto.FLOAT,
    TensorProto.INT64,
    TensorProto.STRING,
)
_OPSETS = {"": 21, ML: 5}  # of ONNX 1.16, the first with TreeEnsemble
_IR = 10
_INNER = "rankwise/"  # how the names inside the graph begin


class Graph:
    """Nodes, constants, inputs and outputs; values are known by their names."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.inputs: list[onnx.ValueInfoProto] = []
        self.outputs: list[onnx.ValueInfoProto] = []

    def input(self, name: str, kind: int, columns: int) -> str:
        """Add an input of shape (rows, columns)."""
        self.inputs.append(helper.make_tensor_value_info(name, kind, ["rows", columns]))
        return name

    def output(self, name: str, value: str) -> None:
        """Give a value of shape (rows, 1) as an output of shape (rows,)."""
        taken = [each.name for each in self.inputs]
        if name in taken or any(each.startswith(_INNER) for each in taken):
            raise UsageError(
                f"the graph has an output {name!r}, and the model a column of that name (or one "
                f"that begins with {_INNER!r}); rename the column and fit the model again"
            )
        flat = self.op("Squeeze", value, self.constant([1], np.int64))
        self.nodes.append(helper.make_node("Identity", [flat], [name]))
        self.outputs.append(helper.make_tensor_value_info(name, DOUBLE, ["rows"]))

    def constant(self, value: ArrayLike, dtype: type = np.float64) -> str:
        """Add a constant."""
        name = f"{_INNER}c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value, dtype=dtype), name))
        return name

    def op(self, kind: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Add a node and return its output."""
        name = f"{_INNER}n{len(self.nodes)}"
        node = helper.make_node(kind, list(inputs), [name], domain=domain, **attributes)
        self.nodes.append(node)
        return name

    def cast(self, value: str, kind: int = DOUBLE) -> str:
        """Convert to another type."""
        return self.op("Cast", value, to=kind)

    def columns(self, value: str, places: Sequence[int] | NDArray[np.int64]) -> str:
        """Take some columns of a matrix."""
        return self.op("Gather", value, self.constant(places, np.int64), axis=1)

    def concat(self, parts: Sequence[str]) -> str:
        """Join matrices by their columns."""
        return parts[0] if len(parts) == 1 else self.op("Concat", *parts, axis=1)

    def affine(self, value: str, slope: float, intercept: float) -> str:
        """Return slope · value + intercept."""
        scaled = self.op("Mul", value, self.constant(slope))
        return self.op("Add", scaled, self.constant(intercept))

    def mean(self, values: Sequence[str]) -> str:
        """Return the mean of values of one shape."""
        total = values[0]
        for value in values[1:]:
            total = self.op("Add", total, value)
        return self.op("Div", total, self.constant(float(len(values))))

    def interpolate(self, value: str, knots: NDArray[np.float64], at: NDArray[np.float64]) -> str:
        """Return ``np.interp(value, knots, at)`` of a value of shape (rows, 1)."""
        below = self.op("Greater", value, self.constant(knots[None]))
        axis, last = self.constant([1], np.int64), self.constant(len(knots) - 1, np.int64)
        count = self.op("ReduceSum", self.cast(below, INT64), axis, keepdims=1)
        one, zero = self.constant(1, np.int64), self.constant(0, np.int64)
        high = self.op("Min", count, last)
        low = self.op("Min", self.op("Max", self.op("Sub", count, one), zero), last)
        known, values = self.constant(knots), self.constant(at)
        left, right = (self.op("Gather", known, place) for place in (low, high))
        begin, end = (self.op("Gather", values, place) for place in (low, high))
        width = self.op("Sub", right, left)
        wide = self.op("Greater", width, self.constant(0.0))
        ratio = self.op(
            "Div",
            self.op("Sub", self.clip(value, knots), left),
            self.op("Where", wide, width, self.constant(1.0)),
        )
        return self.op("Add", begin, self.op("Mul", ratio, self.op("Sub", end, begin)))

    def clip(self, value: str, knots: NDArray[np.float64]) -> str:
        """Return a value within the first and the last of ascending knots."""
        above = self.op("Max", value, self.constant(knots[0]))
        return self.op("Min", above, self.constant(knots[-1]))

    def model(self, version: str) -> onnx.ModelProto:
        """Return the checked model."""
        graph = helper.make_graph(
            self.nodes, "rankwise", self.inputs, self.outputs, initializer=self.constants
        )
        opsets = [helper.make_opsetid(domain, number) for domain, number in _OPSETS.items()]
        model = helper.make_model(
            graph,
            opset_imports=opsets,
            ir_version=_IR,
            producer_name="rankwise",
            producer_version=version,
        )
        onnx.checker.check_model(model)
        return model
