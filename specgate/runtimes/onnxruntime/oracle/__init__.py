"""Real ONNX Runtime builds: DirectML on Linux, and the CPU."""
