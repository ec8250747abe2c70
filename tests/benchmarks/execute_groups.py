"""Execution of nodes of real models by specgate, ONNX Runtime and onnx.reference.

ONNX Runtime uses one thread. All three read arrays and return new ones. Sessions, evaluators and the descriptor are
created before; specgate's time includes its checks of the arrays and its memory budget. Times are processor times, so
that other processes do not count. Views that onnx.reference returns are copied, because both others copy. A peer that
needs more than a second for a call is called once, and stopped after ten seconds.
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
#: A contender that has run for this many seconds gets no further rounds.
MOST_SECONDS: Final = 1.0
#: A peer is stopped after this many seconds in one call: Python loops over elements take minutes.
GIVEN_UP: Final = 10


def execute_groups() -> Iterator[Group]:
    """Yield a group per case, then one that summarizes their ratios."""
    ratios: dict[str, dict[str, float]] = {RUNTIME: {}, REFERENCE: {}}
    for case in CASES:
        name = f"{case.operator} {case.what}".strip()
        yield _group(name, case, ratios)
    yield Group(f"{len(CASES)} nodes", [], remarks=lambda: list(_count_call(ratios)))


def _count_call(ratios: Mapping[str, Mapping[str, float]]) -> Iterator[tuple[str, str]]:
    """Yield per peer the median and worst ratio, and the number above 1."""
    for name, numbers_by_name in ratios.items():
        if numbers_by_name:
            worst = sorted(numbers_by_name, key=lambda each: -numbers_by_name[each])[:5]
            yield f"against {name}, median", f"{median(numbers_by_name.values()):.2f} times its time"
            yield f"against {name}, most", ", ".join(f"{each} {numbers_by_name[each]:.1f}" for each in worst)
            yield (
                f"against {name}, slower for",
                f"{sum(ratio > 1 for ratio in numbers_by_name.values())} of {len(numbers_by_name)}",
            )


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
    messages: list[tuple[str, str]] = []
    contenders = [
        own,
        _able(peer(RUNTIME, lambda: _runtime(model, arrays)), messages),
        _able(peer(REFERENCE, lambda: _reference(model, arrays, messages)), messages),
    ]

    def remarks() -> list[tuple[str, str]]:
        for contender in contenders[1:]:
            if contender.typical and own.typical:
                ratios[contender.name][name] = own.typical / contender.typical
        return messages

    return Group(name, contenders, 0.02, remarks=remarks, clock=process_time, most_seconds=MOST_SECONDS)


def _able(contender: Contender, messages: list[tuple[str, str]]) -> Contender:
    """Return a peer; without a function if it fails at its node or is slow.

    A peer is slow if one call is enough to measure it.
    """
    if contender.call is None:
        return contender
    begin = perf_counter()
    try:
        with _at_most(GIVEN_UP):
            contender.call()
    except TimeoutError:
        return Contender(contender.name, None, missing=f"given up after {GIVEN_UP} s")
    except Exception as error:  # peers may raise anything
        return Contender(contender.name, None, missing=f"fails ({type(error).__name__})")
    count = perf_counter() - begin
    if count <= MOST_SECONDS:
        return contender
    messages.append((contender.name, f"called once, as it takes more than {MOST_SECONDS:g} s"))
    return Contender(contender.name, None, seconds=[count])


@contextmanager
def _at_most(seconds: int) -> Iterator[None]:
    """Raise TimeoutError in code that runs too long.

    Needs signals: it has no effect in threads and on Windows.
    """

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
    def make() -> Any:
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

    return make


def _runtime(model: Callable[[], Any], arrays: Mapping[str, NDArray[Any]]) -> Callable[[], object]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model().SerializeToString(), options, providers=["CPUExecutionProvider"])
    return lambda: session.run(None, arrays)


def _reference(
    model: Callable[[], Any], arrays: Mapping[str, NDArray[Any]], messages: list[tuple[str, str]]
) -> Callable[[], object]:
    from onnx.reference import ReferenceEvaluator

    evaluator = ReferenceEvaluator(model())
    views: bool | None = None  # until the first run

    def run() -> object:
        nonlocal views
        outputs = evaluator.run(None, dict(arrays))
        if views is None:
            views = any(np.may_share_memory(item, array) for item in outputs for array in arrays.values())
            if views:
                messages.append((REFERENCE, "gives a view of its input, which is copied here as the others do"))
        return [np.array(item, order="C") for item in outputs] if views else outputs

    return run
