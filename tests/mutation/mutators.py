"""Small changes of a source file, each of which a test should notice."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

_Change = Callable[[Any], ast.AST]

_COMPARED = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_COMPUTED = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift, ast.RShift: ast.LShift,
}  # fmt: skip
_SWAPPED = (
    ("min", "max"), ("amin", "amax"), ("cummin", "cummax"), ("argmin", "argmax"), ("any", "all"),
    ("minimum", "maximum"), ("clamp_min", "clamp_max"), ("zeros", "ones"), ("floor", "ceil"),
    ("zeros_like", "ones_like"), ("new_zeros", "new_ones"), ("logical_and", "logical_or"),
)  # fmt: skip
_NAMES = {**dict(_SWAPPED), **{b: a for a, b in _SWAPPED}}
_UNTOUCHED = ("annotation", "returns", "decorator_list", "type_params")


@dataclass(frozen=True)
class Mutant:
    """The n-th change of a source file."""

    number: int
    line: int
    what: str


def mutants(source: str) -> list[Mutant]:
    """Return every change of a source, in the order of its text."""
    found = []
    for number, (node, change) in enumerate(_changes(ast.parse(source))):
        before = _shown(node)
        after = change(copy.deepcopy(node))
        found.append(Mutant(number, node.lineno, f"{before} → {_shown(after)}"))
    return found


def mutated(source: str, number: int) -> ast.Module:
    """Return the syntax tree of a source with one change in it."""
    tree = ast.parse(source)
    for at, (node, change) in enumerate(_changes(tree)):
        if at == number:
            changed = ast.copy_location(change(copy.deepcopy(node)), node)
            return ast.fix_missing_locations(_Replace(node, changed).visit(tree))
    raise IndexError(f"there are fewer than {number + 1} changes")


class _Replace(ast.NodeTransformer):
    def __init__(self, node: ast.AST, changed: ast.AST) -> None:
        self.node, self.changed = node, changed

    def visit(self, node: ast.AST) -> ast.AST:
        return self.changed if node is self.node else self.generic_visit(node)


def _shown(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 70 else f"{text[:67]}..."


def _nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield nodes that run when the code does: no annotations, docstrings, stubs and messages."""
    yield node
    for name, value in ast.iter_fields(node):
        if name in _UNTOUCHED:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not _skipped(child):
                yield from _nodes(child)


def _skipped(node: ast.AST) -> bool:
    if isinstance(node, ast.Raise):  # what it says is not behavior; that it raises is its `if`
        return True
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "warnings.warn":
        return True
    if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
        return True
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def _changes(tree: ast.Module) -> Iterator[tuple[Any, _Change]]:
    """Yield the nodes of all functions, with a function that changes a copy of each."""
    for function in _functions(tree):
        lines = [line for line in function.body if not _skipped(line)]
        for node in (each for line in lines for each in _nodes(line)):
            yield from ((node, change) for change in _of(node))


def _functions(tree: ast.AST) -> Iterator[ast.FunctionDef]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            yield node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node)


def _of(node: ast.AST) -> Iterator[_Change]:
    match node:
        case ast.Compare():
            yield from (partial(_operator, at=at) for at in range(len(node.ops)))
        case ast.BinOp() | ast.AugAssign() if type(node.op) in _COMPUTED and not _text(node):
            yield _computed
        case ast.BoolOp():
            yield _connected
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert()):
            yield lambda new: new.operand
        case ast.Constant(value=bool() | int() | float()):
            yield _constant
        case ast.If() | ast.IfExp() | ast.While():
            yield _negated
        case ast.Attribute() if node.attr in _NAMES:
            yield _renamed
        case ast.Return() if node.value is not None and not _is_none(node.value):
            yield _returned_none
        case ast.Expr(value=ast.Call()) if not _skipped(node.value):
            yield lambda new: ast.Pass()
        case ast.Call():
            named = (at for at, given in enumerate(node.keywords) if given.arg is not None)
            yield from (partial(_without_keyword, at=at) for at in named)


def _text(node: ast.BinOp | ast.AugAssign) -> bool:
    """Whether an operator joins text or types."""
    parts = [node.value] if isinstance(node, ast.AugAssign) else [node.left, node.right]
    if any(isinstance(part, ast.JoinedStr) or _is_none(part) for part in parts):
        return True
    return any(isinstance(part, ast.Constant) and isinstance(part.value, str) for part in parts)


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _operator(new: ast.Compare, at: int) -> ast.AST:
    new.ops[at] = _COMPARED[type(new.ops[at])]()
    return new


def _computed(new: ast.BinOp | ast.AugAssign) -> ast.AST:
    new.op = _COMPUTED[type(new.op)]()
    return new


def _connected(new: ast.BoolOp) -> ast.AST:
    new.op = ast.Or() if isinstance(new.op, ast.And) else ast.And()
    return new


def _constant(new: ast.Constant) -> ast.AST:
    held = new.value
    return ast.Constant(not held if isinstance(held, bool) else held + 1)


def _negated(new: ast.If | ast.IfExp | ast.While) -> ast.AST:
    new.test = ast.UnaryOp(ast.Not(), new.test)
    return new


def _renamed(new: ast.Attribute) -> ast.AST:
    new.attr = _NAMES[new.attr]
    return new


def _returned_none(new: ast.Return) -> ast.AST:
    new.value = ast.Constant(None)
    return new


def _without_keyword(new: ast.Call, at: int) -> ast.AST:
    del new.keywords[at]
    return new
