"""Diagnosis of files that failed to parse as a binary ONNX model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specgate.dialects.onnx.file.varints import WireError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specgate.dialects.onnx.file.schema import Message
    from specgate.dialects.onnx.file.wire import Reader

__all__ = ["SNIFFED_BYTES", "locate", "recognised"]

SNIFFED_BYTES = 512
_BINARY = {  # (offset, magic bytes) and a description
    (0, b"version https://git-lfs"): "a Git LFS pointer: the model itself was not fetched (git lfs pull)",
    (4, b"ORTM"): "ONNX Runtime's own format (.ort), which cannot be converted back: lint the original ONNX model",
    (0, b"PK\x03\x04"): "a ZIP archive: unpack it, or export a PyTorch checkpoint with torch.onnx.export",
    (0, b"\x1f\x8b"): "data compressed with gzip: unpack it",
    (0, b"\x89HDF\r\n"): "HDF5 (a Keras model?): convert it to ONNX",
    (0, b"\x80\x02"): "a Python pickle (a PyTorch checkpoint?): export it with torch.onnx.export",
    (4, b"TFL3"): "a TensorFlow Lite model: convert it to ONNX",
}
_CONVERT = "convert it with onnx.save(onnx.load(PATH), 'model.onnx') and lint the result"


def recognised(start: bytes) -> str | None:
    """Return a description of a file by its first bytes, with advice, or None."""
    for (at, mark), what in _BINARY.items():
        if start.startswith(mark, at):
            return what
    text = start.decode("ascii", "replace").lstrip("\ufffd \t\r\n")  # drop a byte order mark
    if not text or any(code < 32 and code not in {9, 10, 13} for code in start):
        return None
    if text.startswith("{"):
        return f"JSON text: if it is an ONNX model, {_CONVERT}" if '"graph"' in text or "pset" in text else "JSON text"
    if text.startswith("<") and ("ir_version" in text or "opset_import" in text):
        return f"ONNX's own text format (.onnxtxt): {_CONVERT}"
    if text.startswith(("ir_version", "graph {", "opset_import", "producer_name", "#")):
        return f"protobuf's text format (.textproto): {_CONVERT}"
    return "XML text (OpenVINO IR is read by its suffix, .xml)" if text.startswith("<") else "text"


def locate(reader: Reader, message: Message, messages: Mapping[str, Message], offset: int) -> str:
    """Return the path of the innermost message that contains a byte.

    For example `graph.node[3].attribute[0]`, or "" for the outermost message. The file is parsed again up to the byte,
    so that normal reading need not count elements.
    """
    path: list[str] = []
    span = (0, reader.size)
    inner: Message | None = message
    while inner:
        kinds = dict(inner.fields.values())
        counts = dict.fromkeys(kinds, 0)
        matching_message = inner
        inner = None
        try:
            for name, begin, end in reader.fields([span], matching_message):
                kind = kinds[name].removeprefix("repeated ")
                if end and begin <= offset < end and kind in messages:
                    path.append(name if kind == kinds[name] else f"{name}[{counts[name]}]")
                    span, inner = (begin, end), messages[kind]
                    break
                counts[name] += 1
        except WireError:
            break
    return ".".join(path)
