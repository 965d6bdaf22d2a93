"""Saved models as graphs of ONNX."""
