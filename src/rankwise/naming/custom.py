"""Objectives of your own wherever a name is taken."""

from __future__ import annotations

import copy
import inspect
import weakref
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import Any, TypeVar

from torch import nn

from rankwise._grammar import parse
from rankwise.naming.copies import Copies
from rankwise.naming.lookup import objective as objective_of_name
from rankwise.naming.registry import OBJECT, REGISTRY, entry_of
from rankwise.naming.table import find_metric, own_objective, read

Made = TypeVar("Made", bound=Callable[..., Any])


def register(
    name: str, objective: Made, *, metric: str | None = None, use: str = "Registered by you."
) -> Made:
    """Register an objective of your own under a name.

    The name is then accepted wherever one is: by :func:`rankwise.objective`, estimators, boosters
    and settings, with the arguments of the constructor as options: ``"my_loss(margin=2)"``. It is
    registered for this process; registering a name again replaces it. A package that registers it
    for everyone who installs it declares an entry point of the group ``rankwise.objectives``
    instead. On the command line, ``--objective module:MyLoss`` needs no registration.

    Args:
        name: One word of letters, digits, ``_`` and ``-``; not that of an objective of rankwise.
        objective: Class of the objective, a function that returns one, or one objective, which is
            copied for every use. ``prior``, ``num_items`` and ``num_lists`` are passed where the
            constructor has arguments of these names.
        metric: Name of the metric that models trained on it are evaluated by. None: the attribute
            ``metric`` of the objective, or else ``"ap"``.
        use: When to use it, one sentence for ``rankwise objectives``.

    Returns:
        The objective as it was given.

    Raises:
        ValueError: For a name that cannot be read or belongs to rankwise, a class that is not an
            ``nn.Module``, or an unknown metric.

    Example:
        >>> import torch
        >>> import rankwise
        >>> from rankwise.objectives import XRisk
        >>> class LogAUC(XRisk):
        ...     def __init__(self, margin: float = 1.0) -> None:
        ...         super().__init__(f"squared_hinge({margin})", torch.log1p)
        >>> _ = rankwise.register("log_auc", LogAUC, metric="auc")
        >>> loss = rankwise.objective("log_auc(margin=2.0)")
        >>> loss(torch.tensor([0.0, 0.0]), torch.tensor([1, 0]))  # log(1 + 2²)
        tensor(1.6094)
    """
    spec = parse(name)
    if str(spec) != spec.name or ":" in name:
        raise ValueError(f'name must be one word without options, got "{name}"')
    if own_objective(spec) is not None:
        raise ValueError(f'"{name}" is an objective of rankwise; register yours under another name')
    made_by: Callable[..., Any] = (
        Copies(objective) if isinstance(objective, nn.Module) else objective
    )
    if not callable(made_by):
        raise ValueError(f"objective must be a class or an objective, got {objective!r}")
    if inspect.isclass(objective) and not issubclass(objective, nn.Module):
        raise ValueError(
            f"objective must be a subclass of nn.Module, got the class {objective.__name__}; derive"
            " it from rankwise.objectives.Objective, or pass a function that returns an objective"
        )
    if metric is not None:
        find_metric(read(metric))
    try:
        entry = entry_of(name, made_by, metric=metric, use=use)
    except (TypeError, ValueError) as error:  # a function of C, whose arguments nobody knows
        raise ValueError(
            f"objective must be a class, an objective or a Python function that returns one, got "
            f"{objective!r}"
        ) from error
    REGISTRY.add(entry)
    return objective


_NAMES: weakref.WeakKeyDictionary[nn.Module, str] = weakref.WeakKeyDictionary()
_NUMBERS = count(1)


def name_of(objective: str | nn.Module) -> str:
    """Return a name of an objective: itself, what its ``repr`` says, or one made for it.

    Args:
        objective: A name, or an objective.

    Returns:
        A name that :func:`rankwise.objective` reads in this process.

    Raises:
        ValueError: For anything else, such as a class.

    Example:
        >>> from rankwise.naming import name_of
        >>> from rankwise.objectives import PartialAUC
        >>> name_of("ap"), name_of(PartialAUC(max_fpr=0.1))
        ('ap', 'PartialAUC(max_fpr=0.1)')
    """
    if isinstance(objective, str):
        return objective
    if not isinstance(objective, nn.Module):
        made = f"; pass {objective.__name__}(…)" if inspect.isclass(objective) else ""
        raise ValueError(
            f"objective must be a name such as 'ap', or an objective, got {objective!r}{made}"
        )
    if objective not in _NAMES:
        _NAMES[objective] = repr(objective) if _reads_back(objective) else _registered(objective)
    return _NAMES[objective]


def _reads_back(objective: nn.Module) -> bool:
    if objective.state_dict():  # a memory or parameters, which the name would not have
        return False
    try:
        return type(objective_of_name(repr(objective))) is type(objective)
    except ValueError:
        return False


def _registered(objective: nn.Module) -> str:
    """Register a copy, which is removed with the objective."""
    name = f"{type(objective).__name__}{OBJECT}{next(_NUMBERS)}"
    REGISTRY.add(replace(entry_of(name, Copies(copy.deepcopy(objective))), listed=False))
    weakref.finalize(objective, REGISTRY.remove, name)
    return name
