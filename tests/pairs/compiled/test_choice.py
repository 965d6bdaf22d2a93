"""When sums are compiled, and when numba is imported."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec

import pytest
import torch
from tests.compiling import quiet_compiler
from tests.pairs.cases import HIGHER

from rankwise.extras import MissingExtraError
from rankwise.pairs import OneSidedHuber, Sigmoid, pair_curvature, pair_sum
from rankwise.pairs._compiled.autograd import CompiledSum
from rankwise.pairs._compiled.choice import require_compiled
from rankwise.pairs.rows import Rows
from rankwise.pairs.surrogates import Surrogate

needs_numba = pytest.mark.skipif(
    find_spec("numba") is None, reason="the extra fast is not installed"
)


def imported(code: str, **environment: str) -> bool:
    """Whether a fresh process imports numba."""
    code = f"import sys, torch, rankwise\nfrom rankwise.pairs import *\n{code}\n"
    done = subprocess.run(
        [sys.executable, "-c", code + "print('numba' in sys.modules)"],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout == "True\n"


@needs_numba
def test_numba_is_imported_at_the_first_large_sum():
    assert not imported("pair_sum(Hinge(), torch.randn(50), torch.randn(2_000))")
    large = "pair_sum(Hinge(), torch.randn(5_000), torch.randn(20_000), method={!r})"
    assert not imported(large.format("auto"), RANKWISE_COMPILED="0")
    assert not imported(large.format("sorted"))
    assert imported(large.format("auto"))


@needs_numba
def test_other_devices_are_named():
    meta = torch.zeros(1, 3, device="meta")
    with pytest.raises(ValueError, match=r"scores on the CPU.*on meta; use another method"):
        require_compiled(Rows(meta, meta, None))


@needs_numba
def test_more_scores_than_32_bit_places_are_summed_by_torch(monkeypatch):
    monkeypatch.setattr("rankwise.pairs._compiled.choice._MOST", 8_999)
    upper, lower = torch.randn(300), torch.randn(9_000)
    with pytest.raises(ValueError, match=r"fewer than 2³¹ a side.*got 300 and 9000 scores"):
        pair_sum(OneSidedHuber(), upper, lower, method="compiled")
    found = pair_sum(OneSidedHuber(), upper, lower)
    assert torch.equal(found, pair_sum(OneSidedHuber(), upper, lower, method="sorted"))


@needs_numba
def test_switched_off(monkeypatch):
    monkeypatch.setenv("RANKWISE_COMPILED", "0")
    upper, lower = torch.randn(300), torch.randn(9_000)
    with pytest.raises(ValueError, match="switched off"):
        pair_sum(OneSidedHuber(), upper, lower, method="compiled")
    off = pair_sum(OneSidedHuber(), upper, lower)
    assert torch.equal(off, pair_sum(OneSidedHuber(), upper, lower, method="sorted"))


def test_without_numba_the_extra_is_named(monkeypatch):
    monkeypatch.setattr("rankwise.extras.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r'rankwise.pairs needs numba.*"rankwise\[fast\]"'):
        pair_sum(OneSidedHuber(), torch.zeros(3), torch.zeros(3), method="compiled")


@needs_numba
@pytest.mark.parametrize("surrogate", [OneSidedHuber(0.5), *HIGHER], ids=str)
def test_curvature_of_many_scores(surrogate: Surrogate):
    torch.manual_seed(0)
    upper, lower = torch.randn(200, dtype=torch.float64), torch.randn(9_000, dtype=torch.float64)
    expected = surrogate.curvature(upper[:, None] - lower).sum(-1)
    torch.testing.assert_close(pair_curvature(surrogate, upper, lower), expected)


@needs_numba
@quiet_compiler
@pytest.mark.filterwarnings("ignore:Dynamo detected a call to a `functools.lru_cache`")
@pytest.mark.parametrize("shape", [(9_000,), (900, 10)])
def test_a_compiled_step_runs_it_in_eager_mode(shape):
    torch.manual_seed(0)
    upper, lower = (torch.randn(shape, requires_grad=True) for _ in range(2))

    def step(upper, lower):
        return pair_sum(OneSidedHuber(0.5), 2 * upper, lower, method="compiled").mean() + 1

    found = torch.compile(step, backend="eager")(upper, lower)
    torch.testing.assert_close(found, step(upper, lower))
    found.backward()
    assert upper.grad is not None


@needs_numba
@pytest.mark.parametrize(("length", "calls"), [(4, 0), (400, 1)])
def test_short_flat_lists_of_exponentials_are_summed_by_pairs(monkeypatch, length, calls):
    made = []
    apply = CompiledSum.apply
    monkeypatch.setattr(CompiledSum, "apply", lambda *given: made.append(1) or apply(*given))
    generator = torch.Generator().manual_seed(0)
    upper, lower = torch.randn(2, 8_000, generator=generator)
    groups = torch.arange(8_000 // length).repeat(length)
    given = {"upper_groups": groups, "lower_groups": groups}
    found = pair_sum(Sigmoid(3.0), upper, lower, **given)
    assert len(made) == calls
    expected = pair_sum(Sigmoid(3.0), upper, lower, **given, method="dense")
    assert torch.allclose(found, expected, rtol=1e-5, atol=1e-6)
