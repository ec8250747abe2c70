"""Find the reader for a dict, and read JSON and YAML documents without being hurt by them."""

from __future__ import annotations

import json
import os
import stat
import sys
from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import shown
from specgate.dialects import dialect_of, package, packages
from specgate.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specgate.descriptors.core import Descriptor

__all__ = ["load_document", "read_dict", "read_text_file", "source_code", "write_dict"]

MAX_FILE: Final = 64 * 2**20
#: How text in UTF-16 begins, as PowerShell 5 writes what it redirects.
UTF16: Final = (b"\xff\xfe", b"\xfe\xff")
MAX_DEPTH: Final = 200
_CPP: Final = "C or C++ source: `specgate export cpp` writes a header that checks descriptors inside the program"
#: What files of programs are, by their suffixes.
_SOURCES: Final = {
    **dict.fromkeys((".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx", ".inl"), _CPP),
    ".cs": "C# source: `specgate export csharp` writes a class that reads descriptors inside the program",
    ".py": "Python source: call specgate.check or specgate.lint in it",
}
_MAX_PLACED: Final = 2**20  # characters of a text that is parsed as YAML for a line


def read_dict(data: Mapping[str, Any], dialect: str | None = None, place: str = "") -> Descriptor:
    """Return the Descriptor of a dict in its dialect's own words; raise InputError or NoTable."""
    if not isinstance(data, dict):
        raise InputError(f"expected a descriptor as an object, found {shown(data)}", place=place or None)
    name = dialect or dialect_of(data)
    if name is None:
        *others, last = (one.shape for one in packages())
        raise InputError(
            f"expected a descriptor of {', '.join(others)} or {last}; found "
            f"{'the keys ' if data else 'no keys'}{', '.join(shown(key, 40) for key in list(data)[:8])}",
            place=place or None,
        )
    try:
        read = package(name).read(data, place)
    except InputError:
        if (plain := _without_arrays(data)) is data:
            raise
    else:
        if read.plain or (plain := _without_arrays(data)) is data:
            return read
    return package(name).read(plain, place)


def _without_arrays(data: dict[str, Any]) -> dict[str, Any]:
    """Return the same dict with numpy's scalars and arrays as Python values; it has none where numpy is not loaded."""
    if "numpy" not in sys.modules:
        return data
    from specgate.descriptors.python_values import python_values  # few dicts come from arrays

    plain: dict[str, Any] = python_values(data)
    return plain


def write_dict(descriptor: Descriptor) -> dict[str, Any]:
    """Return a descriptor as a dict in its dialect's own words."""
    return package(descriptor.dialect).write(descriptor)


def not_utf8(error: UnicodeDecodeError, file: str) -> InputError:
    """Return what is wrong with bytes that are no UTF-8. file: what they are called."""
    if not error.start and error.object.startswith(UTF16):
        return InputError("expected UTF-8 text, found UTF-16", file=file)
    return InputError("expected UTF-8 text", file=file, place=f"byte {error.start}")


def source_code(path: str) -> str | None:
    """Return what a file is whose suffix is that of a program's source, with what checks its descriptors; else None."""
    return _SOURCES.get(os.path.splitext(path)[1].lower())  # noqa: PTH122  # no pathlib on the cold path


def read_text_file(path: str) -> str:
    """Return a text file's content; raise InputError for what is no regular, readable UTF-8 file of sane size."""
    if source := source_code(path):
        raise InputError(f"expected a descriptor or a model, found {source}", file=path)
    try:
        state = os.stat(path)  # noqa: PTH116  # before opening: a FIFO would block
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
    """Return the JSON or YAML document in `text`; by the file's ending, or JSON where it starts with a bracket."""
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
    except ValueError:  # of Python's own limit of digits, and it says how Python lifts it
        raise InputError("not usable JSON: a number has thousands of digits", file=name) from None


class _TwiceError(ValueError):
    """A key is in one object twice."""


def _line_of_twice(text: str) -> str | None:
    """Return the line of a key that is in one object twice: the parser of JSON knows none, that of YAML does."""
    from specgate.spec.yamlio import TWICE, load_yaml

    if len(text) <= _MAX_PLACED:
        try:
            load_yaml(text.replace("\t", " "), "")
        except InputError as error:
            return error.place if TWICE in error.message else None
    return None


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise _TwiceError(f"the key {twice!r:.80} is in one object twice")
    return result
