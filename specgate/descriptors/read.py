"""Find the reader for a dict, and read JSON and YAML documents without being hurt by them."""

from __future__ import annotations

import importlib
import json
import os
import stat
from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import shown
from specgate.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

    from specgate.descriptors.core import Descriptor

__all__ = ["dialect_of", "load_document", "read_dict", "read_text_file", "reader", "write_dict"]

#: Dialect -> module with `read`, `write` and `is_descriptor`.
READERS: Final[Mapping[str, str]] = {
    "directml": "specgate.descriptors.directml",
    "onnx": "specgate.descriptors.onnx",
    "openvino": "specgate.descriptors.openvino",
}
MAX_FILE: Final = 64 * 2**20
MAX_DEPTH: Final = 200


def reader(dialect: str) -> ModuleType:
    """Return the reader and writer of a dialect's dicts."""
    if dialect not in READERS:
        raise InputError(f"unknown dialect {dialect!r:.60}; expected one of {', '.join(READERS)}")
    return importlib.import_module(READERS[dialect])


def dialect_of(data: Mapping[str, Any]) -> str | None:
    """Return the dialect of a dict, None if it has none."""
    return next((name for name in ("onnx", "directml", "openvino") if reader(name).is_descriptor(data)), None)


def read_dict(data: Mapping[str, Any], dialect: str | None = None, place: str = "") -> Descriptor:
    """Return the Descriptor of a dict in its dialect's own words; raise InputError or NoTable."""
    if not isinstance(data, dict):
        raise InputError(f"expected a descriptor as an object, found {shown(data)}", place=place or None)
    name = dialect or dialect_of(data)
    if name is None:
        raise InputError(
            'expected a descriptor of DirectML ("type", "desc"), ONNX ("op_type") or OpenVINO ("type", "data"); found '
            f"the keys {', '.join(shown(key, 40) for key in list(data)[:8]) or 'none'}",
            place=place or None,
        )
    descriptor: Descriptor = reader(name).read(data, place)
    return descriptor


def write_dict(descriptor: Descriptor) -> dict[str, Any]:
    """Return a descriptor as a dict in its dialect's own words."""
    written: dict[str, Any] = reader(descriptor.dialect).write(descriptor)
    return written


def read_text_file(path: str) -> str:
    """Return a text file's content; raise InputError for what is no regular, readable UTF-8 file of sane size."""
    try:
        state = os.stat(path)  # noqa: PTH116  # before opening: a FIFO would block
        if not stat.S_ISREG(state.st_mode):
            raise InputError("expected a regular file", file=path)
        if state.st_size > MAX_FILE:
            raise InputError(f"expected at most {MAX_FILE} bytes, found {state.st_size}", file=path)
        with open(path, encoding="utf-8-sig") as file:  # noqa: PTH123  # no pathlib on the cold path
            return file.read(MAX_FILE + 1)
    except UnicodeDecodeError as error:
        raise InputError("expected UTF-8 text", file=path, place=f"byte {error.start}") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot be read: {reason}", file=path) from None


def load_document(text: str, name: str) -> Any:
    """Return the JSON or YAML document in `text`; by the file's ending, or JSON where it starts with a bracket."""
    if name.endswith((".yaml", ".yml")) or text.lstrip()[:1] not in {"{", "["}:
        from specgate.spec.yamlio import load_yaml

        return load_yaml(text, name)[0]
    return _load_json(text, name)


def _load_json(text: str, name: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_no_duplicates)
    except json.JSONDecodeError as error:
        raise InputError(
            f"not valid JSON: {error.msg}", file=name, place=f"line {error.lineno} column {error.colno}"
        ) from None
    except RecursionError:
        raise InputError("nested too deeply", file=name) from None
    except ValueError as error:
        raise InputError(f"not valid JSON: {error}", file=name) from None


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {twice!r:.80} is in one object twice")
    return result
