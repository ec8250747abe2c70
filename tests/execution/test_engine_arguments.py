"""Arguments of kernels: attributes, fused operators, tensor arrays, declared types."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from specgate.descriptors.core import Descriptor, tensor
from specgate.dialects.directml.vocabulary import ScaleBias
from specgate.errors import InputError, NoKernel
from specgate.execution import kernels
from specgate.execution.engine import execute_at
from specgate.spec.operator_spec import OperatorSpec
from specgate.spec.tables import dialect

TENSORS = {"A": {"kind": "input"}, "Out": {"kind": "output"}}


@pytest.fixture
def operator(monkeypatch):
    """Add an operator to DirectML for one test; its kernel records calls in `seen`."""
    tables, seen = dialect("directml"), dict[str, Any]()
    operators, registered = dict(tables._operators), dict(kernels._registered)
    monkeypatch.setattr(tables, "_operators", operators)
    monkeypatch.setattr(kernels, "_registered", registered)

    def make(name, fields, execute, kernel=None, since="2.0"):
        def recording(**arguments):
            seen.clear()
            seen.update(arguments)
            return arguments["x"] if kernel is None else kernel(**arguments)

        registered[name.lower()] = recording
        recipe = {"kernel": name.lower(), "arrays": {"x": "A"}, "outputs": ["Out"], **execute}
        raw: dict[str, Any] = {"operator": name, "fields": fields, "support": {since: {}}, "execute": recipe}
        operators[name] = OperatorSpec(tables, raw)
        return seen

    return make


def run(name, *, arrays=None, level="6.4", **fields):
    whole = {"A": tensor("FLOAT32", [2]), "Out": tensor("FLOAT32", [2]), **fields}
    inputs = {"A": np.array([-1, 2], "f4")} if arrays is None else arrays
    return execute_at(Descriptor("directml", name, {k: v for k, v in whole.items() if v is not None}), inputs, level)


def test_attributes_are_passed_unchanged(operator):
    fields = {
        **TENSORS,
        "ScaleBias": {"kind": "attribute", "type": "scale-bias", "optional": True},
        "Least": {"kind": "attribute", "type": "scalar"},
        "Word": {"kind": "attribute", "type": "enum:X"},
        "Axes": {"kind": "attribute", "type": "uint[]"},
    }
    arguments = {"scale_bias": "ScaleBias", "least": "Least", "word": "Word", "axes": "Axes", "rank": "rank(A)"}
    seen = operator("SCALED", fields, {"arguments": arguments})
    run("SCALED", ScaleBias=ScaleBias(2.0, 0.5), Least=2**64 - 1, Word="EITHER", Axes=[0, 1])
    assert {k: v for k, v in seen.items() if k != "x"} == {
        "scale_bias": (2.0, 0.5),
        "least": 2**64 - 1,
        "word": "EITHER",
        "axes": [0, 1],
        "rank": 1,
    }
    run("SCALED", Least=1.5, Word="EITHER", Axes=[])
    assert "scale_bias" not in seen


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("scale-bias", "ab"), ("scale-bias", (1.0, 2.0)), ("scale-bias", ScaleBias(*"ab")), ("size-2d", 3),
        ("float", "x"), ("float", True), ("scalar", 2**200), ("uint[]", [1, "a"]), ("uint[]", 1), ("int", 1.5),
        ("bool", 1), ("operator", "RELU"), ("operator[]", tensor("FLOAT32", [2])),
    ],
)  # fmt: skip
def test_value_of_wrong_kind_is_rejected(operator, kind, value):
    fields = {**TENSORS, "Value": {"kind": "attribute", "type": kind}}
    operator("ODD", fields, {"arguments": {"value": "Value"}})
    with pytest.raises(InputError, match="Value"):
        run("ODD", Value=value)


def test_required_attributes_depend_on_the_level(operator):
    fields = {
        **TENSORS,
        "Old": {"kind": "attribute", "type": "float"},
        "New": {"kind": "attribute", "type": "float", "since": "5.0"},
        "Kept": {"kind": "attribute", "type": "float", "optional": True, "default": 3.0},
    }
    seen = operator("AGED", fields, {"arguments": {"old": "Old", "new": "New", "kept": "Kept"}})
    with pytest.raises(InputError, match="New is required, but missing from the descriptor"):
        run("AGED", Old=1.0)
    with pytest.raises(InputError, match="Old is required, but missing from the descriptor"):
        run("AGED", New=1.0)
    run("AGED", Old=1.0, level="4.1")
    assert {k: v for k, v in seen.items() if k != "x"} == {"old": 1.0, "kept": 3.0}


def test_unknown_sizes_are_not_passed_to_kernels(operator):
    operator("SIZED", TENSORS, {"arguments": {"sizes": "Out.sizes"}})
    with pytest.raises(InputError, match=r"Out\.sizes must be known"):
        run("SIZED", Out=tensor("FLOAT32", [None]))


FUSED: dict[str, Any] = {**TENSORS, "Activation": {"kind": "attribute", "type": "operator", "optional": True}}


def activate(x, activation=None):
    return x if activation is None else activation(x)


def test_fused_operator_is_passed_as_a_function(operator):
    operator("TWICE", {**TENSORS, "By": {"kind": "attribute", "type": "float"}}, {"arguments": {"by": "By"}},
             lambda x, by: x * np.float32(by))  # fmt: skip
    operator("OUTER", FUSED, {"arguments": {"activation": "Activation"}}, activate)
    inner = Descriptor("directml", "TWICE", {"By": 3.0})
    assert run("OUTER", Activation=inner)["Out"].tolist() == [-3, 6]
    assert run("OUTER")["Out"].tolist() == [-1, 2]


def test_fused_operators_in_a_list(operator):
    fields = {**TENSORS, "Activations": {"kind": "attribute", "type": "operator[]"}}
    operator("PLAIN", TENSORS, {}, lambda x: x + 1)
    operator("CHAIN", fields, {"arguments": {"all": "Activations"}}, lambda x, all: all[1](all[0](x)))  # noqa: A006
    assert run("CHAIN", Activations=[Descriptor("directml", "PLAIN", {})] * 2)["Out"].tolist() == [1, 4]


def test_a_fused_operator_that_cannot_be_computed_is_rejected(operator):
    operator("OUTER", FUSED, {"arguments": {"activation": "Activation"}}, activate)
    operator("BY", {**TENSORS, "By": {"kind": "attribute", "type": "float"}}, {"arguments": {"by": "By"}})
    operator("TWO", {**TENSORS, "B": {"kind": "input"}}, {"arrays": {"x": "A", "y": "B"}})
    with pytest.raises(InputError, match="By must be known"):
        run("OUTER", Activation=Descriptor("directml", "BY", {}))
    with pytest.raises(InputError, match="only attributes"):
        run("OUTER", Activation=Descriptor("directml", "BY", {"By": 1.0, "A": tensor("FLOAT32", [2])}))
    with pytest.raises(InputError, match="expected an operator of directml"):
        run("OUTER", Activation=Descriptor("onnx", "OneHot", {}))
    with pytest.raises(NoKernel, match="cannot be fused"):
        run("OUTER", Activation=Descriptor("directml", "TWO", {}))
    operator("LATE", TENSORS, {}, since="5.0")
    with pytest.raises(InputError, match="Activation: LATE does not exist at feature level 4"):
        run("OUTER", Activation=Descriptor("directml", "LATE", {}), level="4.1")


def test_the_declared_type_of_an_output(operator):
    seen = operator("TYPED", TENSORS, {"output_type": {"dtype": "Out"}}, lambda x, dtype: (x > 0).astype(dtype))
    assert run("TYPED", Out=tensor("UINT8", [2]))["Out"].tolist() == [0, 1]
    assert seen["dtype"] == np.uint8


MANY = {"As": {"kind": "input", "type": "tensor[]"}, "Outs": {"kind": "output", "type": "tensor[]"}}
RECIPE = {"arrays": {"x": "As"}, "outputs": ["Outs"]}


def two(*sizes):
    return [tensor("FLOAT32", [size]) for size in sizes]


def test_arrays_of_tensors_are_lists(operator):
    operator("TURNED", MANY, RECIPE, lambda x: x[::-1])
    arrays = {"As": [np.zeros(1, "f4"), np.ones(2, "f4")]}
    outputs = run("TURNED", A=None, Out=None, As=two(1, 2), Outs=two(2, 1), arrays=arrays)
    assert [part.tolist() for part in outputs["Outs"]] == [[1, 1], [0]]


@pytest.mark.parametrize(
    ("arrays", "outs", "message"),
    [
        ([np.zeros(1, "f4")], two(2, 1), "expected a list of 2 arrays"),
        (np.zeros((2, 1), "f4"), two(2, 1), "expected a list of 2 arrays"),
        ([np.zeros(1, "f4"), np.zeros(3, "f4")], two(2, 1), r"As\[1\]: expected the shape \[2\]"),
        ([np.zeros(1, "f4"), np.zeros(2, "f4")], two(2), "Outs: is computed as 2 tensors"),
        ([np.zeros(1, "f4"), np.zeros(2, "f4")], two(2, 3), r"Outs\[1\]: has the shape"),
        (None, two(2, 1), r"no array for the input As\[0\]"),
    ],
)
def test_mismatched_lists_are_rejected(operator, arrays, outs, message):
    operator("TURNED", MANY, RECIPE, lambda x: x[::-1])
    inputs = {} if arrays is None else {"As": arrays}
    with pytest.raises(InputError, match=message):
        run("TURNED", A=None, Out=None, As=two(1, 2), Outs=outs, arrays=inputs)


def test_optional_tensors_may_be_omitted(operator):
    fields = {**TENSORS, "B": {"kind": "input", "optional": True}, "Second": {"kind": "output", "optional": True}}
    recipe = {"arrays": {"x": "A", "y": "B"}, "outputs": ["Out", "Second"]}
    seen = operator("OPEN", fields, recipe, lambda x, y=None: (x, y))
    assert set(run("OPEN")) == {"Out"}
    assert "y" not in seen
    arrays = {"A": np.zeros(2, "f4"), "B": np.ones(2, "f4")}
    with pytest.raises(InputError, match="B: has an array, but is missing from the descriptor"):
        run("OPEN", arrays=arrays)
    outputs = run("OPEN", B=tensor("FLOAT32", [2]), Second=tensor("FLOAT32", [2]), arrays=arrays)
    assert outputs["Second"].tolist() == [1, 1]
    with pytest.raises(NoKernel, match="Second of OPEN is not computed"):
        run("OPEN", Second=tensor("FLOAT32", [2]))
    with pytest.raises(InputError, match="Out is required"):
        run("OPEN", Out=None)
