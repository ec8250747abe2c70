"""The script that infers: what it loads of the onnx package, and how it reads what that answers."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

import pytest

from specgate.dialects.onnx.infer import child
from tests.dialects.onnx.infer.samples import hidden
from tests.linting.models import BOOL, FLOAT, branch, graph, helper, info, model
from tests.paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

onnx = pytest.importorskip("onnx", reason="the onnx package infers")

LOADING = """
import sys
from specgate.dialects.onnx.infer import child
{before}
inference = child.loaded()
assert {whole} is ("onnx" in sys.modules), sys.modules.keys()
data = sys.stdin.buffer.read()
sys.stdout.buffer.write(child.inferred(inference, data, nested=True, values=True, named=True))
"""


def asked(data: bytes, before: str = "", *, whole: bool = False) -> bytes:
    code = LOADING.format(before=before, whole=whole)
    return subprocess.run([sys.executable, "-c", code], input=data, cwd=ROOT, check=True, capture_output=True).stdout


def nested() -> Any:
    """Return a model whose condition's branches have values of their own, the second one a branch again."""
    first = graph([helper.make_node("Relu", ["x"], ["a"])], [], [info("a", None)])
    deep = graph([helper.make_node("Abs", ["x"], ["d"])], [], [info("d", None)])
    other = graph([helper.make_node("Neg", ["x"], ["e"])], [], [info("e", None)])
    second = graph([branch(deep, other, target="b")], [], [info("b", None)])
    made = branch(first, second, target="y")
    return model(graph([made], [info("cond", [], BOOL), info("x", ["N", 3], FLOAT)], [info("y", None)]))


@pytest.mark.parametrize("made", [hidden(), nested()], ids=["flat", "nested"])
def test_the_extension_alone_answers_as_the_whole_package_does(made: Any) -> None:
    data = made.SerializeToString()
    broken = "def fails(): raise ImportError\nchild.extension = fails"
    assert asked(data) == asked(data, broken, whole=True)


def graphs(made: Any) -> Iterator[Any]:
    yield made
    for node in made.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from graphs(attribute.g)


@pytest.mark.parametrize("made", [hidden(), nested()], ids=["flat", "nested"])
def test_all_graphs_are_answered_outermost_first(made: Any) -> None:
    line, _, kinds = asked(made.SerializeToString()).partition(b"\n")
    said, sizes = json.loads(line)
    ends = list(accumulate(sizes, initial=0))
    types = [onnx.TypeProto.FromString(kinds[begin:end]) for begin, end in pairwise(ends)]
    inferred = onnx.shape_inference.infer_shapes(made, data_prop=True)
    wanted = [
        {one.name: one.type for one in (*held.value_info, *held.output) if one.HasField("type")}
        for held in graphs(inferred.graph)
    ]
    found = [{name: types[at] for name, at in zip(names, places, strict=True)} for names, places in said]
    assert found == wanted


def test_names_that_inference_made_up_are_left_out_and_others_stay() -> None:
    sizes = [onnx.TensorShapeProto.Dimension(dim_param=name) for name in ("unk__3", "N")]
    sizes += [onnx.TensorShapeProto.Dimension(dim_value=300), onnx.TensorShapeProto.Dimension()]
    kind = onnx.TypeProto()
    kind.tensor_type.elem_type = FLOAT
    kind.tensor_type.shape.dim.extend(sizes)
    sequence = onnx.TypeProto()
    sequence.sequence_type.elem_type.CopyFrom(kind)
    kept = onnx.TypeProto.FromString(child.without(kind.SerializeToString(), child.SIZE_NAMES, b"unk__"))
    assert [(one.dim_param, one.dim_value) for one in kept.tensor_type.shape.dim] == [
        ("", 0),
        ("N", 0),
        ("", 300),
        ("", 0),
    ]
    assert kept.tensor_type.elem_type == FLOAT
    data = sequence.SerializeToString()
    assert child.without(data, child.SIZE_NAMES, b"unk__") == data


def test_types_that_differ_in_made_up_names_alone_are_one_without_them_and_others_stay_apart() -> None:
    def kind(*names: str) -> bytes:
        made = onnx.TypeProto()
        made.tensor_type.elem_type = FLOAT
        made.tensor_type.shape.dim.extend(onnx.TensorShapeProto.Dimension(dim_param=name) for name in names)
        data: bytes = made.SerializeToString()
        return data

    given = [kind("unk__3", "N"), kind("unk__7", "N"), kind("unk__12", "N"), kind("unk__3", "M"), kind("my_unk__1"),
             kind("my_unk__2"), kind("unk__x1"), kind("unk__x2")]  # fmt: skip
    found = child.nameless(given)
    assert found == {one: child.without(one, child.SIZE_NAMES, b"unk__") for one in given}
    assert len({found[one] for one in given}) == 5


@pytest.mark.parametrize("value", [0, 1, 127, 128, 300, 2**35, 2**64 - 1])
def test_varints(value: int) -> None:
    data = b"\x01" + child.written(value) + b"\x7f"
    assert child.number(data, 1) == (value, len(data) - 1)
