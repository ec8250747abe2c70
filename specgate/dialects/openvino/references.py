"""What each rule about a whole IR says: the last part of ``openvino/model/…``, and its reference."""

from __future__ import annotations

from typing import Final

__all__ = ["PREFIX", "RULES"]

PREFIX: Final = "openvino/model/"

_OURS: Final[dict[str, str]] = {}
_READ: Final = {"package": "openvino", "version": "2026.4.1"}

#: By rule: its severity, what it asks for, and where that stands, what `read_model` refuses. Without a place it is a
#: courtesy of lint.
RULES: Final[dict[str, tuple[str, str, dict[str, str]]]] = {
    "constant": ("error", "a Const states a known element type, static sizes, and where its bytes are", _READ),
    "cycle": ("error", "no layer is computed from itself", _READ),
    "input-unconnected": ("error", "an edge leads to every input port", _READ),
    "ir-version": ("error", "an IR states its version, which OpenVINO has and the target's release reads", _READ),
    "weights-missing": ("error", "the .bin file with the constants is there, and is a regular one", _READ),
    "weights-range": ("error", "the bytes of a Const lie within the .bin file", _READ),
    "weights-size": ("error", "a Const has as many bytes as its element type and sizes take", _READ),
    "weights-unused": ("warning", "a Const has no more bytes than its element type and sizes take", _OURS),
}
