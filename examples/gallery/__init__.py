"""Run the examples and notebooks, and keep their outputs and figures."""
