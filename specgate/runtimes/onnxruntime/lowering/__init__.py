"""Lowering of DirectML nodes by the tables of specs/onnxruntime/lowering."""
