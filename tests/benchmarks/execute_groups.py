"""Nodes at sizes of real models, executed by specgate, by ONNX Runtime on one thread and by onnx.reference.

All three get arrays and give arrays of their own. Sessions and evaluators are made before, and so is the descriptor;
specgate's time has its checks of the arrays and its budget in it. Times are the processor's: all run on one thread, and
what else the machine does must not count. What onnx.reference gives as a view of its input is copied, as both others
do. A peer that takes more than a second for a call is called once, and given up after ten.
"""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from statistics import median
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import specgate
from tests.benchmarks.execute_cases import CASES, arrays_of
from tests.benchmarks.peers import peer
from tests.benchmarks.timing import Contender, Group

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from tests.benchmarks.execute_cases import Case

__all__ = ["execute_groups"]

RUNTIME: Final = "onnxruntime, one thread"
REFERENCE: Final = "onnx.reference"
#: A contender that has run for so long runs no further rounds.
MOST_SECONDS: Final = 1.0
#: After so many seconds of one call a peer is given up: loops of Python over each element take minutes.
GIVEN_UP: Final = 10


def execute_groups() -> Iterator[Group]:
    """Yield a group for each case, and one that counts their ratios."""
    ratios: dict[str, dict[str, float]] = {RUNTIME: {}, REFERENCE: {}}
    for case in CASES:
        name = f"{case.operator} {case.what}".strip()
        yield _group(name, case, ratios)
    yield Group(f"{len(CASES)} nodes", [], remarks=lambda: list(_counted(ratios)))


def _counted(ratios: Mapping[str, Mapping[str, float]]) -> Iterator[tuple[str, str]]:
    """Yield how often the time of each peer specgate takes: in the middle, at worst, and where it is above 1."""
    for name, found in ratios.items():
        if found:
            worst = sorted(found, key=lambda each: -found[each])[:5]
            yield f"against {name}, median", f"{median(found.values()):.2f} times its time"
            yield f"against {name}, most", ", ".join(f"{each} {found[each]:.1f}" for each in worst)
            yield f"against {name}, slower for", f"{sum(ratio > 1 for ratio in found.values())} of {len(found)}"


def _group(name: str, case: Case, ratios: dict[str, dict[str, float]]) -> Group:
    arrays = arrays_of(case)
    model = _model(case, arrays)
    node = {
        "op_type": case.operator,
        "opset": case.opset,
        "inputs": [
            {"elem_type": _word(arrays[f"x{i}"].dtype), "shape": list(arrays[f"x{i}"].shape)} if text else None
            for i, text in enumerate(case.inputs)
        ],
        "outputs": [{} for _ in range(case.outputs)],
        "attributes": case.attributes,
    }
    built = specgate.descriptor(node)
    by_field = _by_field(built, arrays, len(case.inputs))
    own = Contender("specgate.execute", lambda: specgate.execute(built, by_field), own=True)
    said: list[tuple[str, str]] = []
    contenders = [
        own,
        _able(peer(RUNTIME, lambda: _runtime(model, arrays)), said),
        _able(peer(REFERENCE, lambda: _reference(model, arrays, said)), said),
    ]

    def remarks() -> list[tuple[str, str]]:
        for contender in contenders[1:]:
            if contender.typical and own.typical:
                ratios[contender.name][name] = own.typical / contender.typical
        return said

    return Group(name, contenders, 0.02, remarks=remarks, clock=process_time, most_seconds=MOST_SECONDS)


def _able(contender: Contender, said: list[tuple[str, str]]) -> Contender:
    """Return a peer, or one that is not timed any more: it fails at its node, or takes so long that once is enough."""
    if contender.call is None:
        return contender
    begin = perf_counter()
    try:
        with _at_most(GIVEN_UP):
            contender.call()
    except TimeoutError:
        return Contender(contender.name, None, missing=f"given up after {GIVEN_UP} s")
    except Exception as error:  # whatever a peer raises
        return Contender(contender.name, None, missing=f"fails ({type(error).__name__})")
    taken = perf_counter() - begin
    if taken <= MOST_SECONDS:
        return contender
    said.append((contender.name, f"called once, as it takes more than {MOST_SECONDS:g} s"))
    return Contender(contender.name, None, seconds=[taken])


@contextmanager
def _at_most(seconds: int) -> Iterator[None]:
    """Raise TimeoutError within code that takes longer, where signals can do that: not in threads, not on Windows."""

    def late(*_: object) -> None:
        raise TimeoutError

    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _word(dtype: np.dtype[Any]) -> str:
    return {"float32": "FLOAT", "bool": "BOOL"}.get(dtype.name, dtype.name.upper())


def _by_field(built: Any, arrays: Mapping[str, NDArray[Any]], count: int) -> dict[str, Any]:
    from specgate.execution.comparison import arrays_by_name
    from specgate.spec.tables import dialect

    layout = dialect("onnx").operator(built.operator).layout(built.version)
    return arrays_by_name(layout.inputs, [arrays.get(f"x{i}") for i in range(count)])


def _model(case: Case, arrays: Mapping[str, NDArray[Any]]) -> Callable[[], Any]:
    def made() -> Any:
        import onnx
        from onnx import helper

        names = [f"x{i}" if text else "" for i, text in enumerate(case.inputs)]
        outputs = [f"y{i}" for i in range(case.outputs)]
        node = helper.make_node(case.operator, names, outputs, **case.attributes)
        inputs = [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
            for name, array in arrays.items()
        ]
        graph = helper.make_graph([node], "node", inputs, [onnx.ValueInfoProto(name=name) for name in outputs])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", case.opset)], ir_version=10)

    return made


def _runtime(model: Callable[[], Any], arrays: Mapping[str, NDArray[Any]]) -> Callable[[], object]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model().SerializeToString(), options, providers=["CPUExecutionProvider"])
    return lambda: session.run(None, arrays)


def _reference(
    model: Callable[[], Any], arrays: Mapping[str, NDArray[Any]], said: list[tuple[str, str]]
) -> Callable[[], object]:
    from onnx.reference import ReferenceEvaluator

    evaluator = ReferenceEvaluator(model())
    views: bool | None = None  # till the first run

    def run() -> object:
        nonlocal views
        made = evaluator.run(None, dict(arrays))
        if views is None:
            views = any(np.may_share_memory(one, given) for one in made for given in arrays.values())
            if views:
                said.append((REFERENCE, "gives a view of its input, which is copied here as the others do"))
        return [np.array(one, order="C") for one in made] if views else made

    return run
