"""Write what packages of ONNX Runtime state of their kernels into the tables, or compare the tables with it."""
