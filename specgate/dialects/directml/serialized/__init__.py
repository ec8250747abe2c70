"""DirectML graphs serialized by ONNX Runtime and DxDispatch.

The format is ``dmlSerializedGraph``, a flatbuffer of operators.
"""
