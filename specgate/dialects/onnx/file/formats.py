"""What a file is that was taken for a binary ONNX model and is none: asked only after reading it failed."""

from __future__ import annotations

__all__ = ["SNIFFED_BYTES", "recognised"]

SNIFFED_BYTES = 512
_BINARY = {  # where in the file, which bytes, what they are
    (0, b"version https://git-lfs"): "a Git LFS pointer: the model itself was not fetched (git lfs pull)",
    (4, b"ORTM"): "ONNX Runtime's own format (.ort), which cannot be converted back: lint the model it was made from",
    (0, b"PK\x03\x04"): "a ZIP archive: unpack it, or export a PyTorch checkpoint with torch.onnx.export",
    (0, b"\x1f\x8b"): "data compressed with gzip: unpack it",
    (0, b"\x89HDF\r\n"): "HDF5 (a Keras model?): convert it to ONNX",
    (0, b"\x80\x02"): "a Python pickle (a PyTorch checkpoint?): export it with torch.onnx.export",
    (4, b"TFL3"): "a TensorFlow Lite model: convert it to ONNX",
}
_CONVERT = "lint what onnx.save(onnx.load(PATH), 'model.onnx') makes of it"


def recognised(start: bytes) -> str | None:
    """Say what a file that begins with `start` is, and what to do; None where it is not recognised."""
    for (at, mark), what in _BINARY.items():
        if start.startswith(mark, at):
            return what
    text = start.decode("ascii", "replace").lstrip("\ufffd \t\r\n")  # the byte order mark, if any
    if not text or any(code < 32 and code not in {9, 10, 13} for code in start):
        return None
    if text.startswith("{"):
        return f"JSON text: if it is an ONNX model, {_CONVERT}" if '"graph"' in text or "pset" in text else "JSON text"
    if text.startswith("<") and ("ir_version" in text or "opset_import" in text):
        return f"ONNX's own text format (.onnxtxt): {_CONVERT}"
    if text.startswith(("ir_version", "graph {", "opset_import", "producer_name", "#")):
        return f"protobuf's text format (.textproto): {_CONVERT}"
    return "XML text (OpenVINO IR is read by its suffix, .xml)" if text.startswith("<") else "text"
