"""Every kernel stays within its estimated memory, so budgets prevent excess.

The examples of all tables are enlarged, executed and measured. The test names no kernel, so it covers new ones.
"""

from __future__ import annotations

import tracemalloc
from contextlib import suppress
from functools import partial
from itertools import chain
from math import prod
from random import Random
from threading import Thread
from typing import Any

import numpy as np
import pytest

from specgate.conform.cases import fill
from specgate.descriptors.core import Descriptor, TensorDesc
from specgate.descriptors.read import read_dict
from specgate.dialects import BUILT_IN
from specgate.errors import Error, InputError, NoKernel
from specgate.execution import engine, kernels, memory
from specgate.execution.arguments import recipe_of
from specgate.execution.engine import execute_at
from specgate.spec.lint import levels_of_example
from specgate.spec.tables import dialect
from specgate.validate.check import accepts
from tests.properties.support import list_unclaimed

LARGE = 2**14
#: Memory of a Python call. LARGE exceeds numpy's buffers (8192 elements), which count as well.
CONSTANT = 2**16
OPERATORS = [
    (name, operator)
    for name in BUILT_IN
    for operator in dialect(name).operators
    if dialect(name).operator(operator).table.recipe is not None
]
#: Kernels whose examples cannot be enlarged, because attributes or input elements are sizes too.
NOT_ENLARGED = {
    "col2im", "col2im_columns", "decode_image", "slice_gradient", "nonzero_coordinates", "prior_box_clustered", "arange", "gather_tree", "quantized_add", "squeeze",
    "mel_weight_matrix", "cast_map", "slice_counted", "slice_window", "dict_vectorizer",
    # sequences and optionals do not have sizes
    "empty_sequence", "optional_has_element", "optional_get_element", "concat_from_sequence", "sequence_at", "sequence_length", "sequence_insert",
    "sequence_erase", "stated_value",
}  # fmt: skip
measured: set[str] = set()


class Quick(Random):
    """Draw large arrays several times as fast, with slightly uneven probabilities."""

    def randrange(self, start, stop=None, step=1):
        return int(self.random() * start) if stop is None else super().randrange(start, stop, step)

    def randint(self, a, b):
        return a + int(self.random() * (b - a + 1))


asked: set[tuple[str, str]] = set()


def resize(descriptor, change, attributes=lambda numbers: numbers):
    """Return a descriptor with other sizes and packed layouts.

    `attributes` changes integers and lists of integers.
    """

    def other(value):
        if isinstance(value, TensorDesc):
            sizes = None if value.sizes is None or None in value.sizes else change(tuple(value.sizes))
            return value._replace(sizes=sizes, strides=None, size_in_bytes=None)
        if isinstance(value, list | tuple) and value and all(type(part) is int for part in value):
            result = attributes(value)
            return type(value)(*result) if hasattr(value, "_fields") else type(value)(result)
        if isinstance(value, list | tuple) and value and isinstance(value[0], TensorDesc):
            return [other(part) for part in value]
        return attributes([value])[0] if type(value) is int else value

    fields = {name: other(value) for name, value in descriptor.fields.items()}
    return Descriptor(descriptor.dialect, descriptor.operator, fields, descriptor.version, layout=descriptor.layout)


def shapes_of(descriptor):
    values = [v for value in descriptor.fields.values() for v in (value if type(value) is list else [value])]
    return [tuple(v.sizes) for v in values if isinstance(v, TensorDesc) and v.sizes and None not in v.sizes]


def enlarge(descriptor):
    """Yield the descriptor with one dimension of all tensors enlarged.

    The dimension is chosen by position or by size.
    """
    shapes = shapes_of(descriptor)
    if not shapes:
        return
    times = -(-LARGE // max(1, *map(prod, shapes)))
    rank = max(map(len, shapes))

    def by_place(place, shape):
        return tuple(n * times if i == place and len(shape) == rank else n for i, n in enumerate(shape))

    def by_size(size, numbers):
        return tuple(n * times if n == size else n for n in numbers)

    for place in range(rank):
        yield resize(descriptor, partial(by_place, place))
    for size in sorted({n for shape in shapes for n in shape if n > 1}):
        yield resize(descriptor, partial(by_size, size))
        yield resize(descriptor, partial(by_size, size), partial(by_size, size))


def attempts(name, operator, *, tame=True):
    """Yield distinct enlarged examples of an operator with arrays, if valid."""
    spec, names = dialect(name).operator(operator), set()
    for stated in spec.table.examples.values():
        levels = [level for level in levels_of_example(spec, stated) if spec.has_kernel(level)]
        if not levels:
            continue
        for result in enlarge(read_dict(stated["descriptor"], name)):
            message = repr((result.fields, levels[-1]))
            if max(map(prod, shapes_of(result))) > 4 * LARGE or message in names:
                continue
            names.add(message)
            try:
                if accepts(result, levels[-1], "documented"):
                    yield list_unclaimed(result), fill(result, levels[-1], Quick(0), tame=tame), levels[-1]
            except Error:
                continue


def peak_and_claim(monkeypatch, descriptor, arrays, level):
    """Return a kernel's peak memory and its estimate.

    Memory of other threads counts as well: pytest-xdist allocates a megabyte when it moves two thousand tests to
    another process. So excess is measured again; a kernel's own excess recurs.
    """
    claims, peaks, least = [0], [0], 2**63
    check, find = memory.Budget.check, kernels.find_kernel

    def record_call(budget, needed, what):
        claims.append(budget.max_bytes - budget.left + needed)
        check(budget, needed, what)

    def measuring(name):
        kernel = find(name)

        def run(**arguments):
            tracemalloc.start()
            try:
                return kernel(**arguments)
            finally:
                peaks.append(tracemalloc.get_traced_memory()[1])
                tracemalloc.stop()

        return run

    with monkeypatch.context() as patch:
        patch.setattr(memory.Budget, "check", record_call)
        execute_at(descriptor, arrays, level, max_bytes=2**33)  # once for what is imported on the way
        patch.setattr(engine, "find_kernel", measuring)
        for _ in range(3):
            peaks[:] = [0]
            execute_at(descriptor, arrays, level, max_bytes=2**33)
            least = min(least, max(peaks))
            if least <= max(claims) + CONSTANT:
                break
    return least, max(claims)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "operator"), OPERATORS)
def test_kernel_memory_stays_within_its_budget(monkeypatch, name, operator):
    asked.add((name, operator))
    kernel = recipe_of(dialect(name).operator(operator))["kernel"]
    for count, (descriptor, arrays, level) in enumerate(attempts(name, operator)):
        try:
            peak, claim = peak_and_claim(monkeypatch, descriptor, arrays, level)
        except (InputError, NoKernel):  # values that do not match the enlarged sizes
            continue
        measured.add(kernel)
        assert peak <= claim + CONSTANT, (descriptor.fields, peak, claim)
        if count >= 2:
            break


def test_memory_of_another_thread_is_not_counted(monkeypatch):
    """pytest-xdist rebalanced during a measurement, whose memory then exceeded the budget."""
    spec = dialect("onnx").operator("Abs")
    descriptor, arrays, level = next(attempts("onnx", "Abs"))
    kernel = kernels.find_kernel(recipe_of(spec)["kernel"])
    calls: list[None] = []

    def disturb(**arguments):
        calls.append(None)
        if len(calls) == 1:
            thread = Thread(target=bytes, args=(2**24,))
            thread.start()
            thread.join()
        return kernel(**arguments)

    monkeypatch.setattr(kernels, "find_kernel", lambda name: disturb)
    peak, claim = peak_and_claim(monkeypatch, descriptor, arrays, level)
    assert peak <= claim + CONSTANT
    assert len(calls) == 2


def test_excessive_kernel_memory_is_repeatable(monkeypatch):
    descriptor, arrays, level = next(attempts("onnx", "Abs"))
    kernel = kernels.find_kernel(recipe_of(dialect("onnx").operator("Abs"))["kernel"])

    def greedy(**arguments):
        data = bytes(2**24)
        return kernel(**arguments) if data else None

    monkeypatch.setattr(kernels, "find_kernel", lambda name: greedy)
    peak, claim = peak_and_claim(monkeypatch, descriptor, arrays, level)
    assert peak > claim + CONSTANT


#: Operators and sizes that exceeded their estimates; the test above uses other sizes.
EXCEEDING = [
    ("directml", "RESAMPLE", (4920, 3)),  # enlarged along one axis before it is reduced along another
    ("directml", "RESAMPLE_GRAD", (4920, 3)),
    ("directml", "RNN", (1, 1, 1640, 4)),
    ("directml", "ROI_ALIGN", (2, 129, 8, 8)),
    ("onnx", "Multinomial", (2, 8193)),
    ("onnx", "SplitToSequence", (3278, 5)),  # many arrays, each of few elements
    ("onnx", "com.microsoft.GridSample", (1, 1, 8193, 2)),
    ("onnx", "com.microsoft.MurmurHash3", (16384,)),
    ("openvino", "EmbeddingBagOffsets", (1230, 2, 4)),  # float16: room for more elements than the input has
    ("openvino", "GRUSequence", (2, 1710, 3)),
    ("openvino", "LRN", (2, 3, 4, 685)),
    ("openvino", "LSTMCell", (512, 3)),
    ("openvino", "NMSRotated", (1, 3280, 5)),
    ("openvino", "RNNCell", (2048, 3)),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "operator", "sizes"), EXCEEDING)
def test_memory_of_known_critical_sizes_is_counted(monkeypatch, name, operator, sizes):
    result = chain(attempts(name, operator), attempts(name, operator, tame=False))
    outcome = [attempt for attempt in result if sizes in shapes_of(attempt[0])]
    assert len(outcome) > 1
    for descriptor, arrays, level in outcome:
        with suppress(NoKernel):  # values with an unspecified result
            peak, claim = peak_and_claim(monkeypatch, descriptor, arrays, level)
            assert peak <= claim + CONSTANT, (descriptor.fields, peak, claim)


def test_every_kernel_is_measured():
    """Runs after the test above, in the same process."""
    names = {recipe_of(dialect(name).operator(operator))["kernel"] for name, operator in OPERATORS}
    if asked != set(OPERATORS):
        pytest.skip("another process measured some of them")
    assert names - measured <= NOT_ENLARGED


#: Small inputs with large outputs: descriptor, arrays.
GROWING: dict[str, tuple[dict[str, Any], list[Any]]] = {
    "broadcast": ({"op_type": "Pow"}, [np.ones((256, 1)), np.ones((1, 256), "i8")]),
    "broadcast-shift": (
        {"op_type": "BitShift", "attributes": {"direction": "LEFT"}},
        [np.ones((256, 1), "u8"), np.ones((1, 256), "u8")],
    ),
    "product": ({"op_type": "MatMul"}, [np.ones((256, 1)), np.ones((1, 256))]),
    "integer-product": ({"op_type": "MatMul"}, [np.ones((256, 1), "i8"), np.ones((1, 256), "i8")]),
    "sum": ({"op_type": "Gemm"}, [np.ones((256, 1), "f4"), np.ones((1, 256), "f4"), np.ones(1, "f4")]),
    "select": ({"op_type": "Where"}, [np.ones((256, 1), bool), np.ones((1, 256)), np.ones(1)]),
    "several": ({"op_type": "Max"}, [np.ones((256, 1)), np.ones((1, 256))]),
    "mean": ({"op_type": "Mean"}, [np.ones((256, 1)), np.ones((1, 256))]),
    "compared": ({"op_type": "Less"}, [np.ones((256, 1)), np.ones((1, 256))]),
    "slope": ({"op_type": "PRelu"}, [np.ones((256, 256)), np.ones((1, 256))]),
    "remainder": ({"op_type": "Mod"}, [np.ones((256, 1), "i8"), np.ones((1, 256), "i8")]),
    "tile": ({"op_type": "Tile"}, [np.ones((4, 4), "c16"), np.array([64, 64])]),
    "expand": ({"op_type": "Expand"}, [np.ones((1, 1)), np.array([256, 256])]),
    "pad": ({"op_type": "Pad", "attributes": {"mode": "constant"}}, [np.ones((1, 1)), np.array([255, 0, 0, 255])]),
    "edges": ({"op_type": "Pad", "attributes": {"mode": "edge"}}, [np.ones((1, 1)), np.array([255, 0, 0, 255])]),
    "hot": ({"op_type": "OneHot"}, [np.arange(256), np.array(256), np.array([0.0, 1.0])]),
    "picked": ({"op_type": "Gather"}, [np.ones((4, 64)), np.zeros(1024, "i8")]),
    "blocks": ({"op_type": "DequantizeLinear"}, [np.ones((256, 256), "i1"), np.ones((), "f4")]),
    "counting": (
        {"op_type": "AveragePool", "attributes": {"kernel_shape": [2], "pads": [1, 1], "count_include_pad": 1}},
        [np.ones((1, 1, 65536), "f4")],
    ),
    "windows": (
        {"op_type": "MaxPool", "attributes": {"kernel_shape": [256], "pads": [255, 255]}},
        [np.ones((1, 1, 512), "f4")],
    ),
    "filters": ({"op_type": "Conv"}, [np.ones((1, 4, 3, 3), "f4"), np.ones((4096, 4, 3, 3), "f4")]),
    "transposed": (
        {"op_type": "ConvTranspose", "attributes": {"strides": [64, 64]}},
        [np.ones((1, 1, 4, 4), "f4"), np.ones((1, 4, 3, 3), "f4")],
    ),
}


@pytest.mark.parametrize("case", GROWING)
def test_growing_output_is_limited_by_the_budget(monkeypatch, case):
    stated, arrays = GROWING[case]
    types = {np.dtype(info["numpy"]): name for name, info in dialect("onnx").types.items() if info["numpy"]}
    inputs = [{"elem_type": types[array.dtype], "shape": list(array.shape)} for array in arrays]
    descriptor = read_dict({**stated, "inputs": inputs, "outputs": [{"elem_type": None, "shape": None}]}, "onnx")
    spec = dialect("onnx").operator(stated["op_type"])
    several = spec.layout("17").inputs[0].type == "tensor[]"
    infos = spec.layout("17").inputs
    arguments = {infos[0].name: arrays} if several else {i.name: a for i, a in zip(infos, arrays, strict=False)}
    peak, claim = peak_and_claim(monkeypatch, descriptor, arguments, "17")
    assert peak > 2 * CONSTANT or case == "windows"
    assert peak <= claim + CONSTANT, (peak, claim)
    with pytest.raises(InputError, match=f"more than the limit of {claim - 1}"):
        execute_at(descriptor, arguments, "17", max_bytes=claim - 1)
    assert execute_at(descriptor, arguments, "17", max_bytes=claim)
