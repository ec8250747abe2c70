"""Recorded values of builds, one JSON file per operator and level.

A file has a header, and a line per case with the descriptor in DxDispatch's format and its runs. Inputs and outputs are
flat lists in row-major order. Integers are numbers, and floats are exact decimals. Values that JSON cannot represent
are strings: ``inf``, ``-inf``, or the bits of a nan such as ``0x7fc00000``. Elements that were not written are null.
"""

from __future__ import annotations

import json
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from specgate.descriptors.core import TensorDesc
from specgate.descriptors.read import read_dict, write_dict
from specgate.dialects.directml.oracle.values import ValuesOracle
from specgate.errors import InputError
from specgate.execution.types import numpy_type
from specgate.files import write_text
from specgate.spec.tables import dialect
from tools.recorded_cases import draw_cases

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from specgate.descriptors.core import Descriptor

__all__ = ["RecordedCase", "Recording", "decode", "encode", "file_name", "read_recording", "record_values"]

FORMAT: Final = 1
#: The number of inputs per descriptor, and the maximum number of elements of all its tensors, to keep files small.
RUNS: Final = 3
MAX_ELEMENTS: Final = 240
MAX_FILE: Final = 2**24


class RecordedCase(NamedTuple):
    """A descriptor with the inputs and outputs of each run by field name."""

    descriptor: Descriptor
    runs: list[tuple[dict[str, Any], dict[str, Any]]]


class Recording(NamedTuple):
    """The content of a file.

    header: dialect, level, operator, and the versions of the software.
    """

    header: Mapping[str, Any]
    cases: list[RecordedCase]


def file_name(level: str, operator: str) -> str:
    """Return the file name of a recording."""
    return f"directml-{level}-{operator}.json"


def record_values(
    level: str,
    operator: str,
    folder: str,
    *,
    cases: int,
    seed: int,
    progress: Callable[[str], object] = print,
) -> Path:
    """Record the values of drawn cases into `folder`; return the path.

    The build of `level` computes the values. Equal arguments give the same file with the same version of specgate.
    Cases that the build does not compute are skipped and reported to `progress`. Raises InputError if the level's build
    is not installed or the file cannot be written.
    """
    lines = []
    with ValuesOracle(level) as oracle:
        head = {"format": FORMAT, "dialect": "directml", "level": level, "operator": operator, "seed": seed}
        head["versions"] = dict(oracle.versions)
        for drawn in draw_cases(operator, level, cases, seed, runs=RUNS, max_elements=MAX_ELEMENTS):
            answers = oracle.compute_many(drawn.descriptor, drawn.runs)
            written = write_dict(drawn.descriptor)
            lost = next((answer.reply for answer in answers if answer.arrays is None), None)
            if lost is not None:
                progress(f"{lost.word}, {lost.detail}: {_compact(written)}")
                continue
            runs = [
                {"inputs": _encode_arrays(inputs), "outputs": _encode_arrays(answer.arrays or {})}
                for inputs, answer in zip(drawn.runs, answers, strict=True)
            ]
            lines.append(_compact({"descriptor": written, "runs": runs}))
    if not lines:
        raise InputError(f"DirectML {level} computed none of the cases of {operator}")
    text = f'{{"header": {json.dumps(head)},\n"cases": [\n' + ",\n".join(lines) + "\n]}\n"
    path = Path(folder) / file_name(level, operator)
    write_text(path, text)
    progress(f"{path}: {len(lines)} descriptors, {len(lines) * RUNS} runs, {len(text)} bytes")
    return path


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def _encode_arrays(arrays: Mapping[str, Any]) -> dict[str, Any]:
    return {n: [encode(a) for a in v] if isinstance(v, list) else encode(v) for n, v in arrays.items()}


def encode(array: NDArray[Any]) -> list[Any]:
    """Return an array's elements as a flat list of exact JSON values.

    Masked elements are None.
    """
    flat = np.ma.getdata(array).reshape(-1)
    values = flat.tolist()
    if flat.dtype.kind == "f":
        digits = 2 * flat.itemsize
        bits = flat.view(f"u{flat.itemsize}").tolist()
        for i in np.flatnonzero(~np.isfinite(flat)).tolist():
            values[i] = f"0x{bits[i]:0{digits}x}" if np.isnan(flat[i]) else str(values[i])
    for i in np.flatnonzero(np.ma.getmaskarray(array).reshape(-1)).tolist():
        values[i] = None
    return values


def decode(values: Sequence[Any], tensor: TensorDesc, place: str) -> NDArray[Any]:
    """Return the array of a list from `encode`; raise InputError if invalid."""
    dtype = numpy_type(dialect("directml"), str(tensor.type))
    shape = tuple(size for size in tensor.sizes or () if isinstance(size, int))
    if not isinstance(values, list) or len(values) != prod(shape):
        raise InputError(f"expected a list of {prod(shape)} elements", place=place)
    if not all(value is None or isinstance(value, int | float | str) for value in values):
        raise InputError("expected numbers, texts and null", place=place)
    mask = np.array([value is None for value in values], np.bool_)
    try:
        result = np.array([value if isinstance(value, int | float) else 0 for value in values], dtype)
        bits = result.view(f"u{dtype.itemsize}")
        for i, value in enumerate(values):
            if isinstance(value, str):
                if value.startswith("0x"):
                    bits[i] = int(value, 16)
                else:
                    result[i] = float(value)
    except (ValueError, OverflowError, TypeError) as error:
        raise InputError(f"cannot be read as {tensor.type}: {error!s:.80}", place=place) from None
    shaped = result.reshape(shape)
    return np.ma.MaskedArray(shaped, mask=mask.reshape(shape)) if mask.any() else shaped


def read_recording(path: str) -> Recording:
    """Return a recording; raise InputError for any other file."""
    try:
        if Path(path).stat().st_size > MAX_FILE:
            raise InputError(f"expected at most {MAX_FILE} bytes", file=path)
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=path) from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"is not JSON: {error!s:.80}", file=path) from None
    try:
        header = data["header"]
        if header["format"] != FORMAT:
            raise InputError(f"expected format {FORMAT}, found {header['format']!r:.40}", file=path)
        return Recording(header, list(_read_cases(data["cases"])))
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"is not a recording: {error!r:.80}", file=path) from None
    except InputError as error:
        raise InputError(error.message, file=path, place=error.place) from None


def _read_cases(cases: Sequence[Any]) -> Iterator[RecordedCase]:
    for number, case in enumerate(cases):
        descriptor = read_dict(case["descriptor"], "directml")
        place = f"cases[{number}]"
        runs = [
            (_arrays(run["inputs"], descriptor, place), _arrays(run["outputs"], descriptor, place))
            for run in case["runs"]
        ]
        yield RecordedCase(descriptor, runs)


def _arrays(raw: Mapping[str, Any], descriptor: Descriptor, place: str) -> dict[str, Any]:
    arrays: dict[str, Any] = {}
    for name, values in raw.items():
        tensor = descriptor.fields[name]
        if isinstance(tensor, TensorDesc):
            arrays[name] = decode(values, tensor, f"{place}.{name}")
        else:
            arrays[name] = [decode(v, t, f"{place}.{name}") for v, t in zip(values, tensor, strict=True)]
    return arrays
