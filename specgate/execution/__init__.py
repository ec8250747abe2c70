"""Execution of descriptors with numpy: the engine and the kernel registry."""
