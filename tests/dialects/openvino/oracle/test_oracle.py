"""The installed OpenVINO: every reply of every column, differences, values."""

from __future__ import annotations

import textwrap
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from specgate.dialects.openvino.oracle import oracle as openvino_oracle
from specgate.dialects.openvino.oracle.oracle import OpenVINOOracle
from specgate.dialects.openvino.reader import read
from specgate.errors import InputError
from specgate.execution.engine import execute_at
from specgate.oracles.protocol import Oracle, Reply

pytestmark = pytest.mark.oracle
if find_spec("openvino") is None:
    pytest.skip("OPENVINO IS NOT TESTED: pip install openvino", allow_module_level=True)

#: Replaces the real process: the attribute `mark` selects its behaviour for one column.
MARKED = """
    import os, time
    from specgate.dialects.openvino.oracle import child as openvino_child

    def make_asker(level):
        answer, asked = openvino_child.make_asker(level), []
        def marked(question):
            asked.append(question)
            mark = question[1].data.get("mark")
            if mark == question[0] + " dies" or (mark == question[0] + " dies later" and len(asked) > 1):
                os._exit(7)
            if mark == question[0] + " hangs":
                time.sleep(60)
            return answer(question)
        return marked
"""


@pytest.fixture(scope="module")
def oracle():
    with OpenVINOOracle("opset16") as result:
        yield result


@pytest.fixture
def marked(tmp_path, monkeypatch):
    """Return an oracle whose process can be made to crash or hang."""
    (tmp_path / "marked_openvino.py").write_text(textwrap.dedent(MARKED), encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(openvino_oracle, "_CHILD", "marked_openvino")
    with OpenVINOOracle("opset16", timeout=2.0) as result:
        yield result


def one_hot(kind="f32", index="i64", depth=None, *, outputs=(), version="opset1", **data):
    inputs = [
        {"element_type": index, "shape": [4]},
        {"element_type": "i64", "shape": []} | ({} if depth is None else {"value": depth}),
        {"element_type": kind, "shape": []},
        {"element_type": kind, "shape": []},
    ]
    layer = {"type": "OneHot", "version": version, "inputs": inputs, "outputs": list(outputs)}
    return read(layer | {"data": {"axis": -1} | data})


def unique(axis):
    inputs = [{"element_type": "f32", "shape": [3]}, {"element_type": "i64", "shape": [1], "value": axis}]
    return read({"type": "Unique", "version": "opset10", "inputs": inputs, "outputs": []})


def arrays(kind="float32", index="int64", **changes):
    arrays_by_name = {"indices": np.array([0, 3, 1, 2], index), "depth": np.array(3)}
    return arrays_by_name | {"on_value": np.array(5, kind), "off_value": np.array(2, kind)} | changes


def reply_words(replies):
    return {column: reply.word for column, reply in replies.items()}


def test_openvino_oracle_implements_the_protocol(oracle):
    typed: Oracle = oracle
    assert (typed.dialect, typed.level, list(typed.versions)) == ("openvino", "opset16", ["factory", "ir"])
    assert oracle.versions["factory"][:2] == "20"
    assert oracle.ask([]) == []


@pytest.mark.parametrize(
    ("descriptor", "factory", "ir", "detail"),
    [
        (one_hot(), "accepted", "accepted", ""),
        (one_hot(axis=2), "rejected", "rejected", "Axis 2 out of the tensor rank range [-2, 1]."),
        (one_hot(depth=-1), "rejected", "rejected", "OneHot depth value can't be negative."),
        (one_hot("u6", version="opset16", negative_indices_mode="normalize"), "accepted", "accepted", ""),
        (one_hot(version="opset16", negative_indices_mode="none"), "rejected", "rejected", '"none" is not a member'),
        (one_hot(axis={}), "rejected", "not asked", "Unable to cast Python instance of type <class 'dict'>"),
        (one_hot(axis=1.5), "rejected", "accepted", "Unable to cast Python instance of type <class 'float'>"),
        (one_hot(axis=True), "accepted", "rejected", ""),
        (one_hot(unknown=1), "accepted", "accepted", ""),
        (one_hot(version="opset17"), "not asked", "not asked", "builds cannot be limited to opset16"),
        (unique([0]), "accepted", "accepted", ""),
        (unique(None), "not asked", "not asked", "does not state the value"),
    ],
)
def test_verdicts(descriptor, factory, ir, detail, oracle):
    (replies,) = oracle.ask([descriptor])
    assert reply_words(replies) == {"factory": factory, "ir": ir}
    assert detail in replies["factory"].detail
    assert "\n" not in replies["ir"].detail


@pytest.mark.parametrize(
    ("kind", "shape", "detail"),
    [
        ("i32", [4, 3], "output 0 is stated as i32, inferred is f32"),
        ("f32", [4, 4], "output 0 is stated as [4,4], inferred is [4,3]"),
        ("f32", [4], "output 0 is stated as [4], inferred is [4,3]"),
        ("f32", [-1, 3], ""),
        (None, None, ""),
    ],
)
def test_declared_output_is_checked_by_the_factory_only(kind, shape, detail, oracle):
    (replies,) = oracle.ask([one_hot(depth=3, outputs=[{"element_type": kind, "shape": shape}])])
    assert replies == {"factory": Reply("rejected" if detail else "accepted", detail), "ir": Reply("accepted")}


@pytest.mark.parametrize(
    "kind",
    ["f64", "f32", "f16", "bf16", "f8e4m3", "f8e5m2", "f8e8m0", "f4e2m1", "nf4", "i64", "i32", "i16", "i8", "i4"]
    + ["u64", "u32", "u16", "u8", "u6", "u4", "u3", "u2", "u1", "boolean", "string"],
)
def test_constants_of_every_type_reach_both(kind, oracle):
    value = ["a\0b", "", "\u00e9"] if kind == "string" else [1, 0, 1]
    result = one_hot(kind)
    of_shape = {"element_type": kind, "shape": [3], "value": value}
    bad = read({"type": "OneHot", "inputs": [of_shape] * 4, "data": {"axis": 0}})
    good = read(
        {"type": "OneHot", "inputs": [*INDICES, *[of_shape | {"shape": [], "value": value[0]}] * 2], "data": {}}
    )
    replies = oracle.ask([result, bad, good])
    assert [reply_words(r) for r in replies] == [{"factory": w, "ir": w} for w in ("accepted", "rejected", "accepted")]


INDICES: list[dict[str, Any]] = [
    {"element_type": "i64", "shape": [2, -1]},
    {"element_type": "i64", "shape": [], "value": 2**40},
]


def test_rejected_layer_does_not_affect_other_layers(oracle):
    items = [one_hot(), one_hot(axis={}), one_hot(axis=9), one_hot()] * 5
    assert [reply_words(r)["factory"] for r in oracle.ask(items)] == [
        "accepted",
        "rejected",
        "rejected",
        "accepted",
    ] * 5


def test_operators_with_many_tensors(oracle, scratch):
    scratch("openvino", concat=CONCAT, split=SPLIT)
    ports = [{"element_type": "f32", "shape": [2, size]} for size in (1, 2)]
    concat = read({"type": "Concat", "inputs": ports, "outputs": [], "data": {"axis": 1}})
    split = read({"type": "Split", "inputs": [ports[1], {**INDICES[1], "value": 1}], "data": {"num_splits": 2}})
    assert [reply_words(r) for r in oracle.ask([concat, split])] == [{"factory": "accepted", "ir": "accepted"}] * 2
    first, second = np.ones((2, 1), np.float32), np.zeros((2, 2), np.float32)
    for result in oracle.values(concat, {"inputs": [first, second]}).values():
        assert result.arrays is not None
        assert np.array_equal(result.arrays["output"], np.concatenate([first, second], 1))
    for result in oracle.values(split, {"data": second + np.array([[1, 2]], np.float32)}).values():
        assert {name: array.tolist() for name, array in result.arrays.items()} == {
            "outputs[0]": [[1], [1]],
            "outputs[1]": [[2], [2]],
        }
    assert oracle.values(concat, {"inputs": [first]})["cpu"].reply.word == "not asked"


CONCAT = """
operator: Concat
summary: joins tensors
source: [{note: scratch}]
fields:
  inputs: {kind: input, type: "tensor[]"}
  output: {kind: output}
  axis: {kind: attribute, type: int}
support: {opset1: {}}
"""
SPLIT = """
operator: Split
summary: cuts a tensor
source: [{note: scratch}]
fields:
  data: {kind: input}
  axis: {kind: input}
  outputs: {kind: output, type: "tensor[]"}
  num_splits: {kind: attribute, type: int}
support: {opset1: {}}
"""


def test_attribute_names_as_documented(oracle, scratch):
    scratch("openvino", relu=SPLIT.replace("Split", "ReLU"), nope=SPLIT.replace("Split", "Nope"))
    relu, nope = (read({"type": kind, "inputs": [INDICES[0]], "data": {}}) for kind in ("ReLU", "Nope"))
    assert [reply_words(r) for r in oracle.ask([relu, nope])] == [
        {"factory": w, "ir": w} for w in ("accepted", "rejected")
    ]


@pytest.mark.parametrize(
    ("descriptor", "inputs", "evaluate", "cpu", "detail"),
    [
        (one_hot(), arrays(), "accepted", "accepted", ""),
        (one_hot(axis=2), arrays(), "rejected", "rejected", "Axis 2 out of the tensor rank range [-2, 1]."),
        (one_hot(depth=3), arrays(depth=np.array(4)), "not asked", "not asked", "depth is a constant"),
        (one_hot(index="u8"), arrays(index="uint8"), "no kernel", "no kernel", "Node.evaluate returns False"),
        (one_hot(), arrays(depth=np.array(2**30)), "not asked", "not asked", "more than 268435456 bytes"),
        (one_hot("i64"), arrays("int64", on_value=np.array(2**31)), "accepted", "not asked", ""),
        (one_hot("nf4"), arrays(), "not asked", "not asked", "nf4 has no numpy type"),
    ],
)
def test_reply_words_of_values(descriptor, inputs, evaluate, cpu, detail, oracle):
    result = oracle.values(descriptor, inputs)
    assert {column: values.reply.word for column, values in result.items()} == {"evaluate": evaluate, "cpu": cpu}
    assert all((values.arrays is not None) == (values.reply.word == "accepted") for values in result.values())
    assert detail in result["evaluate"].reply.detail


@pytest.mark.parametrize("kind", ["f64", "f32", "f16", "i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8", "boolean"])
@pytest.mark.parametrize("mode", ["ignore_negative", "normalize"])
def test_values_match_the_executor(kind, mode, oracle):
    names = {"f": "float", "i": "int", "u": "uint", "b": "bool"}
    dtype = names[kind[0]] + kind[1:] if kind != "boolean" else "bool"
    indices = np.array([0, -1, 3, -4])
    inputs = [arrays(dtype), arrays(dtype, indices=indices), arrays(dtype, depth=np.array(0))]
    descriptor = one_hot(kind, version="opset16", negative_indices_mode=mode)
    for item, result in zip(inputs, oracle.compute_many(descriptor, inputs), strict=True):
        expected = execute_at(descriptor, item, "opset16")["output"]
        for values in result.values():
            assert values.reply == Reply("accepted")
            assert values.arrays["output"].dtype == expected.dtype
            assert np.array_equal(values.arrays["output"], expected)


@pytest.mark.slow
def test_dangerous_values_do_not_affect_other_results():
    with OpenVINOOracle("opset1") as outcome:  # the plugin accepts a negative depth at run time
        result = outcome.values(one_hot(), arrays(depth=np.array(-1)))
        assert result["evaluate"].reply == Reply("rejected", "OneHot depth value can't be negative.")
        assert result["cpu"].reply.word in {"accepted", "crashed"}
        assert outcome.values(one_hot(), arrays())["evaluate"].reply == Reply("accepted")


def test_unrepresentable_input_set_does_not_affect_other_sets(oracle):
    sets = [arrays(), arrays(depth=None), arrays()]
    result = oracle.compute_many(one_hot(), sets)
    assert [values["cpu"].reply.word for values in result] == ["accepted", "not asked", "accepted"]


@pytest.mark.slow
@pytest.mark.parametrize("column", ["factory", "ir"])
def test_crashed_or_hanging_process(column, marked):
    other = {"factory": "ir", "ir": "factory"}[column]
    warm, dies, hangs, later = (
        one_hot(),
        *(one_hot(mark=f"{column} {what}") for what in ("dies", "hangs", "dies later")),
    )
    result = [reply_words(replies) for replies in marked.ask([warm, warm, hangs, warm, dies, later, warm])]
    both = {"factory": "accepted", "ir": "accepted"}
    assert result == [
        both,
        both,
        {column: "timeout", other: "accepted"},
        both,
        {column: "crashed", other: "accepted"},
        both,
        both,
    ]


@pytest.mark.slow
@pytest.mark.parametrize("column", ["evaluate", "cpu"])
def test_crashed_or_hanging_process_during_execution(column, marked):
    def words_of(what):
        many = marked.compute_many(one_hot(mark=f"{column} {what}"), [arrays()])
        return {name: values.reply.word for name, values in many[0].items()}

    good = {"evaluate": "accepted", "cpu": "accepted"}
    assert words_of("rests") == good
    assert words_of("hangs") == good | {column: "timeout"}
    assert words_of("rests") == good
    assert words_of("dies later") == good
    assert words_of("dies") == good | {column: "crashed"}


def test_unusable_levels():
    with pytest.raises(InputError, match="unknown opset '16' of openvino"):
        OpenVINOOracle("16")


def test_missing_openvino_is_reported(monkeypatch):
    monkeypatch.setattr(openvino_oracle, "find_spec", lambda _: None)
    with pytest.raises(InputError, match="OpenVINO is not installed"):
        OpenVINOOracle("opset1")


@pytest.mark.slow
def test_openvino_does_not_start(tmp_path, monkeypatch):
    (tmp_path / "broken_openvino.py").write_text("def make_asker(level):\n    raise ImportError('no such library')\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(openvino_oracle, "_CHILD", "broken_openvino")
    with (
        OpenVINOOracle("opset1") as result,
        pytest.raises(InputError, match="cannot load OpenVINO: ImportError: no such library"),
    ):
        result.ask([one_hot()])


def pool(kind="AvgPool", **data):
    layer = {"type": kind, "inputs": [{"element_type": "f32", "shape": [1, 1, 4, 4]}], "outputs": []}
    options = {"kernel": [2, 2], "strides": [1, 1], "pads_begin": [0, 0], "pads_end": [0, 0], "exclude-pad": False}
    return read(layer | {"version": "opset16", "data": options | data})


@pytest.mark.slow
def test_layers_checked_by_the_plugin_only():
    item: dict[str, Any] = {"outputs": [], "data": {}}
    questions = [
        pool(dilations=[1, 1]),
        pool(kernel=[9, 9], dilations=[1, 1]),
        pool(),
        read({"type": "Result", "inputs": [{"element_type": "f32", "shape": [2]}]} | item),
        read({"type": "Identity", "inputs": [{"element_type": "u1", "shape": [2]}]} | item),
        read({"type": "Abs", "inputs": [{"element_type": "f8e4m3", "shape": [2]}]} | item),
    ]
    with OpenVINOOracle("opset16", ("cpu",)) as alone:
        replies = alone.ask(questions)
        assert list(alone.versions) == ["cpu"]
    assert [reply["cpu"].word for reply in replies] == [
        "accepted", "rejected", "crashed", "not asked", "not asked", "rejected",
    ]  # fmt: skip
    assert "model output" in replies[3]["cpu"].detail
    assert "not accept a Parameter of u1" in replies[4]["cpu"].detail
