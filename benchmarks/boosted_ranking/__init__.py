"""Boosted learning to rank: ours against LightGBM, XGBoost, CatBoost and regression."""
