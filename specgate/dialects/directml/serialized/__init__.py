"""Graphs as ONNX Runtime and DxDispatch serialise them (``dmlSerializedGraph``): flatbuffers of operators."""
