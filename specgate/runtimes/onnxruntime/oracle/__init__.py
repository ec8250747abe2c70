"""ONNX Runtime itself, asked where it places nodes: with DirectML on Linux, and on the CPU."""
