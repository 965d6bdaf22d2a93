"""Functions that ``torch.compile`` leaves to Python."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast

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

    ``kept`` is whatever ``forward`` keeps for ``backward`` that is not a tensor.
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

    @classmethod
    def apply(cls, *arguments: object) -> Tensor:
        """Call the function, without torch's preparations for torch.func, which is refused."""
        result: Tensor = super(torch.autograd.Function, cls).apply(*arguments)  # type: ignore[misc]
        return result


_FIRST_ONLY = (
    "this part of rankwise has first gradients only, and a second derivative of it was asked for; "
    "leave out create_graph=True, or take an objective that is twice_differentiable"
)


def eager_backward(backward: Callable[Concatenate[C, P], T]) -> Callable[Concatenate[C, P], T]:
    """Run the backward pass of an autograd function in eager mode, and only for first gradients.

    The function has to save its inputs. With ``create_graph=True`` its gradients become functions
    of them that raise when they are differentiated. Torch's ``once_differentiable`` connects them
    to nothing: a second derivative with respect to the inputs would silently be without them.
    """

    @wraps(backward)
    def call(ctx: C, /, *gradients: P.args, **none: P.kwargs) -> T:
        if not torch.is_grad_enabled():
            return backward(ctx, *gradients, **none)
        with torch.no_grad():
            found: Any = backward(ctx, *gradients, **none)
        saved: Any = ctx
        inputs = [t for t in saved.saved_tensors if t is not None and t.requires_grad]
        # A gradient that arrives may be constant, as that of a sum; then it is given a graph.
        inputs += [_with_graph(gradient) for gradient in gradients if isinstance(gradient, Tensor)]
        refused = tuple(None if t is None else refuse_second(t, *inputs) for t in found)
        return cast("T", refused)

    return eager_only(call)


def differentiable_backward(
    again: Callable[Concatenate[C, P], T],
) -> Callable[[Callable[Concatenate[C, P], T]], Callable[Concatenate[C, P], T]]:
    """Run a backward pass in eager mode; with ``create_graph=True`` run ``again`` in its place.

    ``again`` returns the same gradients as differentiable functions of the saved inputs.
    """

    def decorate(backward: Callable[Concatenate[C, P], T]) -> Callable[Concatenate[C, P], T]:
        @wraps(backward)
        def call(ctx: C, /, *gradients: P.args, **none: P.kwargs) -> T:
            chosen = again if torch.is_grad_enabled() else backward
            return chosen(ctx, *gradients, **none)

        return eager_only(call)

    return decorate


def gradients_of(
    function: Callable[..., Tensor],
    inputs: Sequence[Tensor | None],
    wanted: Sequence[bool],
    arriving: Tensor,
) -> tuple[Tensor | None, ...]:
    """Return the gradients of a function of tensors, themselves differentiable functions of them.

    Args:
        function: A function of ``inputs`` of torch's own operations.
        inputs: Its arguments.
        wanted: Whether the gradient of each of them is wanted.
        arriving: The gradient of its result.
    """
    # One input may be computed from another: each becomes a variable of its own.
    own = [None if t is None else t.view_as(t) for t in inputs]
    value = function(*own)
    chosen = [t for t, needed in zip(own, wanted, strict=True) if needed and t is not None]
    if value.requires_grad and chosen:
        found = iter(
            torch.autograd.grad(
                value,
                chosen,
                arriving.to(value.dtype),
                create_graph=True,
                allow_unused=True,
                materialize_grads=True,
            )
        )
    else:
        found = iter([torch.zeros_like(t) for t in chosen])
    return tuple(next(found) if needed else None for needed in wanted)


def refuse_second(gradient: Tensor, *inputs: Tensor, message: str = _FIRST_ONLY) -> Tensor:
    """Return a gradient whose derivative with respect to any of the inputs raises."""
    return _Refused.apply(message, gradient, *inputs)


class _Refused(Function):
    """The identity in its first tensor, connected to the others; its backward pass raises."""

    @staticmethod
    def forward(ctx: Context[str], message: str, gradient: Tensor, *inputs: Tensor) -> Tensor:
        ctx.kept = message
        return gradient.view_as(gradient)

    @staticmethod
    def backward(ctx: Context[str], *gradients: Tensor) -> tuple[Tensor | None, ...]:
        raise RuntimeError(ctx.kept)


def first_gradient_only(scores: Tensor, what: str) -> Tensor:
    """Return the same scores; a second derivative of what is computed from them raises.

    For a loss whose gradient holds parts of it constant. The derivative of such a gradient would
    be without them, and nothing would show it.
    """
    if not (torch.is_grad_enabled() and scores.requires_grad):
        return scores

    def refuse(gradient: Tensor) -> Tensor | None:
        if not torch.is_grad_enabled():  # no create_graph=True
            return None
        message = (
            f"{what} has first gradients only, since these hold a part of it constant, and a "
            "second derivative was asked for; leave out create_graph=True, or take an objective "
            "that is twice_differentiable, such as PairwiseAUC"
        )
        return refuse_second(gradient, scores, message=message)

    # A hook of torch's own node costs a third of an autograd function in Python.
    same = scores.view_as(scores)
    same.register_hook(refuse)
    return same


def _with_graph(gradient: Tensor) -> Tensor:
    return gradient if gradient.requires_grad else gradient.detach().requires_grad_()


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
