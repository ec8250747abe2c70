"""``specgate run``: execute a model or a descriptor, and write its outputs."""

from __future__ import annotations

import json
import math
import os
import sys
import tempfile
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, Final

import numpy as np

from specgate.cli.options import progress
from specgate.cli.shutdown import OutputError
from specgate.descriptors.files import iterate_placed, load_document, only_entry
from specgate.descriptors.read import read_text_file
from specgate.descriptors.text import in_lines
from specgate.dialects import capability, document_package, model_owner
from specgate.dialects.protocols import ModelFormat, Runnable
from specgate.errors import Error, InputError
from specgate.execution.memory import budget_of
from specgate.files import WritableFile, refuse_replaced, refuse_shared, write_text, writing
from specgate.linting.input_source import TEXT, argument, standard_input
from specgate.report.clean import clean
from specgate.report.jsonreport import dumps
from specgate.targets import parse_target

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from specgate.descriptors.core import Descriptor
    from specgate.dialects.protocols import Documents
    from specgate.linting.input_source import InputSource
    from specgate.targets import Target

STDOUT: Final = "-"
_MAX_PRINTED: Final = 100  # printed elements of a sequence or a map


def write_outputs(outputs: Mapping[str, Any], texts_by_name: Mapping[str, str], *, print_outputs: bool) -> None:
    """Save the outputs with a file in `texts_by_name`; print the others.

    A file name that ends with ``.json`` gets JSON, others get ``.npy``; ``-`` is standard output, which then has only
    this output. print_outputs: whether to print the others. Raises InputError for an unknown output, and for a value
    that the format does not support.
    """
    for name in texts_by_name:
        if name not in outputs:
            raise InputError(f"no output {name!r:.80}; the outputs are: {', '.join(map(clean, outputs))}")
        if isinstance(outputs[name], np.ma.MaskedArray):
            raise InputError(f"{clean(name)} has undefined elements, so it cannot be saved")
    for name, path in texts_by_name.items():
        _save(name, path, outputs[name])
    if not print_outputs or STDOUT in texts_by_name.values():
        return
    for name, value in outputs.items():
        if name not in texts_by_name:
            sys.stdout.write("\n".join(clean(line, None) for line in _lines(name, value)) + "\n")


def _lines(name: str, value: Any) -> list[str]:
    """Return a value as text: name and kind, then elements."""
    if isinstance(value, np.ndarray):
        return [f"{name}: {value.dtype} {list(value.shape)}", *_text(value).split("\n")]
    if isinstance(value, dict):
        pairs = [f"{_json(key)}: {_json(item)}" for key, item in list(value.items())[:_MAX_PRINTED]]
        return [f"{name}: {{{', '.join(pairs)}{', …' if len(value) > _MAX_PRINTED else ''}}}"]
    if isinstance(value, list | tuple):
        lines = [f"{name}: sequence of {len(value)}"]
        for index, item in enumerate(value[:_MAX_PRINTED]):
            lines += _lines(f"[{index}]", item)
        return lines + ([f"… and {len(value) - _MAX_PRINTED} more"] if len(value) > _MAX_PRINTED else [])
    return [f"{name}: {'an empty optional' if value is None else _json(value)}"]


def _text(array: np.ndarray[Any, Any]) -> str:
    text = np.array2string(array, threshold=200, max_line_width=100)
    if isinstance(array, np.ma.MaskedArray):
        return f"{array.filled('undefined') if array.dtype == object else text}\n(-- marks undefined elements)"
    return text


def _save(name: str, path: str, value: Any) -> None:
    if path.lower().endswith(".json"):
        write_text(path, dumps(_to_json(value)))
        return
    if not isinstance(value, np.ndarray):
        kind = "map" if isinstance(value, dict) else "sequence" if isinstance(value, list) else "optional"
        message = f"{clean(name)} is a {kind}, which .npy does not support; save it as NAME=FILE.json"
        raise InputError(message, file=None if path == STDOUT else path)
    array = value.astype(np.str_) if value.dtype == object else value  # texts, which numpy would pickle
    with _standard_output() if path == STDOUT else writing(path) as file:
        np.save(WritableFile(file), array, allow_pickle=False)


@contextmanager
def _standard_output() -> Iterator[IO[bytes]]:
    sys.stdout.flush()
    try:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    except OSError as error:
        raise OutputError(error) from None


def _json(value: Any) -> str:
    return json.dumps(_to_json(value), ensure_ascii=False, allow_nan=False)


def _to_json(value: Any) -> Any:
    """Return a value as JSON data.

    Arrays become lists, keys of maps become text, and so do numbers that JSON does not support.
    """
    if isinstance(value, np.ndarray | np.generic):
        return _to_json(value.tolist())
    if isinstance(value, dict):
        return {str(key): _to_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_to_json(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, complex):
        return [_to_json(value.real), _to_json(value.imag)]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def run(arguments: argparse.Namespace) -> int:
    """Execute the file, and print or save its outputs."""
    inputs = {name: _load(path) for name, path in _parse_files(arguments.input, "--input").items()}
    texts_by_name = _parse_files(arguments.output, "--output")
    files = [path for path in texts_by_name.values() if path != STDOUT]
    if len(texts_by_name) - len(files) > 1:
        raise InputError("only one output can go to standard output ('-')")
    refuse_shared(files)
    refuse_replaced(files, [arguments.file, *(path for _, path in map(_split_assignment, arguments.input))])
    target = parse_target(arguments.target) if arguments.target else None
    result = standard_input() if arguments.file == "-" else argument(arguments.file)
    owner = model_owner(arguments.file) if result is None else None
    if result is not None and result.kind != TEXT:
        owner = capability(result.kind, ModelFormat)
    if owner is not None:
        with _as_file(arguments.file, result, (*owner.suffixes, "")[0]) as file:
            if arguments.compare:
                return _compare_model(owner, file, inputs, target, arguments, texts_by_name)
            write_outputs(_execute_input(file, inputs, target, arguments), texts_by_name, print_outputs=True)
        return 0
    if arguments.compare:
        raise InputError("--compare applies to models; for descriptors, use conform --values", file=arguments.file)
    name = arguments.file if result is None else result.name
    text = read_text_file(name) if result is None else result.text()
    document = load_document(text, name) if in_lines(text, name) is None else None
    documents = document_package(document, target.dialect if target else None)
    if documents is not None:
        return _document(documents, arguments, document, name, target, texts_by_name)
    descriptor = only_entry(iterate_placed(text, name, target.dialect if target else None), name)
    try:
        outputs = _execute_input(descriptor, inputs, target, arguments)
    except InputError as error:
        raise InputError(error.message, file=error.file or name, place=error.place) from None
    write_outputs(outputs, texts_by_name, print_outputs=True)
    return 0


def _execute_input(
    subject: Descriptor | str, inputs: Mapping[str, NDArray[Any]], target: Target | None, arguments: argparse.Namespace
) -> dict[str, Any]:
    import specgate

    with progress("executing") as function:
        return specgate.execute(
            subject,
            inputs,
            target,
            max_bytes=arguments.max_bytes,
            max_seconds=arguments.max_seconds,
            on_note=_write_note,
            on_node=lambda done, total: function(done, total, "executing"),
            basis=arguments.basis,
        )


def _write_note(line: str) -> None:
    sys.stderr.write(f"specgate: note: {clean(line, None)}\n")


def _compare_model(
    owner: ModelFormat,
    file: str,
    inputs: Mapping[str, NDArray[Any]],
    target: Target | None,
    arguments: argparse.Namespace,
    texts_by_name: Mapping[str, str],
) -> int:
    """Compare a model with another implementation; 1 if they differ.

    Prints the differences.
    """
    budget = budget_of(arguments.max_bytes, arguments.max_seconds)
    with progress("comparing") as function:
        outcome = capability(owner, Runnable, file).compare_model(
            file, inputs, arguments.compare, target, budget=budget,
            on_node=lambda done, total: function(done, total, "comparing"), basis=arguments.basis,
        )  # fmt: skip
    write_outputs(outcome.outputs, texts_by_name, print_outputs=False)
    _print("\n".join(clean(line, 2000) for line in outcome.lines()))
    return 1 if outcome.differences else 0


@contextmanager
def _as_file(path: str, result: InputSource | None, suffix: str) -> Iterator[str]:
    """Yield the path of a model; standard input becomes a temporary file."""
    if result is None:
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="specgate-") as folder:
        file = os.path.join(folder, f"model{suffix}")  # noqa: PTH118
        with open(file, "xb") as model:  # noqa: PTH123
            model.write(result.data)
        try:
            yield file
        except Error as error:
            raise type(error)(str(error).replace(file, result.name)) from None


def _document(
    owner: Documents,
    arguments: argparse.Namespace,
    document: Any,
    name: str,
    target: Target | None,
    texts_by_name: Mapping[str, str],
) -> int:
    if arguments.input:
        raise InputError(f"{owner.document_name} contains its own resources, so --input does not apply", file=name)
    if target is not None and target.dialect != owner.name:
        raise InputError(f"cannot execute a model of {owner.name} for {target}", file=name)
    outputs = owner.run_document(
        document,
        name,
        target.level if target else None,
        out=_print,
        write_files=arguments.write_files,
        read_outside=arguments.read_outside,
        budget=budget_of(arguments.max_bytes, arguments.max_seconds),
        basis=arguments.basis,
    )
    for note in outputs.notes:
        _write_note(note)
    write_outputs(outputs, texts_by_name, print_outputs=False)
    return 0


def _print(text: str) -> None:
    """Print lines with escapes for terminals and CI logs.

    They may contain names from a file.
    """
    for line in text.split("\n"):
        sys.stdout.write(f"{clean(line, None)}\n")


def _parse_files(texts: list[str], option: str) -> dict[str, str]:
    """Return files by name; raise InputError for a repeated name."""
    texts_by_name: dict[str, str] = {}
    for name, path in map(_split_assignment, texts):
        if name in texts_by_name:
            raise InputError(f"expected {option} {name!r:.60} once, found it twice")
        texts_by_name[name] = path
    return texts_by_name


def _split_assignment(text: str) -> tuple[str, str]:
    name, equals, path = text.partition("=")
    if not equals or not name or not path:
        raise InputError(f"expected NAME=FILE.npy, found {text!r:.80}")
    return name, path


def _load(path: str) -> NDArray[Any]:
    """Load one .npy file without pickle."""
    if not os.path.isfile(path):  # noqa: PTH113
        raise InputError("expected a .npy file", file=path)
    try:
        array: NDArray[Any] = np.load(path, allow_pickle=False)
    except (ValueError, OSError, EOFError, MemoryError, SyntaxError) as error:
        # For a file that is not .npy, numpy suggests to allow pickle.
        reason = "it is not a .npy file" if "pickle" in str(error) else str(error)[:200]
        raise InputError(f"cannot be read as .npy: {reason}", file=path) from None
    if not isinstance(array, np.ndarray):
        raise InputError("expected one array (.npy), found an archive", file=path)
    return array
