"""ONNX model files: their structure, read and written without the onnx package, never their weights."""
