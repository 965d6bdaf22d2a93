"""rankwise: train models on the ranking metric they are judged by."""

__version__ = "0.1.0"
