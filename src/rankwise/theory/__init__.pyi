from rankwise.theory.bias import (
    ESTIMATORS,
    Bias,
    Estimator,
    batch_ap,
    estimator_bias,
    prior_only,
    soprc,
)
from rankwise.theory.bounds import (
    StabilityBound,
    excess_risk_rate,
    pap_gap_rate,
    soprc_lambda,
    soprc_lemma_1,
    soprc_theorem_2,
    stability_gap_bound,
)
from rankwise.theory.checker import check
from rankwise.theory.constants import LossConstants, loss_constants
from rankwise.theory.differences import (
    BoundedDifference,
    Loss,
    bounded_difference,
    loglog_fit,
    loglog_slope,
)
from rankwise.theory.interpolation import InterpolationError, interpolation_error
from rankwise.theory.population import (
    SIMULATIONS,
    Beta,
    Law,
    Normal,
    Population,
    Uniform,
    population_pap_risk,
    simulate,
)
from rankwise.theory.rademacher import WeightedPairs, linear_rademacher, pairwise_rademacher
from rankwise.theory.stability import Stability, model_stability
from rankwise.theory.stable_ap_bounds import RiskBound, StableAPBounds
from rankwise.theory.stable_ap_inequalities import (
    Inequality,
    rank_weights,
    stable_ap_lemma_3,
    stable_ap_lemma_8,
    stable_ap_q,
    stable_ap_theorem_1,
)
from rankwise.theory.summary import Mean, mean_of
from rankwise.theory.twins import TwinTraining
from rankwise.theory.verdicts import Check, Verdict

__all__ = [
    "check",
    "Check",
    "Verdict",
    "loss_constants",
    "LossConstants",
    "Inequality",
    "rank_weights",
    "stable_ap_q",
    "stable_ap_lemma_3",
    "stable_ap_lemma_8",
    "stable_ap_theorem_1",
    "estimator_bias",
    "Bias",
    "Estimator",
    "ESTIMATORS",
    "batch_ap",
    "prior_only",
    "soprc",
    "interpolation_error",
    "InterpolationError",
    "bounded_difference",
    "BoundedDifference",
    "loglog_slope",
    "loglog_fit",
    "model_stability",
    "Stability",
    "TwinTraining",
    "soprc_lemma_1",
    "StabilityBound",
    "soprc_lambda",
    "soprc_theorem_2",
    "Loss",
    "stability_gap_bound",
    "excess_risk_rate",
    "pap_gap_rate",
    "StableAPBounds",
    "RiskBound",
    "pairwise_rademacher",
    "linear_rademacher",
    "WeightedPairs",
    "Population",
    "simulate",
    "SIMULATIONS",
    "population_pap_risk",
    "Law",
    "Normal",
    "Beta",
    "Uniform",
    "Mean",
    "mean_of",
]
