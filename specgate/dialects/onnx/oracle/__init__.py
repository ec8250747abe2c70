"""The onnx package and ONNX Runtime as oracle, asked in a process of their own."""
