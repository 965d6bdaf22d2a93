from rankwise.boosting.objectives import (
    lightgbm_metric,
    lightgbm_objective,
    xgboost_metric,
    xgboost_objective,
)

__all__ = ["lightgbm_objective", "xgboost_objective", "lightgbm_metric", "xgboost_metric"]
