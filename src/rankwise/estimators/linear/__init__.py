"""A linear model, fitted to all rows in one batch."""
