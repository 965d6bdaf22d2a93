"""Sums over pairs compiled by numba: speed, growth with the list, threads.

Processor time, the least of several runs taken in turns: a busy machine changes it least.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from benchmarks.pairs import fitted_exponent, forward_backward, one_thread, split
from benchmarks.timing import Result, least_processor_seconds
from torch import Tensor

from rankwise.pairs import OneSidedHuber, Sigmoid
from rankwise.pairs.surrogates.base import PiecewisePolynomial, Polynomials

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
THREADS = 2


@dataclass(frozen=True)
class CubedHinge(PiecewisePolynomial):
    """(1 − x)₊³, for a power that has no surrogate of ours."""

    def value(self, x: Tensor) -> Tensor:
        return (1 - x).clamp_min(0) ** 3

    def polynomials(self) -> Polynomials:
        return (-math.inf, (1.0, -3.0, 3.0, -1.0)), (1.0, ())


def speed() -> Iterator[Result]:
    """One thread, against ``np.sort`` of the same scores and against the engine of torch."""
    limits = {(6, 0.05): "<= 1.2", (6, 0.5): "<= 2.5", (7, 0.05): "<= 2"}
    with one_thread():
        for (digits, positives), limit in limits.items():
            torch.manual_seed(0)
            scores = torch.randn(10**digits)
            sides, surrogate = split(scores, positives), OneSidedHuber(0.1)
            ours, theirs, sort = least_processor_seconds(
                [
                    forward_backward(surrogate, *sides, method="compiled"),
                    forward_backward(surrogate, *sides, method="sorted"),
                    partial(np.sort, scores.numpy()),
                ],
                7 if digits < 7 else 3,
            )
            detail = {"ms": 1e3 * ours, "torch_ms": 1e3 * theirs, "np_sort_ms": 1e3 * sort}
            what = f"{surrogate} compiled, 10^{digits} scores, {positives:.0%} positive"
            yield Result(f"{what}, forward + backward", ours / sort, "× np.sort", limit, detail)
            yield Result(f"{what}: compiled against torch", theirs / ours, "× faster", "", detail)


def growth() -> Iterator[Result]:
    """Fitted exponents from 10⁴ to 10⁷ scores, and that of ``np.sort``."""
    surrogates = OneSidedHuber(0.1), Sigmoid(1.0)
    times: dict[str, list[float]] = {}
    with one_thread():
        for n in SIZES:
            torch.manual_seed(0)
            scores = torch.randn(n)
            calls: dict[str, Callable[[], object]] = {
                f"{surrogate} compiled": forward_backward(
                    surrogate, *split(scores), method="compiled"
                )
                for surrogate in surrogates
            }
            calls["np.sort"] = partial(np.sort, scores.numpy())
            taken = least_processor_seconds(list(calls.values()), 15 if n < 1_000_000 else 3)
            for name, seconds in zip(calls, taken, strict=True):
                times.setdefault(name, []).append(1e3 * seconds)
    limits = {f"{surrogates[0]} compiled": "<= 1.1"}
    for name, taken in times.items():
        detail = {"scores": SIZES, "ms": taken}
        what = f"{name}, growth from 10⁴ to 10⁷ scores: fitted exponent"
        yield Result(what, fitted_exponent(SIZES, taken), "", limits.get(name, ""), detail)


def powers() -> Iterator[Result]:
    """A power beyond x², against that of torch and against x²."""
    torch.manual_seed(0)
    sides = split(torch.randn(1_000_000))
    with one_thread():
        ours, theirs, square = least_processor_seconds(
            [
                forward_backward(CubedHinge(), *sides, method="compiled"),
                forward_backward(CubedHinge(), *sides, method="sorted"),
                forward_backward(OneSidedHuber(0.1), *sides, method="compiled"),
            ],
            5,
        )
    detail = {"ms": 1e3 * ours, "torch_ms": 1e3 * theirs, "huber_ms": 1e3 * square}
    name = "(1 − x)₊³ compiled, 10⁶ scores, 5 % positive"
    yield Result(f"{name}: compiled against torch", theirs / ours, "× faster", ">= 1", detail)
    yield Result(f"{name}: against one-sided Huber", ours / square, "×", "", detail)


def threads() -> Iterator[Result]:
    """Two threads against one: elapsed time on two idle cores, and processor time on any."""
    torch.manual_seed(0)
    long, short = torch.randn(10_000_000), torch.randn(100_000, 10)
    for what, scores, positives in (
        ("one list of 10⁷ scores, 5 % positive", long, 0.05),
        ("one list of 10⁷ scores, 50 % positive", long, 0.5),
        ("10⁵ lists of 10 scores", short, 0.5),
    ):
        run = forward_backward(OneSidedHuber(0.1), *split(scores, positives), method="compiled")
        elapsed: dict[int, float] = {}
        worked: dict[int, float] = {}
        before = torch.get_num_threads()
        for number in (1, THREADS) * 4:
            torch.set_num_threads(number)
            start, processor = time.perf_counter(), time.process_time()
            run()
            taken = time.perf_counter() - start, time.process_time() - processor
            elapsed[number] = min(elapsed.get(number, math.inf), taken[0])
            worked[number] = min(worked.get(number, math.inf), taken[1])
        torch.set_num_threads(before)
        detail = {"threads": THREADS, "elapsed_s": elapsed, "processor_s": worked}
        name = f"OneSidedHuber compiled, {what}, {THREADS} threads"
        yield Result(name, elapsed[1] / elapsed[THREADS], "× faster than one", "", detail)
        more = worked[THREADS] / worked[1]
        yield Result(f"{name}: processor time", more, "× that of one", "", detail)


ALL = [speed, growth, powers, threads]
