"""Find the reader for a dict, and parse JSON and YAML safely."""

from __future__ import annotations

import json
import os
import stat
import sys
from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import format_value
from specgate.dialects import dialect_of, package, packages
from specgate.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specgate.descriptors.core import Descriptor

MAX_FILE: Final = 64 * 2**20
#: Byte order marks of UTF-16, which PowerShell 5 writes when output is redirected.
UTF16: Final = (b"\xff\xfe", b"\xfe\xff")
_CPP: Final = "C or C++ source: `specgate export cpp` writes a header that checks descriptors inside the program"
#: Descriptions of source files by suffix.
_SOURCES: Final = {
    **dict.fromkeys((".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx", ".inl"), _CPP),
    ".cs": "C# source: `specgate export csharp` writes a class that reads descriptors inside the program",
    ".py": "Python source: call specgate.check or specgate.lint in it",
}
_MAX_PLACED: Final = 2**20  # the longest text, in characters, that is parsed as YAML to find a line


def read_dict(data: Mapping[str, Any], dialect: str | None = None, place: str = "") -> Descriptor:
    """Return the Descriptor of a dict in its dialect's format.

    Raises InputError or NoTable.
    """
    if not isinstance(data, dict):
        raise InputError(f"expected a descriptor as an object, found {format_value(data)}", place=place or None)
    name = dialect or dialect_of(data)
    if name is None:
        *other_shapes, last = (package.shape for package in packages())
        raise InputError(
            f"expected a descriptor of {', '.join(other_shapes)} or {last}; found "
            f"{'the keys ' if data else 'no keys'}{', '.join(format_value(key, 40) for key in list(data)[:8])}",
            place=place or None,
        )
    try:
        read_descriptor = package(name).read(data, place)
    except InputError:
        if (plain_data := _without_arrays(data)) is data:
            raise
    else:
        if read_descriptor.plain or (plain_data := _without_arrays(data)) is data:
            return read_descriptor
    return package(name).read(plain_data, place)


def _without_arrays(data: dict[str, Any]) -> dict[str, Any]:
    """Return the dict with numpy scalars and arrays as Python values."""
    if "numpy" not in sys.modules:
        return data
    from specgate.descriptors.python_values import python_values  # imported late: few dicts come from arrays

    plain_data: dict[str, Any] = python_values(data)
    return plain_data


def write_dict(descriptor: Descriptor) -> dict[str, Any]:
    """Return a descriptor as a dict in its dialect's format."""
    return package(descriptor.dialect).write(descriptor)


def not_utf8(error: UnicodeDecodeError, file: str) -> InputError:
    """Return the error for bytes that are not UTF-8.

    file: the name in the message.
    """
    if not error.start and error.object.startswith(UTF16):
        return InputError("expected UTF-8 text, found UTF-16", file=file)
    return InputError("expected UTF-8 text", file=file, place=f"byte {error.start}")


def source_code(path: str) -> str | None:
    """Return the description of a source file and its checker, else None."""
    return _SOURCES.get(os.path.splitext(path)[1].lower())  # noqa: PTH122  # no pathlib on the cold path


def read_text_file(path: str) -> str:
    """Return a text file's content.

    Raises InputError for a file that is not regular, readable, UTF-8 or of moderate size.
    """
    if source := source_code(path):
        raise InputError(f"expected a descriptor or a model, found {source}", file=path)
    try:
        state = os.stat(path)  # noqa: PTH116  # before opening, because a FIFO would block
        if not stat.S_ISREG(state.st_mode):
            raise InputError("expected a regular file", file=path)
        if state.st_size > MAX_FILE:
            raise InputError(f"expected at most {MAX_FILE} bytes, found {state.st_size}", file=path)
        with open(path, encoding="utf-8-sig") as file:  # noqa: PTH123  # no pathlib on the cold path
            return file.read(MAX_FILE + 1)
    except UnicodeDecodeError as error:
        raise not_utf8(error, path) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot be read: {reason}", file=path) from None


def load_document(text: str, name: str) -> Any:
    """Return the JSON or YAML document in `text`.

    The format follows from the file's suffix; text that starts with a bracket is JSON.
    """
    if not text.strip():
        raise InputError("expected a descriptor or a list of them, found nothing", file=name)
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
    except _TwiceError as error:
        raise InputError(f"not valid JSON: {error}", file=name, place=_line_of_twice(text)) from None
    except ValueError:  # Python's limit of digits, whose message explains how to lift it
        raise InputError("not usable JSON: a number is too long", file=name) from None


class _TwiceError(ValueError):
    """Raised for a duplicate key in an object."""


def _line_of_twice(text: str) -> str | None:
    """Return the line of a duplicate key.

    It is found by parsing as YAML, because the JSON parser does not report lines.
    """
    from specgate.spec.yamlio import DUPLICATE_KEY, load_yaml

    if len(text) <= _MAX_PLACED:
        try:
            load_yaml(text.replace("\t", " "), "")
        except InputError as error:
            return error.place if DUPLICATE_KEY in error.message else None
    return None


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        seen_keys: set[str] = set()
        duplicate = next(key for key, _ in pairs if key in seen_keys or seen_keys.add(key))  # type: ignore[func-returns-value]
        raise _TwiceError(f"duplicate key {duplicate!r:.80} in an object")
    return result
