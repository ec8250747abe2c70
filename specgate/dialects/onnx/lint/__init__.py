"""ONNX models for the linter: nodes as units, and what is checked of a whole model."""
