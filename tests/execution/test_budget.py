"""Every kernel keeps to what it is estimated to work with, so that a budget refuses what would exceed it.

The examples of all tables are enlarged, executed and measured: no kernel is named here, so a new one is measured too.
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
from specgate.dialects import SHIPPED
from specgate.errors import Error, InputError, NoKernel
from specgate.execution import engine, kernels, memory
from specgate.execution.arguments import recipe_of
from specgate.execution.engine import execute_at
from specgate.spec.lint import levels_of_example
from specgate.spec.tables import dialect
from specgate.validate.check import accepts
from tests.properties.support import unclaimed

LARGE = 2**14
#: What Python itself takes for a call. LARGE is more than numpy's buffers have (8192 elements), for the same reason.
CONSTANT = 2**16
OPERATORS = [
    (name, operator)
    for name in SHIPPED
    for operator in dialect(name).operators
    if dialect(name).operator(operator).table.recipe is not None
]
#: Kernels whose examples cannot be enlarged: their attributes, or the elements of inputs, are sizes too.
NOT_ENLARGED = {
    "add_blocks", "add_columns", "decode_image", "place_in_window", "rows_not_zero", "boxes_of_lists", "numbers_between", "paths_of_beams", "quantized_add", "remove_dimensions",
    "mel_weights", "row_of_map", "slice_counted", "slice_window", "values_at_words",
    # sequences and optionals have no sizes of their own
    "empty_sequence", "has_value", "held_value", "join_sequence", "sequence_at", "sequence_length", "sequence_with",
    "sequence_without", "stated_value",
}  # fmt: skip
measured: set[str] = set()


class Quick(Random):
    """Draws the elements of large arrays several times as fast: that not all are exactly as likely does not matter."""

    def randrange(self, start, stop=None, step=1):
        return int(self.random() * start) if stop is None else super().randrange(start, stop, step)

    def randint(self, a, b):
        return a + int(self.random() * (b - a + 1))


asked: set[tuple[str, str]] = set()


def resized(descriptor, change, attributes=lambda numbers: numbers):
    """Return a descriptor with other sizes, and plain layouts; `attributes` changes whole numbers and lists of them."""

    def other(value):
        if isinstance(value, TensorDesc):
            sizes = None if value.sizes is None or None in value.sizes else change(tuple(value.sizes))
            return value._replace(sizes=sizes, strides=None, size_in_bytes=None)
        if isinstance(value, list | tuple) and value and all(type(part) is int for part in value):
            made = attributes(value)
            return type(value)(*made) if hasattr(value, "_fields") else type(value)(made)
        if isinstance(value, list | tuple) and value and isinstance(value[0], TensorDesc):
            return [other(part) for part in value]
        return attributes([value])[0] if type(value) is int else value

    fields = {name: other(value) for name, value in descriptor.fields.items()}
    return Descriptor(descriptor.dialect, descriptor.operator, fields, descriptor.version, layout=descriptor.layout)


def shapes_of(descriptor):
    values = [v for value in descriptor.fields.values() for v in (value if type(value) is list else [value])]
    return [tuple(v.sizes) for v in values if isinstance(v, TensorDesc) and v.sizes and None not in v.sizes]


def enlarged(descriptor):
    """Yield the descriptor with one dimension of all tensors larger: by its place, or by its size."""
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
        yield resized(descriptor, partial(by_place, place))
    for size in sorted({n for shape in shapes for n in shape if n > 1}):
        yield resized(descriptor, partial(by_size, size))
        yield resized(descriptor, partial(by_size, size), partial(by_size, size))


def attempts(name, operator, *, tame=True):
    """Yield enlarged examples of an operator with arrays, each once, as far as they are valid."""
    spec, known = dialect(name).operator(operator), set()
    for stated in spec.table.examples.values():
        levels = [level for level in levels_of_example(spec, stated) if spec.has_kernel(level)]
        if not levels:
            continue
        for made in enlarged(read_dict(stated["descriptor"], name)):
            said = repr((made.fields, levels[-1]))
            if max(map(prod, shapes_of(made))) > 4 * LARGE or said in known:
                continue
            known.add(said)
            try:
                if accepts(made, levels[-1], "documented"):
                    yield unclaimed(made), fill(made, levels[-1], Quick(0), tame=tame), levels[-1]
            except Error:
                continue


def peak_and_claim(monkeypatch, descriptor, arrays, level):
    """Return how many bytes a kernel takes at most, and how many of its budget it is held to have taken.

    What other threads of the process take meanwhile is counted as well: that of pytest-xdist takes a megabyte when it
    hands two thousand tests to another process. So what is too much is measured again: a kernel takes it each time.
    """
    claims, peaks, least = [0], [0], 2**63
    hold, find = memory.Budget.hold, kernels.find_kernel

    def noted(budget, needed, what):
        claims.append(budget.max_bytes - budget.left + needed)
        hold(budget, needed, what)

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
        patch.setattr(memory.Budget, "hold", noted)
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
def test_a_kernel_takes_no_more_than_it_is_held_to(monkeypatch, name, operator):
    asked.add((name, operator))
    kernel = recipe_of(dialect(name).operator(operator))["kernel"]
    for count, (descriptor, arrays, level) in enumerate(attempts(name, operator)):
        try:
            peak, claim = peak_and_claim(monkeypatch, descriptor, arrays, level)
        except (InputError, NoKernel):  # values that the enlarged sizes do not go with
            continue
        measured.add(kernel)
        assert peak <= claim + CONSTANT, (descriptor.fields, peak, claim)
        if count >= 2:
            break


def test_what_another_thread_takes_once_is_not_the_kernels(monkeypatch):
    """A steal of pytest-xdist came while a kernel was measured, and took more than its budget."""
    spec = dialect("onnx").operator("Abs")
    descriptor, arrays, level = next(attempts("onnx", "Abs"))
    kernel = kernels.find_kernel(recipe_of(spec)["kernel"])
    calls: list[None] = []

    def disturbed(**arguments):
        calls.append(None)
        if len(calls) == 1:
            thread = Thread(target=bytes, args=(2**24,))
            thread.start()
            thread.join()
        return kernel(**arguments)

    monkeypatch.setattr(kernels, "find_kernel", lambda name: disturbed)
    peak, claim = peak_and_claim(monkeypatch, descriptor, arrays, level)
    assert peak <= claim + CONSTANT
    assert len(calls) == 2


def test_a_kernel_that_takes_too_much_takes_it_each_time(monkeypatch):
    descriptor, arrays, level = next(attempts("onnx", "Abs"))
    kernel = kernels.find_kernel(recipe_of(dialect("onnx").operator("Abs"))["kernel"])

    def greedy(**arguments):
        taken = bytes(2**24)
        return kernel(**arguments) if taken else None

    monkeypatch.setattr(kernels, "find_kernel", lambda name: greedy)
    peak, claim = peak_and_claim(monkeypatch, descriptor, arrays, level)
    assert peak > claim + CONSTANT


#: Operators, and sizes of tensors, that took more than their kernels were held to. The test above takes others.
EXCEEDING = [
    ("directml", "RESAMPLE", (4920, 3)),  # enlarged along one axis before it is reduced along another
    ("directml", "RESAMPLE_GRAD", (4920, 3)),
    ("directml", "RNN", (1, 1, 1640, 4)),
    ("directml", "ROI_ALIGN", (2, 129, 8, 8)),
    ("onnx", "Multinomial", (2, 8193)),
    ("onnx", "SplitToSequence", (3278, 5)),  # many arrays, each of few elements
    ("onnx", "com.microsoft.GridSample", (1, 1, 8193, 2)),
    ("onnx", "com.microsoft.MurmurHash3", (16384,)),
    ("openvino", "EmbeddingBagOffsets", (1230, 2, 4)),  # float16: room for more elements than there are
    ("openvino", "GRUSequence", (2, 1710, 3)),
    ("openvino", "LRN", (2, 3, 4, 685)),
    ("openvino", "LSTMCell", (512, 3)),
    ("openvino", "NMSRotated", (1, 3280, 5)),
    ("openvino", "RNNCell", (2048, 3)),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "operator", "sizes"), EXCEEDING)
def test_sizes_that_took_more_than_was_held(monkeypatch, name, operator, sizes):
    found = chain(attempts(name, operator), attempts(name, operator, tame=False))
    made = [attempt for attempt in found if sizes in shapes_of(attempt[0])]
    assert len(made) > 1
    for descriptor, arrays, level in made:
        with suppress(NoKernel):  # of values for which it is not said what comes out
            peak, claim = peak_and_claim(monkeypatch, descriptor, arrays, level)
            assert peak <= claim + CONSTANT, (descriptor.fields, peak, claim)


def test_every_kernel_is_measured():
    """Runs behind the test above, in the same process."""
    known = {recipe_of(dialect(name).operator(operator))["kernel"] for name, operator in OPERATORS}
    if asked != set(OPERATORS):
        pytest.skip("another process measured some of them")
    assert known - measured <= NOT_ENLARGED


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
def test_what_grows_is_held_to_its_output(monkeypatch, case):
    stated, arrays = GROWING[case]
    types = {np.dtype(info["numpy"]): name for name, info in dialect("onnx").types.items() if info["numpy"]}
    inputs = [{"elem_type": types[array.dtype], "shape": list(array.shape)} for array in arrays]
    descriptor = read_dict({**stated, "inputs": inputs, "outputs": [{"elem_type": None, "shape": None}]}, "onnx")
    spec = dialect("onnx").operator(stated["op_type"])
    several = spec.layout("17").inputs[0].type == "tensor[]"
    infos = spec.layout("17").inputs
    given = {infos[0].name: arrays} if several else {i.name: a for i, a in zip(infos, arrays, strict=False)}
    peak, claim = peak_and_claim(monkeypatch, descriptor, given, "17")
    assert peak > 2 * CONSTANT or case == "windows"
    assert peak <= claim + CONSTANT, (peak, claim)
    with pytest.raises(InputError, match=f"more than the limit of {claim - 1}"):
        execute_at(descriptor, given, "17", max_bytes=claim - 1)
    assert execute_at(descriptor, given, "17", max_bytes=claim)
