"""Execution with numpy: the engine, and the kernels that it finds in an explicit registry."""
