"""How much is trained, and what one training leaves behind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from reproductions.frame import BasePlan

RATIO = 3  # negatives to a positive, in the data and in a batch
BATCH = 8  # positives of a batch where they are not varied
LARGE = 64  # and those of the larger one
REDUCED, PLAIN = "with previous scores", "plain average"
BOTH = f"n⁺ = {LARGE}"
CONSTANT, INVERSE, PRINTED, PROOF = "η constant", "η = C/t", "η printed", "η of the proof"
PROOF_LARGE = f"{PROOF}, n⁺ = {LARGE}"
MOMENTUM = 0.9  # β where s is varied


@dataclass(frozen=True)
class Plan(BasePlan):
    """How much is computed."""

    QUICK: ClassVar = {
        "horizons": (25, 100, 400),
        "steps": 200,
        "repeats": 6,
        "chains": 6,
        "draws": 100,
    }

    n_positives: int = 200  # of a data set
    width: int = 5  # features
    shift: float = 2.0  # between the classes, in standard deviations
    horizons: tuple[int, ...] = (25, 100, 400, 1600)  # T
    steps: int = 400  # T where it is not varied
    batches: tuple[int, ...] = (2, 4, 8, 16, 32)  # n⁺
    lambdas: tuple[float, ...] = (0.01, 0.03, 0.1, 0.3, 1.0)
    betas: tuple[float, ...] = (0.0, 0.3, 0.6, 0.9)
    ss: tuple[float, ...] = (0.0, 0.25, 0.5, 0.75, 1.0)
    ema_rates: tuple[float, ...] = (0.02, 0.05, 0.1, 0.25, 0.5)
    points: int = 50  # M of v
    rate: float = 0.3  # α where it does not depend on T
    inverse_scale: float = 5.0  # C of η = C/t
    rate_scale: float = 3.0  # C_α
    momentum_scale: float = 1.0  # C_β
    lambda_scale: float = 1.0  # C_λ
    looks: int = 20  # at the whole data, along one training
    chains: int = 8  # trainings on one data set, which are averaged
    draws: int = 200  # averages followed at once on a fixed model
    repeats: int = 8  # data sets


@dataclass(frozen=True)
class Row:
    """The trainings on one data set, averaged; ``gradient`` and ``memory`` are squared."""

    experiment: str
    variant: str
    x: float
    repeat: int
    gradient: float  # ‖∇‖² on all data, over the way or at its end
    gradient_end: float  # ‖∇‖² on all data at the end
    excess: float  # risk at the end less that of the stationary point
    memory: float  # squared error of μ̂, or of an entry of v
    moved: float  # mean ‖θ_{k+1} − θ_k‖²
    noise: float  # largest mean ‖g_k‖²
    limit: float  # Lemma 15 for ``memory``, NaN elsewhere
    limit_moved: float  # Lemma 14 for ``moved``, NaN elsewhere


@dataclass(frozen=True)
class Estimate:
    """One number of a fixed model on one data set."""

    claim: str
    x: float
    repeat: int
    value: float


@dataclass(frozen=True)
class Constants:
    """What was found of one data set before training."""

    repeat: int
    mu: float  # of the PL condition, of SOPRC
    lower: float  # share of the points looked at whose risk is below the stationary point's
    lipschitz_u: float  # L_u of StableAP
    ended: float  # ‖∇‖² that descent on all data ended with, the larger of both losses
    gradient_start: float  # ‖∇‖² of StableAP
    risk_start: float
    risk_end: float


@dataclass(frozen=True)
class Measured:
    """Everything measured."""

    plan: Plan
    constants: list[Constants]
    rows: list[Row]
    estimates: list[Estimate]
