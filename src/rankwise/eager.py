"""Functions that ``torch.compile`` leaves to Python."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar

import torch
from torch import Tensor

P = ParamSpec("P")
T = TypeVar("T")
C = TypeVar("C")

_REASON = (
    "rankwise sorts and counts lists in eager mode, which no single graph can hold; compile the "
    "model alone, or the training step without fullgraph=True"
)


def eager_only(function: Callable[P, T]) -> Callable[P, T]:
    """Run a function in eager mode wherever it is called from, also from compiled code.

    A compiled training step has one graph break where it calls the function. Were it traced, the
    sorting and the sizes that depend on labels would give dozens of graphs, made anew for most
    batches. It is ``torch.compiler.disable`` without its import of the compiler, which takes as
    long as that of torch itself: who does not compile does not wait for it.
    """

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        if "torch._dynamo" in sys.modules:
            return _disabled(function)(*args, **kwargs)
        return function(*args, **kwargs)

    return _marked(call)


class Context(Protocol[T]):
    """The first argument of ``forward`` and ``backward`` of an autograd function.

    ``kept`` is whatever ``forward`` keeps for ``backward`` that is no tensor.
    """

    needs_input_grad: tuple[bool, ...]
    kept: T

    @property
    def saved_tensors(self) -> tuple[Tensor, ...]:
        """The tensors of :meth:`save_for_backward`."""

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep tensors for the backward pass."""


class Function(torch.autograd.Function):
    """Autograd function of one result, with a type for its call."""

    if TYPE_CHECKING:

        @classmethod
        def apply(cls, *arguments: object) -> Tensor:
            """Call the function."""


def eager_backward(backward: Callable[Concatenate[C, P], T]) -> Callable[Concatenate[C, P], T]:
    """Run the backward pass of an autograd function in eager mode, and only for first gradients.

    Torch raises for a second one where the gradient that arrives has a graph. Where it is constant,
    as that of a sum, the second derivative would silently be zero.
    """
    once: Callable[..., T] = torch.autograd.function.once_differentiable(backward)

    @wraps(backward)
    def call(ctx: C, /, *gradients: P.args, **none: P.kwargs) -> T:
        if torch.is_grad_enabled():
            return once(ctx, *map(_with_graph, gradients), **none)
        return backward(ctx, *gradients, **none)

    return eager_only(call)


def _with_graph(gradient: object) -> object:
    if isinstance(gradient, Tensor) and not gradient.requires_grad:
        return gradient.detach().requires_grad_()
    return gradient


def _disabled(function: Callable[P, T]) -> Callable[P, T]:
    """The function under ``torch.compiler.disable``, made when there is a compiler."""
    made = _made.get(function)
    if made is None:
        # Nor are the functions of this module to be compiled. Without that they still work.
        if skip := getattr(torch._dynamo.decorators, "skip", None):
            skip(_wrapper)
            skip(_disabled)
        made = _made[function] = torch.compiler.disable(function)
    return made


def _marked(function: Callable[P, T]) -> Callable[P, T]:
    """The marks by which the compiler knows what not to trace, and why."""
    function._torchdynamo_disable = True  # type: ignore[attr-defined]
    function._torchdynamo_disable_msg = _REASON  # type: ignore[attr-defined]
    return function


_made: dict[Callable[..., Any], Callable[..., Any]] = {}
_marked(_disabled)
_wrapper = eager_only(lambda: None)  # all wrappers share its code
