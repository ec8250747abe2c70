"""Execution of ONNX models by kernels or the onnx reference evaluator."""
