"""ONNX models executed: node by node with kernels, or by the reference evaluator of the onnx package."""
