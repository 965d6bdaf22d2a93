"""The pair-sum engine: speed against ``torch.sort`` of the same scores, growth, memory."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch
from benchmarks.timing import Result, measure_in_fresh_process, seconds_side_by_side
from torch import Tensor

from rankwise import single_precision
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
    sizes = [10_000, 100_000, 1_000_000, 10_000_000]
    for surrogate in (OneSidedHuber(0.1), Sigmoid(1.0)):
        times = []
        for n in sizes:
            torch.manual_seed(0)
            run = forward_backward(surrogate, *split(torch.randn(n)), method="exponential")
            times += seconds_side_by_side([run], 15 if n < 1_000_000 else 3)
        detail = {"scores": sizes, "ms": [1e3 * t for t in times]}
        name = f"{surrogate}, growth from 10⁴ to 10⁷ scores: fitted exponent"
        yield Result(name, fitted_exponent(sizes, times), "", "<= 1.15", detail)


def fitted_exponent(sizes: Sequence[int], times: Sequence[float]) -> float:
    x, y = [math.log(n) for n in sizes], [math.log(t) for t in times]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    products = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    return products / sum((a - mean_x) ** 2 for a in x)


def float32() -> Iterator[Result]:
    """Error of sorted sums under ``single_precision()`` against those in float64."""
    for surrogate in (OneSidedHuber(0.1), Logistic(1.0)):
        for digits in (4, 5, 6):
            torch.manual_seed(0)
            upper, lower = split(torch.randn(10**digits))
            precise = _sums_and_gradients(surrogate, upper, lower)
            with single_precision():
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


ALL = [one_list, log_sum_exp, many_lists, growth, float32, dense, memory]
