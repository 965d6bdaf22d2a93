"""The engine: sort the smaller side, sum over the larger."""
