"""Campaigns that hold placements against the runtime itself: ``specgate conform onnxruntime-directml``."""
