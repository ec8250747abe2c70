"""``specgate run``: execute a DxDispatch model file, a descriptor with .npy inputs, or an ONNX model."""

from __future__ import annotations

import os
import sys
import tempfile
from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.descriptors.read import read_text_file
from specgate.descriptors.text import load_relaxed
from specgate.errors import Error, InputError
from specgate.files import Plain, refuse_shared, writing
from specgate.linting.given import argument, standard_input
from specgate.models.dxdispatch import is_dx_model
from specgate.targets import parse_target

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from specgate.linting.given import Given

__all__ = ["run"]


def run(arguments: argparse.Namespace) -> int:
    """Execute the file and print (or save) its outputs."""
    inputs = {name: _load(path) for name, path in map(_named, arguments.input)}
    wanted = dict(map(_named, arguments.output))
    refuse_shared(wanted.values())
    target = parse_target(arguments.target) if arguments.target else None
    given = standard_input() if arguments.file == "-" else argument(arguments.file)
    if given.kind == "onnx" if given is not None else arguments.file.lower().endswith(".onnx"):
        _deliver(_run_model(arguments.file, given, inputs), wanted, shown=True)
        return 0
    name = arguments.file if given is None else given.name
    if (given is not None and given.kind == "ir") or name.lower().endswith(".xml"):
        raise InputError("an OpenVINO IR is linted, not executed", file=name)
    text = read_text_file(name) if given is None else given.text()
    document = load_relaxed(text, name)
    if is_dx_model(document):
        return _dispatch(arguments, document, name, target.level if target else None, wanted)
    import specgate
    from specgate.descriptors.files import one_of, placed

    descriptor = one_of(placed(text, name, target.dialect if target else None), name)
    _deliver(specgate.execute(descriptor, inputs, target), wanted, shown=True)
    return 0


def _run_model(path: str, given: Given | None, inputs: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """Execute an ONNX model; one from standard input is put into a file for as long as it is read."""
    from specgate.execution.model import run_model

    def told(line: str) -> None:
        sys.stderr.write(f"specgate: note: {line}\n")

    if given is None:
        return run_model(path, inputs, told=told)
    with tempfile.TemporaryDirectory(prefix="specgate-") as folder:
        file = os.path.join(folder, "model.onnx")  # noqa: PTH118
        with open(file, "xb") as model:  # noqa: PTH123
            model.write(given.data)
        try:
            return run_model(file, inputs, told=told)
        except Error as error:
            raise type(error)(str(error).replace(file, given.name)) from None


def _dispatch(
    arguments: argparse.Namespace, document: Any, name: str, level: str | None, wanted: Mapping[str, str]
) -> int:
    from specgate.execution.dispatch import run_dx_model
    from specgate.models.dxdispatch import read_dx_model
    from specgate.spec.tables import dialect

    if arguments.input:
        raise InputError("a DxDispatch model brings its own resources; --input does not apply", file=name)
    model = read_dx_model(document, file=name)
    outputs = run_dx_model(
        model,
        level or dialect("directml").levels[-1],
        out=print,
        base_dir=os.path.dirname(name) or ".",  # noqa: PTH120
        write_files=arguments.write_files,
    )
    _deliver(outputs, wanted, shown=False)
    return 0


def _named(text: str) -> tuple[str, str]:
    name, equals, path = text.partition("=")
    if not equals or not name or not path:
        raise InputError(f"expected NAME=FILE.npy, found {text!r:.80}")
    return name, path


def _load(path: str) -> NDArray[Any]:
    """Load one .npy file; never a pickle."""
    if not os.path.isfile(path):  # noqa: PTH113
        raise InputError("expected a .npy file", file=path)
    try:
        array: NDArray[Any] = np.load(path, allow_pickle=False)
    except (ValueError, OSError, EOFError, MemoryError, SyntaxError) as error:
        raise InputError(f"cannot be read as .npy: {str(error)[:200]}", file=path) from None
    if not isinstance(array, np.ndarray):
        raise InputError("expected one array (.npy), found an archive", file=path)
    return array


def _deliver(outputs: Mapping[str, NDArray[Any]], wanted: Mapping[str, str], *, shown: bool) -> None:
    for name, path in wanted.items():
        if name not in outputs:
            raise InputError(f"no output {name!r:.80}; there are: {', '.join(outputs)}")
        if isinstance(outputs[name], np.ma.MaskedArray):
            raise InputError(f"{name} has elements that the page leaves undefined, so it cannot be saved as .npy")
        _save(path, outputs[name])
    if not shown:
        return
    for name, array in outputs.items():
        if name not in wanted:
            sys.stdout.write(f"{name}: {array.dtype} {list(array.shape)}\n{_text(array)}\n")


def _text(array: NDArray[Any]) -> str:
    text = np.array2string(array, threshold=200, max_line_width=100)
    if isinstance(array, np.ma.MaskedArray):
        return (
            f"{array.filled('undefined') if array.dtype == object else text}\n(-- marks what the page leaves undefined)"
        )
    return text


def _save(path: str, array: NDArray[Any]) -> None:
    with writing(path) as file:
        np.save(Plain(file), array, allow_pickle=False)
