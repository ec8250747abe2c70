"""Descriptors, tensors, and the text of values in messages."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specgate.descriptors.core import Descriptor, Malformed, Symbol, TensorDesc, format_value, tensor, whole_numbers
from specgate.dialects.directml.vocabulary import ScaleBias, Size2D


def test_tensor() -> None:
    new_tensor = tensor("INT8", [2, "N", None], strides=[3, 1, 0], size_in_bytes=8, alignment=16, flags=1, value=[1, 2])
    assert new_tensor == TensorDesc("INT8", (2, Symbol("N"), None), (3, 1, 0), 8, 16, 1, (1, 2))
    assert isinstance(new_tensor.sizes[1], Symbol)  # type: ignore[index]
    assert tensor("INT8", None).sizes is None
    assert tensor("INT8", []).sizes == ()


CONCRETE = {
    "numbers": (tensor("INT8", [2, 3]), True),
    "scalar": (tensor("INT8", []), True),
    "symbol": (tensor("INT8", [2, "N"]), False),
    "unknown size": (tensor("INT8", [2, None]), False),
    "unknown rank": (tensor("INT8", None), False),
    "unknown type": (tensor(None, [2]), False),
}


@pytest.mark.parametrize(("result", "concrete"), CONCRETE.values(), ids=CONCRETE.keys())
def test_is_concrete(result: TensorDesc, concrete: bool) -> None:
    assert result.concrete is concrete
    assert Descriptor("directml", "X", {"A": result}).plain is concrete
    assert Descriptor("directml", "X", {"A": [tensor("INT8", [1]), result]}).plain is concrete


PLAIN = {
    "attributes": ({"Axis": 3, "Mode": "linear", "Order": [1, 2]}, True),
    "null": ({"Axis": None}, False),
    "null in a list": ({"Order": [1, None]}, False),
    "nothing": ({}, True),
    "records": ({"Size": Size2D(3, 2), "Line": ScaleBias(0.5, 1.0)}, True),
    "operator": ({"Fused": Descriptor("directml", "Y", {"Alpha": 1.0})}, True),
    "operator with an unknown inside": ({"Fused": Descriptor("directml", "Y", {"Alpha": None})}, False),
    "unknown in one of several operators": (
        {"Gates": [Descriptor("directml", "Y", {}), Descriptor("directml", "Y", {"A": tensor("INT8", ["N"])})]},
        False,
    ),
}


@pytest.mark.parametrize(("fields", "plain"), PLAIN.values(), ids=PLAIN.keys())
def test_plain(fields: dict[str, Any], plain: bool) -> None:
    assert Descriptor("directml", "X", fields).plain is plain


def test_an_oddity_is_not_plain() -> None:
    assert Descriptor("onnx", "X", {}, oddities=(Malformed("unknown-attribute", "a", "message"),)).plain is False


def test_symbols() -> None:
    assert Symbol("N") == "N"
    assert repr(Symbol("N")) == "'N'"
    assert copy.deepcopy(Symbol("N")) == Symbol("N")


def nest(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


def endless() -> list[Any]:
    value: list[Any] = [1]
    value.append(value)
    return value


def endless_operator() -> Descriptor:
    fields: dict[str, Any] = {}
    descriptor = Descriptor("directml", "X", fields)
    fields["Fused"] = descriptor
    return descriptor


SHOWN: dict[str, tuple[Any, str]] = {
    "word": ("INT8", "'INT8'"),
    "number": (3, "3"),
    "none": (None, "None"),
    "truth": (True, "True"),
    "float": (1.5, "1.5"),
    "nan": (float("nan"), "nan"),
    "list": ([1, "a", None], "[1, 'a', None]"),
    "tuple": ((1,), "(1,)"),
    "pair": ((1, 2), "(1, 2)"),
    "mapping": ({"a": [1], 2: {}}, "{'a': [1], 2: {}}"),
    "bytes": (b"\x00a", r"b'\x00a'"),
    "bytes of text": (b"FLOAT16", "'FLOAT16'"),
    "line break": ("a\nb", r"'a\nb'"),
    "escape": ("\x1b[0m", r"'\x1b[0m'"),
    "surrogate": ("\ud800", r"'\ud800'"),
    "long word": ("x" * 10**6, "'" + "x" * 58 + "…"),
    "long number": (10**5000, "an integer of 16610 bits"),
    "long negative number": (-(10**5000), "an integer of 16610 bits"),
    "long number inside": ([10**5000], "[an integer of 16610 bits]"),
    "deep list": (nest(10_000), "[[[…]]]"),
    "endless list": (endless(), "[1, [1, [1, …]]]"),
    "size": (Size2D(3, 2), "{'Width': 3, 'Height': 2}"),
    "sizes inside": ([Size2D(3, 2)], "[{'Width': 3, 'Height': 2}]"),
    "scale and bias": (ScaleBias(0.5, -1.0), "{'Scale': 0.5, 'Bias': -1.0}"),
    "operator": (Descriptor("directml", "ACTIVATION_RELU", {"InputTensor": None}), "ACTIVATION_RELU"),
    "operator with fields": (Descriptor("directml", "ACTIVATION_ELU", {"Alpha": 1.5}), "ACTIVATION_ELU {'Alpha': 1.5}"),
    "operators": ([Descriptor("directml", n, {}) for n in "XY"], "[X, Y]"),
    "operator with a strange name": (Descriptor("directml", "\x1b[0m", {}), r"'\x1b[0m'"),
    "operator with a long name": (Descriptor("directml", "X" * 10**6, {}), "X" * 59 + "…"),
    "endless operator": (endless_operator(), "X {'Fused': X …}"),
    "object": (object(), "an object of type object"),
    "set": ({1}, "an object of type set"),
    "class": (int, "an object of type type"),
}


@pytest.mark.parametrize(("value", "text"), SHOWN.values(), ids=SHOWN.keys())
def test_format_value(value: Any, text: str) -> None:
    assert format_value(value) == text


class Rude:
    def __repr__(self) -> str:
        raise RuntimeError


def test_format_value_does_not_call_foreign_repr() -> None:
    assert format_value([Rude()]) == "[an object of type Rude]"


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.complex_numbers(),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text() | st.integers(), inner),
    max_leaves=30,
)


@pytest.mark.slow
@given(ANY, st.integers(20, 200))
def test_format_value_is_a_single_short_line(value: Any, limit: int) -> None:
    text = format_value(value, limit)
    assert text.isprintable()
    assert 1 <= len(text) <= limit


@given(st.lists(st.integers(-99, 99), max_size=6) | st.text("abc 'é", max_size=20))
def test_format_value_of_short_values_is_repr(value: Any) -> None:
    assert format_value(value) == repr(value)


def test_records_of_whole_numbers() -> None:
    assert whole_numbers(Size2D)
    assert not whole_numbers(ScaleBias)
