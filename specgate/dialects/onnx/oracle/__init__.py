"""Oracle that runs the onnx package and ONNX Runtime in a subprocess."""
