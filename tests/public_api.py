"""The public packages and their names; ``python -m tests.public_api`` writes the list."""

from __future__ import annotations

import inspect
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

LIST = Path(__file__).parent / "public_api.txt"
FAMILIES = (
    *("ap", "auc", "contrastive", "detection", "listwise", "ndcg", "operating_point"),
    *("partial_auc", "top"),
)
NAMES = (
    "rankwise",
    "rankwise.baselines",
    "rankwise.boosting",
    "rankwise.data",
    "rankwise.data.detection",
    "rankwise.data.images",
    "rankwise.data.interactions",
    "rankwise.data.letor",
    "rankwise.distributed",
    "rankwise.estimators",
    "rankwise.functional",
    "rankwise.lists",
    "rankwise.memory",
    "rankwise.metrics",
    "rankwise.naming",
    "rankwise.objectives",
    *(f"rankwise.objectives.{family}" for family in FAMILIES),
    "rankwise.pairs",
    "rankwise.retrieval",
    "rankwise.samplers",
    "rankwise.serving",
    "rankwise.text",
    "rankwise.theory",
    "rankwise.training",
    "rankwise.vision",
)
PACKAGES = [name for name in NAMES if find_spec(name) is not None]


def describe(package: str, name: str) -> str:
    """One line for a public name: its kind, its path, and the parameters it is called with."""
    value, path = getattr(import_module(package), name), f"{package}.{name}"
    if isinstance(value, ModuleType):
        return f"{path}: module"
    if not callable(value) or (not inspect.isroutine(value) and not inspect.isclass(value)):
        return f"{path}: {type(value).__name__}"
    kind = "class" if inspect.isclass(value) else "function"
    try:
        signature = inspect.signature(value)
    except ValueError:  # built into the interpreter
        return f"{path}: {kind}"
    parameters = [_without_type(parameter) for parameter in signature.parameters.values()]
    shown = str(signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty))
    return f"{path}: {kind}{shown}"


class _Shown:
    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _without_type(parameter: inspect.Parameter) -> inspect.Parameter:
    parameter = parameter.replace(annotation=inspect.Parameter.empty)
    if " at 0x" in repr(parameter.default):  # an address, another one in every process
        return parameter.replace(default=_Shown("..."))
    return parameter


def current() -> list[str]:
    """The lines of all public names, by package and then by name."""
    return [
        describe(package, name)
        for package in PACKAGES
        for name in sorted(import_module(package).__all__)
    ]


if __name__ == "__main__":
    LIST.write_text("".join(f"{line}\n" for line in current()))
