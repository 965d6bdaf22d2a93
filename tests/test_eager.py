"""``torch.compile`` around code that has to run in eager mode."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest
import torch
from tests.compiling import quiet_compiler, watched

from rankwise.eager import eager_only
from rankwise.objectives import SOPRC, AveragePrecision

TARGET = torch.arange(64) < 16


def test_fullgraph_gives_the_reason():
    # In a process of its own: after another compilation torch skips the call without a reason.
    code = """
import torch
from rankwise.objectives import AveragePrecision
loss = torch.compile(AveragePrecision(), fullgraph=True, backend="eager")
try:
    loss(torch.rand(64), torch.arange(64) < 16)
except torch._dynamo.exc.Unsupported as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "in eager mode" in done.stdout
    assert "compile the model alone, or the training step without fullgraph=True" in done.stdout


def test_fullgraph_is_refused_whatever_was_compiled_before():
    loss = AveragePrecision()
    with watched(), pytest.raises(torch._dynamo.exc.Unsupported, match="in eager mode") as told:
        torch.compile(lambda x: loss(x.sin(), TARGET), fullgraph=True, backend="eager")(
            torch.rand(64)
        )
    assert "compile the model alone, or the training step without fullgraph=True" in str(told.value)
    with watched(), pytest.raises(RuntimeError, match="fullgraph=True"):
        torch.compile(loss, fullgraph=True, backend="eager")(torch.rand(64), TARGET)


def test_what_it_runs_is_not_traced_nor_what_that_calls():
    traced = []

    def inner(x):
        traced.append(torch.compiler.is_dynamo_compiling())
        return x.sum().item() * x

    @eager_only
    def outer(x, *, times):
        """Documented."""
        return inner(x) * times

    with watched() as seen:
        compiled = torch.compile(lambda x: outer(x + 1, times=2) - 1, backend="eager")
        assert compiled(torch.ones(3)).tolist() == [23.0] * 3
        assert seen.counts() == (2, 2)  # x + 1 before it and - 1 behind it
    assert traced == [False]
    assert (outer.__name__, outer.__doc__) == ("outer", "Documented.")


@quiet_compiler
def test_many_losses_and_many_sizes_compile_the_model_alone():
    """Above eight versions of a function the compiler gives up on it, with a warning."""
    weight = torch.zeros(64).requires_grad_()

    def step(loss, x, target):
        value = loss((x * weight[: len(x)]).sin(), target)
        value.backward()
        return value

    with watched() as seen:
        for number in range(12):
            loss = SOPRC(0.1) if number % 2 else AveragePrecision()
            compiled = torch.compile(step, backend="eager", dynamic=True)
            for size in (64, 60 - number, 40 + number):
                compiled(loss, torch.rand(size), TARGET[:size])
        graphs, operations = seen.counts()
        assert operations == 3 * graphs  # slice, product and sine; nothing of the loss
        assert seen.messages == []


def test_the_compiler_is_not_imported_before_somebody_compiles():
    code = """
import sys, torch
from rankwise.objectives import AveragePrecision
scores = torch.rand(8, requires_grad=True)
AveragePrecision()(scores, torch.arange(8) < 3).backward()
assert "torch._dynamo" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@quiet_compiler
@pytest.mark.skipif(shutil.which("g++") is None, reason="code cannot be made without a compiler")
def test_a_training_step_compiled_to_code_trains_as_the_plain_one():
    torch.manual_seed(0)
    x, ends = torch.randn(64, 4), []
    model = torch.nn.Sequential(torch.nn.Linear(4, 1), torch.nn.Flatten(0))
    start = {name: value.clone() for name, value in model.state_dict().items()}
    with watched() as seen:
        for compile_it in (torch.compile, lambda step: step):
            model.load_state_dict(start)
            loss = SOPRC(0.25)

            @compile_it
            def forward(x, loss=loss):
                return loss(model(x), TARGET)

            for _ in range(3):
                model.zero_grad()
                forward(x).backward()
                with torch.no_grad():
                    for parameter in model.parameters():
                        parameter.sub_(0.1 * parameter.grad)
            ends.append([p.detach().clone() for p in model.parameters()])
        assert seen.messages == []
    for mine, plain in zip(*ends, strict=True):
        torch.testing.assert_close(mine, plain)
