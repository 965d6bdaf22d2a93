"""Peak memory of one forward and backward pass, alone in a process: see ``pairs.memory``."""

from __future__ import annotations

import json
import sys

import torch
from benchmarks.memory import peak_bytes_of

from rankwise.pairs import pair_sum, surrogates


def main(surrogate: str, rows: str, n_upper: str, n_lower: str) -> None:
    torch.manual_seed(0)
    loss = getattr(surrogates, surrogate)(1.0)
    shape = (int(rows),) if int(rows) > 1 else ()
    upper = torch.randn(*shape, int(n_upper), requires_grad=True)
    lower = torch.randn(*shape, int(n_lower), requires_grad=True)
    # A small pass first: what libraries load on first use is not the engine's.
    warm = torch.randn(100, requires_grad=True)
    pair_sum(loss, warm, warm).sum().backward()
    extra = peak_bytes_of(lambda: pair_sum(loss, upper, lower).sum().backward())
    assert upper.grad is not None
    assert lower.grad is not None
    print(json.dumps({"extra": extra, "scores": upper.numel() + lower.numel()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
