"""Lemmas 3 and 8 and Theorem 1 of StableAP over random lists, and Theorem 1 as printed."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from rankwise.pairs import Hinge, Logistic, OneSidedHuber, SquaredHinge, Surrogate
from rankwise.theory import (
    Inequality,
    stable_ap_lemma_3,
    stable_ap_lemma_8,
    stable_ap_q,
    stable_ap_theorem_1,
)

WIDTH = 2.0  # of scores in [−1, 1]
SURROGATES: tuple[Surrogate, ...] = (
    OneSidedHuber(0.1),
    OneSidedHuber(1.0),
    Hinge(1.0),
    SquaredHinge(1.0),
    Logistic(1.0),  # log 2 at 0: not at least ℓ₀₁, as Theorem 1 assumes
)
EPSILONS = (0.01, 0.1, 0.5, 1.0)
_ROUND = 200  # lists of one shape


@dataclass(frozen=True)
class Tested:
    """One inequality with one surrogate over random lists."""

    claim: str
    surrogate: str
    assumed: bool  # ℓ ≥ ℓ₀₁
    lists: int
    violations: int
    tightest: float  # largest left side in units of the right side


def tested(draws: int, seed: int) -> list[Tested]:
    """Draw lists of 1 to 40 positives and negatives, every second shape with ties."""
    found = []
    for surrogate in SURROGATES:
        claims: dict[str, list[Inequality]] = {}
        generator = torch.Generator().manual_seed(seed)
        for round_ in range(max(1, draws // _ROUND)):
            n, m = (int(k) for k in torch.randint(1, 41, (2,), generator=generator))
            scores = 2 * torch.rand(_ROUND, n + m, generator=generator, dtype=torch.float64) - 1
            if round_ % 2:
                scores = (5 * scores).round() / 5
            lists = (scores[:, :n], scores[:, n:], surrogate)
            epsilon = EPSILONS[round_ % len(EPSILONS)]
            theorem = stable_ap_theorem_1(*lists, width=WIDTH, epsilon=epsilon)
            half = stable_ap_q(m / n * surrogate.maximum(-WIDTH, WIDTH)) / 2
            printed = (*theorem.sides[:-1], half**2 / theorem.sides[-1])
            for claim in (
                stable_ap_lemma_3(*lists, width=WIDTH),
                stable_ap_lemma_8(*lists, width=WIDTH, epsilon=epsilon),
                theorem,
                Inequality("StableAP, Theorem 1, exponent −1/2 as printed", printed),
            ):
                claims.setdefault(claim.name, []).append(claim)
        for name, parts in claims.items():
            holds = torch.cat([part.holds for part in parts])
            ratios = torch.cat([part.sides[-2] / part.sides[-1] for part in parts])
            wrong = int((~holds).sum())
            row = (len(holds), wrong, float(ratios.max()))
            found.append(Tested(name, repr(surrogate), surrogate.bounds_above, *row))
    return found
