"""Outputs of ``specgate run``: text, ``.npy`` or JSON."""

from __future__ import annotations

import json
import math
import sys
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, Final

import numpy as np

from specgate.cli.ending import OutputError
from specgate.errors import InputError
from specgate.files import Plain, write_text, writing
from specgate.report.clean import clean
from specgate.report.jsonreport import dumps

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["deliver"]

STDOUT: Final = "-"
_SHOWN: Final = 100  # printed elements of a sequence or a map


def deliver(outputs: Mapping[str, Any], texts_by_name: Mapping[str, str], *, shown: bool) -> None:
    """Save the outputs with a file in `texts_by_name`; print the others.

    A file name that ends with ``.json`` gets JSON, others get ``.npy``; ``-`` is standard output, which then has only
    this output. shown: whether to print the others. Raises InputError for an unknown output, and for a value that the
    format does not support.
    """
    for name in texts_by_name:
        if name not in outputs:
            raise InputError(f"no output {name!r:.80}; the outputs are: {', '.join(map(clean, outputs))}")
        if isinstance(outputs[name], np.ma.MaskedArray):
            raise InputError(f"{clean(name)} has undefined elements, so it cannot be saved")
    for name, path in texts_by_name.items():
        _save(name, path, outputs[name])
    if not shown or STDOUT in texts_by_name.values():
        return
    for name, value in outputs.items():
        if name not in texts_by_name:
            sys.stdout.write("\n".join(clean(line, None) for line in _lines(name, value)) + "\n")


def _lines(name: str, value: Any) -> list[str]:
    """Return a value as text: name and kind, then elements."""
    if isinstance(value, np.ndarray):
        return [f"{name}: {value.dtype} {list(value.shape)}", *_text(value).split("\n")]
    if isinstance(value, dict):
        pairs = [f"{_json(key)}: {_json(item)}" for key, item in list(value.items())[:_SHOWN]]
        return [f"{name}: {{{', '.join(pairs)}{', …' if len(value) > _SHOWN else ''}}}"]
    if isinstance(value, list | tuple):
        lines = [f"{name}: sequence of {len(value)}"]
        for index, item in enumerate(value[:_SHOWN]):
            lines += _lines(f"[{index}]", item)
        return lines + ([f"… and {len(value) - _SHOWN} more"] if len(value) > _SHOWN else [])
    return [f"{name}: {'an empty optional' if value is None else _json(value)}"]


def _text(array: np.ndarray[Any, Any]) -> str:
    text = np.array2string(array, threshold=200, max_line_width=100)
    if isinstance(array, np.ma.MaskedArray):
        return f"{array.filled('undefined') if array.dtype == object else text}\n(-- marks undefined elements)"
    return text


def _save(name: str, path: str, value: Any) -> None:
    if path.lower().endswith(".json"):
        write_text(path, dumps(_plain(value)))
        return
    if not isinstance(value, np.ndarray):
        kind = "map" if isinstance(value, dict) else "sequence" if isinstance(value, list) else "optional"
        message = f"{clean(name)} is a {kind}, which .npy does not support; save it as NAME=FILE.json"
        raise InputError(message, file=None if path == STDOUT else path)
    array = value.astype(np.str_) if value.dtype == object else value  # texts, which numpy would pickle
    with _standard_output() if path == STDOUT else writing(path) as file:
        np.save(Plain(file), array, allow_pickle=False)


@contextmanager
def _standard_output() -> Iterator[IO[bytes]]:
    sys.stdout.flush()
    try:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    except OSError as error:
        raise OutputError(error) from None


def _json(value: Any) -> str:
    return json.dumps(_plain(value), ensure_ascii=False, allow_nan=False)


def _plain(value: Any) -> Any:
    """Return a value as JSON data.

    Arrays become lists, keys of maps become text, and so do numbers that JSON does not support.
    """
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, complex):
        return [_plain(value.real), _plain(value.imag)]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
