from rankwise.boosting.metrics import lightgbm_metric, xgboost_metric
from rankwise.boosting.objectives import lightgbm_objective, xgboost_objective

__all__ = ["lightgbm_objective", "xgboost_objective", "lightgbm_metric", "xgboost_metric"]
