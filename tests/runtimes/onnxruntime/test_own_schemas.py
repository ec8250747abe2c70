"""Contrib schemas: the version that an import means, and contents per release."""

from __future__ import annotations

import pytest

from specgate.errors import InputError
from specgate.linting.input_source import InputSource
from specgate.linting.settings import LintSettings
from specgate.runtimes.onnxruntime.place import place_model
from specgate.runtimes.onnxruntime.schemas import own_schema, schema_of
from specgate.targets import parse_target


def test_a_schema_has_its_parts_in_order() -> None:
    schema = own_schema("com.microsoft", "QLinearSigmoid", 1)
    assert schema is not None
    assert [(each.name, each.only or each.limited, each.optional) for each in (*schema.inputs, *schema.outputs)] == [
        ("X", "T", False), ("X_scale", "FLOAT", False), ("X_zero_point", "T", True),
        ("Y_scale", "FLOAT", False), ("Y_zero_point", "T", True), ("Y", "T", False),
    ]  # fmt: skip
    assert schema.bound["T"] == ((False, 0), (False, 2), (False, 4), (True, 0))
    several = own_schema("com.microsoft", "QLinearConcat", 1)
    assert several is not None
    assert (several.inputs[-1].name, several.inputs[-1].limited, several.inputs[-1].several) == ("inputs", "TV", True)
    assert [(each.name, each.type, each.default) for each in several.attributes] == [("axis", "int", None)]


def test_the_import_decides_the_version() -> None:
    first, second = (own_schema("", "Affine", opset) for opset in (9, 10))
    assert first is not None
    assert second is not None
    assert (first.since, second.since) == (1, 10)
    assert [(each.type, each.default) for each in first.attributes if each.name == "alpha"] == [("float", 1.0)]


def test_operators_missing_in_the_runtime() -> None:
    assert own_schema("com.microsoft", "Nothing", 1) is None
    assert own_schema("com.example", "QLinearSigmoid", 1) is None
    assert own_schema("com.microsoft", "CausalConvWithState", 1, "1.20.1") is None
    assert own_schema("com.microsoft", "CausalConvWithState", 1, "1.31") is not None
    with pytest.raises(InputError, match=r"unknown release '1\.99'"):
        own_schema("com.microsoft", "QLinearSigmoid", 1, "1.99")


def test_inputs_change_their_names_with_the_release() -> None:
    older, newer = (own_schema("com.microsoft", "Attention", 1, release) for release in ("1.19", "1.20"))
    assert older is not None
    assert newer is not None
    assert (older.inputs[5].name, newer.inputs[5].name) == ("relative_position_bias", "attention_bias")


def test_an_operator_that_the_runtime_had_before_onnx():
    """Its optimizer writes LayerNormalization below opset 17; both providers have kernels."""
    early = schema_of("", "LayerNormalization", 13, "1.24")
    assert early is not None
    assert early.since == 1
    assert [param.limited for param in early.inputs] == ["T", "V", "V"]
    assert schema_of("", "LayerNormalization", 13) is None
    later = schema_of("", "LayerNormalization", 17, "1.24")
    assert later is not None
    assert later.since == 17


def test_contrib_schemas_depend_on_the_release():
    names = [
        [param.name for param in schema.inputs]
        for release in ("1.19", "1.31")
        if (schema := schema_of("com.microsoft", "Attention", 1, release)) is not None
    ]
    assert [each[5] for each in names] == ["relative_position_bias", "attention_bias"]
    assert schema_of("com.microsoft", "Attention", 1) is None


def test_versions_that_only_the_runtime_has_are_accepted() -> None:
    onnx = pytest.importorskip("onnx", reason="it writes the models")
    text = (
        '<ir_version: 8, opset_import: ["" : {}]> g (float[2,3] x, float[3] s) => (y) {{y = LayerNormalization(x, s)}}'
    )
    for opset in (14, 17):  # ONNX has LayerNormalization from 17 on, ONNX Runtime from 1 on
        data = onnx.parser.parse_model(text.format(opset)).SerializeToString()
        target = parse_target("onnxruntime-directml:1.24.4")
        placement = place_model(InputSource(data, "onnx", "model"), target, None, LintSettings())
        assert (placement.session, [node.provider for node in placement]) == ("created", ["DirectML"])


def test_an_operator_that_only_optimisations_make():
    schema = own_schema("com.microsoft.nchwc", "ReorderOutput", 1)
    assert schema == own_schema("com.microsoft.nchwc", "ReorderOutput", 1, "1.16")
    assert schema is not None
    assert [(each.name, each.type, each.default) for each in schema.attributes] == [
        ("channels", "int", 0), ("channels_last", "int", 0),
    ]  # fmt: skip
