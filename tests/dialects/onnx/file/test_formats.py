"""ONNX models that are not binary, and other files: one message that names the format."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from specgate.dialects.onnx.file.model import read_model, read_model_bytes, recognize_file
from specgate.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

FORMATS = {
    "onnxtxt": "ONNX's own text format",
    "textproto": "protobuf's text format",
    "prototxt": "protobuf's text format",
    "json": "JSON text: if it is an ONNX model",
}


@pytest.mark.oracle
@pytest.mark.parametrize("suffix", FORMATS)
def test_text_formats_of_onnx_are_named(suffix: str, tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx", reason="the onnx package writes its text formats")
    info = onnx.helper.make_tensor_value_info("x", 1, ["N", 2])
    graph = onnx.helper.make_graph([onnx.helper.make_node("Relu", ["x"], ["y"])] * 40, "g", [info], [])
    path = tmp_path / f"model.{suffix}"
    onnx.save(onnx.helper.make_model(graph), path)
    with pytest.raises(InputError) as caught:
        read_model(path)
    assert caught.value.message.startswith(f"expected a binary ONNX model, found {FORMATS[suffix]}")
    assert "onnx.save(onnx.load(PATH), 'model.onnx')" in caught.value.message
    assert caught.value.place == "byte 0"


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n", "a Git LFS pointer"),
        (b"\x18\x00\x00\x00ORTM" + bytes(40), "ONNX Runtime's own format"),
        (b"PK\x03\x04\x14\x00" + bytes(40), "a ZIP archive"),
        (b"\x1f\x8b\x08\x00" + bytes(40), "data compressed with gzip"),
        (b"\x80\x02}q\x00." + bytes(4), "a Python pickle"),
        (b"\x1c\x00\x00\x00TFL3" + bytes(40), "a TensorFlow Lite model"),
        (b'{"op_type": "Relu"}', "JSON text"),
        (b"\xef\xbb\xbf{}", "JSON text"),
        (b"<?xml version='1.0'?><net/>", "XML text"),
        (b"import onnx\n", "text"),
    ],
)
def test_other_files_are_named(data: bytes, what: str) -> None:
    with pytest.raises(InputError, match=f"<bytes>: byte 0: expected a binary ONNX model, found {what}") as caught:
        read_model_bytes(data)
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize("data", [b"", b"\x08\x07", b"\xff\xff", b"\0" * 600, b"text \x01", "ü".encode()])
def test_other_bytes_are_not_guessed(data: bytes) -> None:
    assert recognize_file(data) is None
    with pytest.raises(InputError, match=r"<bytes>: byte \d+: "):
        read_model_bytes(data)
