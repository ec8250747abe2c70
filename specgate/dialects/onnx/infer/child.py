"""The process that asks the onnx package for types and shapes; it may die or hang, and nothing is lost with it.

It imports nothing of specgate. `specgate.dialects.onnx.infer.process` starts it as a script, with the seconds that
starting may take. It answers once when it is ready, then once for each model that it is sent: ``+`` or ``-``, eight
bytes of a length, and that many bytes of an answer or of what went wrong. A question is a HEADER (whether subgraphs
are included, whether values that follow from sizes are worked out, whether sizes keep the names that inference made up,
the seconds of computing and the seconds that may pass before the process ends if it has no answer, a length) and that
many bytes. An answer is a line of JSON with, for each graph of the question, outermost first, the names of its values
and for each the place of its type, and behind it a model whose graph's value infos are these types.
"""

from __future__ import annotations

import faulthandler
import json
import math
import os
import struct
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

HEADER = struct.Struct("<???ddQ")
INVENTED = "unk__"  # how names of sizes begin that inference makes up
MEMORY_BYTES = 512 << 20  # beyond what the process takes already
MEMORY_PER_BYTE = 64  # of a question: protobuf's objects, the package's copies of them, the answer


def limit(seconds: float, size: int) -> None:
    """Take at most so many seconds of computing from now on, and the memory for a question of `size` bytes.

    Where the system has no such limits, there is the clock.
    """
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
        _lower(resource.RLIMIT_CPU, math.ceil(used + seconds))
        with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123
            taken = int(file.read().split()[0]) * resource.getpagesize()
        _lower(resource.RLIMIT_AS, taken + MEMORY_BYTES + MEMORY_PER_BYTE * size)
    except (ImportError, OSError, ValueError):
        return


def _lower(which: int, wanted: int) -> None:
    """Set a soft limit, as far as the hard one allows it."""
    import resource

    hard = resource.getrlimit(which)[1]
    resource.setrlimit(which, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))


def graphs(graph: Any) -> Iterator[Any]:
    """Yield a GraphProto and those inside of it, each before its own."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from graphs(attribute.g)
            for inside in attribute.graphs:
                yield from graphs(inside)


def inferred(data: bytes, *, nested: bool, values: bool, named: bool) -> bytes:
    """Return the types of the values of a serialized model, graph by graph; the outermost alone if not `nested`.

    values: whether what is computed from sizes counts where it decides on other sizes. named: whether sizes that are
    not known keep the names that inference made up for them.
    """
    import onnx

    made = onnx.shape_inference.infer_shapes(data, check_type=False, strict_mode=False, data_prop=values)
    if isinstance(made, bytes):
        made = onnx.ModelProto.FromString(made)
    found = []
    for graph in graphs(made.graph) if nested else [made.graph]:
        types = {info.name: info.type.SerializeToString() for info in graph.value_info if info.HasField("type")}
        types.update((info.name, info.type.SerializeToString()) for info in graph.output if info.HasField("type"))
        found.append(types)
    all_kinds = dict.fromkeys(kind for types in found for kind in types.values())
    kept = {kind: kind if named else nameless(kind) for kind in all_kinds}
    places = {kind: place for place, kind in enumerate(dict.fromkeys(kept.values()))}
    answer = onnx.ModelProto()
    answer.graph.SetInParent()
    for kind in places:
        answer.graph.value_info.add().type.ParseFromString(kind)
    serialized: bytes = answer.SerializeToString()
    said = [(list(types), [places[kept[kind]] for kind in types.values()]) for types in found]
    return json.dumps(said, separators=(",", ":")).encode() + b"\n" + serialized


def nameless(data: bytes) -> bytes:
    """Return a serialized TypeProto without the names that inference made up."""
    import onnx

    kind = onnx.TypeProto.FromString(data)
    case = kind.WhichOneof("value")
    if case in {"tensor_type", "sparse_tensor_type"}:
        for size in getattr(kind, case).shape.dim:
            if size.dim_param.startswith(INVENTED):
                size.ClearField("dim_param")
    serialized: bytes = kind.SerializeToString()
    return serialized


def main() -> None:
    """Serve requests until stdin closes."""
    questions, answers, nowhere = sys.stdin.buffer, os.fdopen(os.dup(1), "wb"), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)  # what others print must not get among the answers

    def end_after(seconds: float) -> None:
        # The one clock that ends a process which is stuck in foreign native code, on every system.
        faulthandler.dump_traceback_later(seconds, exit=True, file=nowhere)

    def answer(sign: bytes, data: bytes) -> None:
        faulthandler.cancel_dump_traceback_later()
        answers.write(sign + len(data).to_bytes(8, "little") + data)
        answers.flush()

    end_after(float(sys.argv[1]))
    try:
        import onnx
        import onnx.shape_inference
    except Exception as error:  # noqa: BLE001  # a broken installation may raise anything
        answer(b"-", f"{type(error).__name__}: {error}".encode())
        return
    answer(b"+", onnx.__version__.encode())
    while header := questions.read(HEADER.size):
        nested, values, named, seconds, patience, length = HEADER.unpack(header)
        end_after(patience)
        limit(seconds, length)
        data = questions.read(length)
        try:
            answer(b"+", inferred(data, nested=nested, values=values, named=named))
        except Exception as error:  # noqa: BLE001  # whatever the package says to a strange model
            answer(b"-", f"{type(error).__name__}: {error}".encode("utf-8", "replace"))


if __name__ == "__main__":
    main()
