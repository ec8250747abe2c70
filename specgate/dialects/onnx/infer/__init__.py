"""Shape inference by the onnx package, on a copy without weights.

Models whose functions expand to too many nodes are not inferred.
"""
