"""Import of an onnx package into tables; handwritten parts are kept."""
