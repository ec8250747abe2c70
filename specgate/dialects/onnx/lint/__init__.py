"""Linting of ONNX models: nodes as units, and checks of the whole model."""
