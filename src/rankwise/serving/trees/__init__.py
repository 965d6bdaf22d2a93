"""Trees of LightGBM and XGBoost as lookup tables of numpy."""
