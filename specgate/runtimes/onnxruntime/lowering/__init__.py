"""How a node that is placed on DirectML becomes DirectML operators: the tables of specs/onnxruntime/lowering, read."""
