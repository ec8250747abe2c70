"""Campaigns of ``specgate conform onnxruntime-directml``.

They compare specgate's placements with the runtime's own.
"""
