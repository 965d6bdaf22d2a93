from rankwise.serving.onnx.export import export_onnx
from rankwise.serving.scorer import Scorer, load_scorer

__all__ = ["Scorer", "load_scorer", "export_onnx"]
