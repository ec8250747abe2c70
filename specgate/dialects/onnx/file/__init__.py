"""Reader and writer of ONNX model files, without the onnx package.

Weights are never read.
"""
