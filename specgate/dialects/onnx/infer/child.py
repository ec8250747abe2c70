"""Subprocess that runs the onnx package's shape inference.

A crash or hang ends this process only. It imports nothing from specgate, and from the onnx package only the extension.
`specgate.dialects.onnx.infer.process` starts it as a script; the argument is the startup timeout in seconds. It answers
once when ready, then once per model: ``+`` or ``-``, a length in eight bytes, and the answer or error message of that
length.
A question is a HEADER and the model. The header has three flags (include subgraphs, propagate values computed from
sizes, keep names of sizes that inference invented), the CPU seconds, the seconds until the process ends if it has no
answer, and the length of the model. An answer is a line of JSON, then the serialized types. The line has, for each
graph of the question, outermost first, the value names with the index of each type, and the length of each type.
"""

from __future__ import annotations

import faulthandler
import importlib.machinery
import importlib.util
import json
import math
import os
import re
import struct
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

HEADER = struct.Struct("<???ddQ")
INVENTED = "unk__"  # prefix of size names that inference invents
# Pattern of an invented dimension name per number of digits, and its replacement.
_PLACEHOLDERS = [
    (re.compile(b"\x12" + bytes([5 + digits]) + INVENTED.encode() + rb"\d" * digits), INVENTED.encode() + b"0" * digits)
    for digits in range(1, 8)
]
# https://protobuf.dev/programming-guides/encoding/, and the keys of the onnx.proto fields in use.
LEN, FIXED = 2, {1: 8, 5: 4}
GRAPH = 7 << 3 | LEN  # of a ModelProto
NODE, INPUT, OUTPUT, VALUE_INFO = (number << 3 | LEN for number in (1, 11, 12, 13))  # of a GraphProto
ATTRIBUTE = 5 << 3 | LEN  # of a NodeProto
GRAPHS = frozenset({6 << 3 | LEN, 11 << 3 | LEN})  # of an AttributeProto
NAME, TYPE = 1 << 3 | LEN, 2 << 3 | LEN  # of a ValueInfoProto
# Path from a TypeProto: tensor or sparse tensor, shape, dimension, name.
SIZE_NAMES = tuple(frozenset(number << 3 | LEN for number in numbers) for numbers in ((1, 8), (2,), (1,), (2,)))
MEMORY_BYTES = 512 << 20  # in addition to current usage
MEMORY_PER_BYTE = 64  # per byte of a question, for protobuf objects, copies in the onnx package, and the answer


def limit(seconds: float, size: int) -> None:
    """Limit further CPU seconds and memory for a question of `size` bytes.

    Without such limits in the system, only the timeout applies.
    """
    import resource

    try:
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        cpu_seconds = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
        _lower(resource.RLIMIT_CPU, math.ceil(cpu_seconds + seconds))
        with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123
            used_number = int(file.read().split()[0]) * resource.getpagesize()
        _lower(resource.RLIMIT_AS, used_number + MEMORY_BYTES + MEMORY_PER_BYTE * size)
    except (ImportError, OSError, ValueError):
        return


def _lower(resource_id: int, expected_number: int) -> None:
    """Set a soft limit, at most the hard limit."""
    import resource

    hard = resource.getrlimit(resource_id)[1]
    resource.setrlimit(
        resource_id, (expected_number if hard == resource.RLIM_INFINITY else min(expected_number, hard), hard)
    )


def fields(data: bytes, offset: int, stop: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield key, begin, content begin and end of each field of a message.

    Numbers are not decoded.
    """
    while offset < stop:
        begin = offset
        key, offset = number(data, offset)
        wire = key & 7
        if wire == LEN:
            length, offset = number(data, offset)
            inner, offset = offset, offset + length
            yield key, begin, inner, offset
            continue
        if wire:
            offset += FIXED[wire]
        else:
            _, offset = number(data, offset)
        yield key, begin, offset, offset


def number(data: bytes, offset: int) -> tuple[int, int]:
    """Return a varint and the offset after it."""
    matching_number = data[offset]
    offset += 1
    if matching_number < 128:
        return matching_number, offset
    matching_number &= 127
    shift = 7
    while True:
        byte = data[offset]
        offset += 1
        matching_number |= (byte & 127) << shift
        if byte < 128:
            return matching_number, offset
        shift += 7


def encode_varint(value: int) -> bytes:
    """Return an encoded varint."""
    data = bytearray()
    while value > 127:
        data.append(value & 127 | 128)
        value >>= 7
    data.append(value)
    return bytes(data)


def message(key: int, content: bytes) -> bytes:
    """Return a serialized message field."""
    return encode_varint(key) + encode_varint(len(content)) + content


def types_of(
    data: bytes, offset: int, stop: int, tables: list[dict[str, bytes]], *, nested: bool, body: bool = False
) -> None:
    """Append a graph's serialized types by value name, then its subgraphs'.

    `body` is True for a subgraph, whose inputs may get types from the node that contains it.
    """
    types: dict[str, bytes] = {}
    outputs: dict[str, bytes] = {}
    tables.append(types)
    for key, _, inner, end in fields(data, offset, stop):
        if key == NODE and nested:
            for part, _, first, past in fields(data, inner, end):
                if part == ATTRIBUTE:
                    for known_number, _, begin, last in fields(data, first, past):
                        if known_number in GRAPHS:
                            types_of(data, begin, last, tables, nested=True, body=True)
        elif key in {OUTPUT, VALUE_INFO} or (body and key == INPUT):
            name, kind = value_info(data, inner, end)
            if kind is not None:
                (outputs if key == OUTPUT else types)[name] = kind
    types.update(outputs)


def value_info(data: bytes, offset: int, stop: int) -> tuple[str, bytes | None]:
    """Return the name and the serialized type of a ValueInfoProto."""
    middle = offset + 2 + data[offset + 1] if stop - offset > 4 else stop
    if middle + 2 < stop and (data[offset], data[middle]) == (NAME, TYPE):
        name_size, name_end = data[offset + 1], data[middle + 1]
        if name_size < 128 and name_end < 128 and middle + 2 + name_end == stop:  # the usual layout
            return data[offset + 2 : middle].decode(), data[middle + 2 : stop]
    name, kind = "", None
    for part, _, begin, last in fields(data, offset, stop):
        if part == NAME:
            name = data[begin:last].decode()
        elif part == TYPE:
            kind = data[begin:last]
    return name, kind


def remove_texts(data: bytes, path: tuple[frozenset[int], ...], begins: bytes) -> bytes:
    """Return a serialized message without certain texts.

    Removes texts with the prefix `begins` at the end of a path of keys.
    """
    parts = []
    for key, begin, inner, end in fields(data, 0, len(data)):
        if key not in path[0]:
            parts.append(data[begin:end])
        elif path[1:]:
            parts.append(message(key, remove_texts(data[inner:end], path[1:], begins)))
        elif not data.startswith(begins, inner, end):
            parts.append(data[begin:end])
    return b"".join(parts)


def remove_size_names(kinds: Iterable[bytes]) -> dict[bytes, bytes]:
    """Map serialized types to types without size names from inference.

    Names that the file states stay.
    """
    blocks = list(kinds)
    joined = b"".join(blocks)
    for pattern, name in _PLACEHOLDERS:  # in one pass, because there are as many types as values
        joined = pattern.sub(b"\x12" + bytes([len(name)]) + name, joined)
    blocks_by_data: dict[bytes, bytes] = {}
    without_names: dict[bytes, bytes] = {}
    offset = 0
    for kind in blocks:
        prefix = joined[offset : offset + len(kind)]
        offset += len(kind)
        if prefix not in without_names:
            without_names[prefix] = remove_texts(prefix, SIZE_NAMES, INVENTED.encode())
        blocks_by_data[kind] = without_names[prefix]
    return blocks_by_data


def infer_types(inference: Any, data: bytes, *, nested: bool, values: bool, keep_names: bool) -> bytes:
    """Return the types of a serialized model's values, graph by graph.

    If not `nested`, only the outermost graph is included. `values` enables propagation of values computed from sizes.
    `keep_names` keeps the names that inference invents for unknown sizes.
    """
    new_data: bytes = inference.infer_shapes(data, False, False, values)  # without check_type and strict_mode
    tables: list[dict[str, bytes]] = []
    for key, _, inner, end in fields(new_data, 0, len(new_data)):
        if key == GRAPH:
            types_of(new_data, inner, end, tables, nested=nested)
    all_kinds = dict.fromkeys(kind for types in tables for kind in types.values())
    names_by_kind = {kind: kind for kind in all_kinds} if keep_names else remove_size_names(all_kinds)
    places = {kind: place for place, kind in enumerate(dict.fromkeys(names_by_kind.values()))}
    pairs = [(list(types), [places[names_by_kind[kind]] for kind in types.values()]) for types in tables]
    sizes = [len(kind) for kind in places]
    return json.dumps([pairs, sizes], separators=(",", ":")).encode() + b"\n" + b"".join(places)


def load_inference() -> Any:
    """Return the onnx package's shape inference.

    Only the extension is loaded, because importing the whole package takes many times as long.
    """
    try:
        return extension().shape_inference
    except Exception:  # noqa: BLE001  # a release whose extension needs the package
        import onnx.shape_inference

        return onnx.onnx_cpp2py_export.shape_inference


def extension() -> Any:
    """Return the onnx package's extension without the package; may raise."""
    name = "onnx_cpp2py_export"
    package = importlib.util.find_spec("onnx")
    folders = (package and package.submodule_search_locations) or ()
    places = [os.path.join(f, name + end) for f in folders for end in importlib.machinery.EXTENSION_SUFFIXES]  # noqa: PTH118
    path = next(place for place in places if os.path.exists(place))  # noqa: PTH110
    loader = importlib.machinery.ExtensionFileLoader(f"onnx.{name}", path)
    spec = importlib.util.spec_from_file_location(f"onnx.{name}", path, loader=loader)
    module = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]  # a loader is given
    loader.exec_module(module)
    return module


def main() -> None:
    """Serve requests until stdin closes."""
    questions, answers, null_file = sys.stdin.buffer, os.fdopen(os.dup(1), "wb"), os.open(os.devnull, os.O_WRONLY)
    os.dup2(null_file, 1)  # keep other output out of the answers

    def end_after(seconds: float) -> None:
        # The only timeout on every system that also ends a process stuck in native code.
        faulthandler.dump_traceback_later(seconds, exit=True, file=null_file)

    def answer(sign: bytes, data: bytes) -> None:
        faulthandler.cancel_dump_traceback_later()
        answers.write(sign + len(data).to_bytes(8, "little") + data)
        answers.flush()

    end_after(float(sys.argv[1]))
    try:
        inference = load_inference()
    except Exception as error:  # noqa: BLE001  # a broken installation may raise any exception
        answer(b"-", f"{type(error).__name__}: {error}".encode())
        return
    answer(b"+", b"")
    while header := questions.read(HEADER.size):
        nested, values, keep_names, seconds, patience, length = HEADER.unpack(header)
        end_after(patience)
        limit(seconds, length)
        data = questions.read(length)
        try:
            answer(b"+", infer_types(inference, data, nested=nested, values=values, keep_names=keep_names))
        except Exception as error:  # noqa: BLE001  # strange models may raise any exception
            answer(b"-", f"{type(error).__name__}: {error}".encode("utf-8", "replace"))


if __name__ == "__main__":
    main()
