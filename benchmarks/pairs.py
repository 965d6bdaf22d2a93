"""The pair-sum engine: speed against ``torch.sort`` of the same scores, growth, memory."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from unittest.mock import patch

import numpy as np
import torch
from benchmarks.timing import Result, measure_in_fresh_process, seconds_side_by_side
from torch import Tensor

from rankwise.pairs import (
    BarrierHinge,
    Exponential,
    Hinge,
    Logistic,
    OneSidedHuber,
    OneSidedSigmoid,
    Sigmoid,
    Square,
    SquaredHinge,
    Surrogate,
    pair_logsumexp,
    pair_sum,
)
from rankwise.pairs._engine import autograd as engine
from rankwise.pairs.sums import Method

RATE = 0.05  # share of positives


def forward_backward(
    surrogate: Surrogate, upper: Tensor, lower: Tensor, method: Method = "auto", **groups: Tensor
) -> Callable[[], object]:
    upper, lower = upper.clone().requires_grad_(), lower.clone().requires_grad_()

    def run() -> None:
        upper.grad = lower.grad = None
        pair_sum(surrogate, upper, lower, method=method, **groups).sum().backward()

    return run


@contextmanager
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def split(scores: Tensor, positives: float = RATE) -> tuple[Tensor, Tensor]:
    n_positive = int(positives * scores.shape[-1])
    return scores[..., :n_positive] + 1, scores[..., n_positive:]


def one_list() -> Iterator[Result]:
    torch.manual_seed(0)
    scores = torch.randn(1_000_000)
    limits: dict[Surrogate, str] = {
        OneSidedHuber(0.1): "<= 2.5",
        SquaredHinge(1.0): "<= 2.5",
        Hinge(1.0): "<= 2.5",
        Sigmoid(1.0): "<= 20",
        OneSidedSigmoid(0.1): "<= 20",
        Logistic(1.0): "<= 20",
        BarrierHinge(2.0, 1.0): "",
        Square(1.0): "",
        Exponential(1.0): "",
    }
    for surrogate, limit in limits.items():
        ours, sort = seconds_side_by_side(
            [forward_backward(surrogate, *split(scores)), lambda: torch.sort(scores)], 7
        )
        detail = {"scores": len(scores), "positives": RATE, "ms": 1e3 * ours, "sort_ms": 1e3 * sort}
        name = f"{surrogate}, 10⁶ scores, forward + backward"
        yield Result(name, ours / sort, "× torch.sort", limit, detail)


def log_sum_exp() -> Iterator[Result]:
    torch.manual_seed(0)
    scores = torch.randn(1_000_000)
    upper, lower = (side.clone().requires_grad_() for side in split(scores))
    for surrogate in (Hinge(1.0), SquaredHinge(1.0), Square(1.0), Logistic(1.0)):

        def run(surrogate: Surrogate = surrogate) -> None:
            upper.grad = lower.grad = None
            pair_logsumexp(surrogate, upper, lower).sum().backward()

        ours, sort = seconds_side_by_side([run, lambda: torch.sort(scores)], 7)
        detail = {"scores": len(scores), "positives": RATE, "ms": 1e3 * ours, "sort_ms": 1e3 * sort}
        name = f"pair_logsumexp of {surrogate}, 10⁶ scores, forward + backward"
        yield Result(name, ours / sort, "× torch.sort", "", detail)


def many_lists() -> Iterator[Result]:
    torch.manual_seed(0)
    scores = torch.randn(1024, 1024)
    for surrogate, limit in ((OneSidedHuber(0.1), "<= 4"), (Sigmoid(10.0), "")):
        ours, sort = seconds_side_by_side(
            [forward_backward(surrogate, *split(scores)), lambda: torch.sort(scores)], 7
        )
        detail = {"lists": 1024, "scores": 1024, "ms": 1e3 * ours, "sort_ms": 1e3 * sort}
        name = f"{surrogate}, 1 024 lists of 1 024 scores, forward + backward"
        yield Result(name, ours / sort, "× torch.sort", limit, detail)


def growth() -> Iterator[Result]:
    yield from _growth("exponential", {OneSidedHuber(0.1): "<= 1.15", Sigmoid(1.0): "<= 1.15"})


def _growth(method: Method, limits: dict[Surrogate, str]) -> Iterator[Result]:
    sizes = [10_000, 100_000, 1_000_000, 10_000_000]
    how = " compiled" if method == "compiled" else ""
    for surrogate, limit in limits.items():
        times = []
        for n in sizes:
            torch.manual_seed(0)
            run = forward_backward(surrogate, *split(torch.randn(n)), method=method)
            times += seconds_side_by_side([run], 15 if n < 1_000_000 else 3)
        exponent = _slope([math.log(n) for n in sizes], [math.log(t) for t in times])
        detail = {"scores": sizes, "ms": [1e3 * t for t in times]}
        name = f"{surrogate}{how}, growth from 10⁴ to 10⁷ scores: fitted exponent"
        yield Result(name, exponent, "", limit, detail)


def compiled() -> Iterator[Result]:
    """With numba, on one thread, against ``np.sort`` of the same scores."""
    surrogate, limits = (
        OneSidedHuber(0.1),
        {(6, 0.05): "<= 1.2", (6, 0.5): "<= 2.5", (7, 0.05): "<= 2"},
    )
    with one_thread():
        for (digits, positives), limit in limits.items():
            torch.manual_seed(0)
            scores = torch.randn(10**digits)
            array, sides = scores.numpy(), split(scores, positives)
            ours, theirs, sort = seconds_side_by_side(
                [
                    forward_backward(surrogate, *sides, method="compiled"),
                    forward_backward(surrogate, *sides, method="sorted"),
                    partial(np.sort, array),
                ],
                7 if digits < 7 else 3,
            )
            detail = {"ms": 1e3 * ours, "torch_ms": 1e3 * theirs, "np_sort_ms": 1e3 * sort}
            what = f"{surrogate} compiled, 10^{digits} scores, {positives:.0%} positive"
            yield Result(f"{what}, forward + backward", ours / sort, "× np.sort", limit, detail)
            yield Result(f"{what}: compiled against torch", theirs / ours, "× faster", "", detail)
        yield from _growth("compiled", {OneSidedHuber(0.1): "<= 1.1", Sigmoid(1.0): ""})


def ragged() -> Iterator[Result]:
    """10⁵ lists of 10 scores, flat with group ids against rectangles."""
    torch.manual_seed(0)
    upper, lower = (torch.randn(100_000, 5) for _ in range(2))
    ids = torch.arange(100_000).repeat_interleave(5)
    groups = {"upper_groups": ids, "lower_groups": ids}
    methods: tuple[Method, ...] = ("auto", "exponential")
    with one_thread():
        for surrogate in (OneSidedHuber(0.1), Sigmoid(10.0)):
            for method in methods:
                flat, rectangles = seconds_side_by_side(
                    [
                        forward_backward(
                            surrogate, upper.reshape(-1), lower.reshape(-1), method, **groups
                        ),
                        forward_backward(surrogate, upper, lower, method),
                    ],
                    5,
                )
                detail = {"flat_ns": 1e3 * flat, "rectangles_ns": 1e3 * rectangles}
                name = f"{surrogate}, 10⁵ lists of 10 scores, flat with groups, {method}"
                yield Result(name, flat / rectangles, "× rectangles", "<= 2", detail)


def _slope(x: list[float], y: list[float]) -> float:
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    products = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    return products / sum((a - mean_x) ** 2 for a in x)


def float32() -> Iterator[Result]:
    """Error of sorted sums in float32, as on devices without float64, against those in float64."""
    for surrogate in (OneSidedHuber(0.1), Logistic(1.0)):
        for digits in (4, 5, 6):
            torch.manual_seed(0)
            upper, lower = split(torch.randn(10**digits))
            precise = _sums_and_gradients(surrogate, upper, lower)
            with patch.object(engine, "accumulating", Tensor.float):
                rough = _sums_and_gradients(surrogate, upper, lower)
            for what, exact, found in zip(("sum", "gradient"), precise, rough, strict=True):
                error = float((found - exact).abs().max() / exact.abs().max())
                name = f"{surrogate}, 10^{digits} scores, {what} in float32: error / largest value"
                yield Result(name, error, "", "<= 1e-5", {"scores": 10**digits, "positives": RATE})


def _sums_and_gradients(surrogate: Surrogate, upper: Tensor, lower: Tensor) -> list[Tensor]:
    """Sums of every upper, and the gradient of their mean in all lowers, in float64."""
    lower = lower.clone().requires_grad_()
    sums = pair_sum(surrogate, upper, lower, method="exponential")
    (gradient,) = torch.autograd.grad(sums.mean(), lower)
    return [sums.detach().double(), gradient.double()]


def dense() -> Iterator[Result]:
    torch.manual_seed(0)
    scores, surrogate = torch.randn(20_000), OneSidedHuber(0.1)
    for positives in (0.5, RATE):
        cut = int(positives * len(scores))
        upper, lower = (t.clone().requires_grad_() for t in (scores[:cut], scores[cut:]))

        def matrix(upper: Tensor = upper, lower: Tensor = lower) -> None:
            upper.grad = lower.grad = None
            surrogate.value(upper[:, None] - lower).sum().backward()

        ours, theirs = seconds_side_by_side([forward_backward(surrogate, upper, lower), matrix], 3)
        detail = {"scores": len(scores), "ms": 1e3 * ours, "matrix_ms": 1e3 * theirs}
        name = f"{surrogate}, 2·10⁴ scores, {positives:.0%} positive, against the n⁺×n⁻ matrix"
        limit = ">= 100" if positives == 0.5 else ""
        yield Result(name, theirs / ours, "× faster", limit, detail)


def memory() -> Iterator[Result]:
    for name in ("OneSidedHuber", "Sigmoid"):
        for n in (1_000_000, 10_000_000):
            n_upper = int(RATE * n)
            arguments = (name, "1", str(n_upper), str(n - n_upper))
            measured = measure_in_fresh_process("benchmarks.pair_memory", *arguments)
            per_score = measured["extra"] / measured["scores"]
            label = f"{name}, {n:.0e} scores: peak extra memory".replace("e+0", "0^")
            yield Result(label, per_score, "bytes a score", "<= 400", measured)
    measured = measure_in_fresh_process(
        "benchmarks.pair_memory", "OneSidedHuber", "8192", "410", "7782"
    )
    beyond = (measured["extra"] - 4 * measured["scores"]) / 2**20  # the gradient is float32
    yield Result(
        "OneSidedHuber, 8 192 lists of 8 192 scores: peak memory beyond input and gradient",
        beyond,
        "MB",
        "<= 512",
        measured,
    )


ALL = [one_list, log_sum_exp, many_lists, growth, compiled, ragged, float32, dense, memory]
