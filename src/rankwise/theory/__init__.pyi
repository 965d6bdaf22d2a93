from rankwise.theory.bias import (
    ESTIMATORS,
    Bias,
    Estimator,
    batch_ap,
    estimator_bias,
    prior_only,
    soprc,
)
from rankwise.theory.bounds import excess_risk_rate, pap_gap_rate, stability_gap_bound
from rankwise.theory.differences import BoundedDifference, Loss, bounded_difference, loglog_slope
from rankwise.theory.interpolation import InterpolationError, interpolation_error
from rankwise.theory.laws import Beta, Law, Normal, Uniform
from rankwise.theory.population import SIMULATIONS, Population, population_pap_risk, simulate
from rankwise.theory.rademacher import WeightedPairs, linear_rademacher, pairwise_rademacher
from rankwise.theory.stability import Stability, TwinTraining, model_stability
from rankwise.theory.stable_ap_bounds import RiskBound, StableAPBounds
from rankwise.theory.summary import Mean, mean_of

__all__ = [
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
    "model_stability",
    "Stability",
    "TwinTraining",
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
