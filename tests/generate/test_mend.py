"""Repair of failures, which keeps the requested change."""

from __future__ import annotations

from random import Random

import pytest

from specgate.descriptors.core import Descriptor, TensorDesc, tensor
from specgate.generate.repair import consistent_constants, repair_descriptor
from specgate.generate.seeds import examples_at, make_concrete
from specgate.spec.tables import dialect
from specgate.validate.check import accepts

PICK = Random(0).randint


def example(name: str, operator: str, level: str) -> Descriptor:
    return make_concrete(next(examples_at(dialect(name).operator(operator), level)))


def test_valid_descriptor_is_unchanged() -> None:
    descriptor = example("directml", "ONE_HOT", "6.4")
    side = dialect("directml").operator("ONE_HOT").resolve("6.4")
    assert side is not None
    assert repair_descriptor(descriptor, [side], PICK, lambda _: True) == descriptor


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("IndicesTensor", {"type": "FLOAT32"}),
        ("ValuesTensor", {"type": "INT8"}),
        ("OutputTensor", {"sizes": (7, 7, 7)}),
        ("IndicesTensor", {"sizes": (1,) * 9}),
    ],
)
def test_one_hot_is_repaired(field: str, change: dict[str, object]) -> None:
    base = example("directml", "ONE_HOT", "6.4")
    side = dialect("directml").operator("ONE_HOT").resolve("6.4")
    assert side is not None
    broken = Descriptor("directml", "ONE_HOT", {**base.fields, field: base.fields[field]._replace(**change)})
    assert not accepts(broken, "6.4")
    result = repair_descriptor(broken, [side], PICK, lambda _: True)
    assert result is not None
    assert accepts(result, "6.4", "documented")


def test_repair_keeps_protected_fields_or_fails() -> None:
    base = example("directml", "ELEMENT_WISE_ADD1", "6.4")
    side = dialect("directml").operator("ELEMENT_WISE_ADD1").resolve("6.4")
    assert side is not None
    broken = Descriptor(
        "directml", "ELEMENT_WISE_ADD1", {**base.fields, "ATensor": base.fields["ATensor"]._replace(type="FLOAT16")}
    )
    descriptor = repair_descriptor(broken, [side], PICK, lambda d: d.fields["ATensor"].type == "FLOAT16")
    assert descriptor is not None
    assert {t.type for _, t in descriptor.tensors()} == {"FLOAT16"}
    assert repair_descriptor(broken, [side], PICK, lambda d: d == broken) is None


def test_generated_constants_match_the_other_fields() -> None:
    reshape = Descriptor(
        "onnx",
        "Reshape",
        {"data": tensor("FLOAT", (2, 6)), "shape": tensor("INT64", (2,)), "reshaped": tensor("FLOAT", (4, 3))},
    )
    items_by_name = consistent_constants(reshape, "21", Random(3).randint)
    assert list(items_by_name) == ["shape"]
    entries = {**reshape.fields, "shape": reshape.fields["shape"]._replace(value=items_by_name["shape"])}
    assert accepts(Descriptor("onnx", "Reshape", entries), "21", "documented")


def test_existing_constants_are_kept() -> None:
    reshape = {
        "data": tensor("FLOAT", (4,)),
        "shape": tensor("INT64", (1,), value=(4,)),
        "reshaped": tensor("FLOAT", (4,)),
    }
    assert consistent_constants(Descriptor("onnx", "Reshape", reshape), "21", PICK) == {"shape": (4,)}
    bare = {name: value for name, value in reshape.items() if name == "data"}
    assert consistent_constants(Descriptor("onnx", "Relu", {"X": bare["data"]}), "21", PICK) == {}
    assert isinstance(bare["data"], TensorDesc)


def test_no_numeric_constants_for_strings() -> None:
    encoded = {
        "X": tensor("STRING", (2,)),
        "Y": tensor("FLOAT", (2, 1)),
        "cats_strings": ["a"],
    }
    assert consistent_constants(Descriptor("onnx", "ai.onnx.ml.OneHotEncoder", encoded), "1", PICK) == {}
