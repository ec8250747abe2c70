"""Every registered type survives conversion between specgate's spellings."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specgate.descriptors.core import TensorDesc
from specgate.dialects.onnx.lint.types import known_type
from specgate.execution.containers import is_container, map_types
from specgate.runtimes.onnxruntime.functions import stated_type
from specgate.runtimes.onnxruntime.registrations import registrations, runtime_tables
from specgate.runtimes.onnxruntime.schemas import word
from specgate.runtimes.onnxruntime.table_references import is_type, schema_type, type_word
from specgate.spec.tables import dialect
from specgate.spec.type_names import TypeName, parse_type

ONNX = dialect("onnx")


def _find_registration() -> set[str]:
    """Return every type in the registrations of every provider and release."""
    tables = runtime_tables()
    order = list(tables["releases"])
    names: set[str] = set()
    for provider, (first, last) in tables["known"].items():
        for minor in order[first : last + 1]:
            for row in registrations(provider, minor):
                names.update(name for types in row.types.values() for name in types)
    return names


def _schema_types(schemas: Any) -> Iterator[str]:
    for operators in schemas.values():
        for rows in operators.values():
            for row in rows:
                texts = [text.rstrip("?*") for end in ("inputs", "outputs") for text in row.get(end, {}).values()]
                yield from (text for text in texts if is_type(text))


def _cells() -> set[str]:
    """Return every type in a support row of ONNX."""
    names: set[str] = set()
    for name in ONNX.tables.operators:
        for cells in ONNX.operator(name).table.only_rows.values():
            for cell in cells.values():
                types = cell.get("types") or ()
                names.update(str(each) for each in types)
    return names


REGISTERED = sorted({*_find_registration(), *_schema_types(runtime_tables()["schemas"])})
SPELT = sorted(each for each in _cells() if "(" in each)


def test_registrations_have_nested_types() -> None:
    assert "seq(map(int64,FLOAT))" in REGISTERED
    assert "optional(seq(tensor(float)))" in SPELT
    assert len(REGISTERED) > 60


@pytest.mark.parametrize("name", REGISTERED)
def test_registered_types_have_a_schema_spelling(name: str) -> None:
    spelt = schema_type(name)
    assert spelt is not None
    assert type_word(spelt) == name
    descriptor_type = name if "(" not in name else spelt
    assert ONNX.knows_type(descriptor_type)
    assert word(descriptor_type) == name
    stated = stated_type(TensorDesc(descriptor_type, None))
    assert stated is not None, "a function's inputs and outputs state their types"
    assert known_type(stated).type == descriptor_type


@pytest.mark.parametrize("name", SPELT)
def test_types_of_support_rows_have_a_registered_spelling(name: str) -> None:
    assert ONNX.knows_type(name)
    assert schema_type(type_word(name)) == name
    stated = stated_type(TensorDesc(name, None))
    assert stated is not None
    assert known_type(stated).type == name
    assert is_container(ONNX, name)


def test_the_types_of_a_map_are_read_by_structure() -> None:
    assert map_types(ONNX, "map(int64, float)") == ("INT64", "FLOAT")
    assert map_types(ONNX, "seq(map(int64, float))") is None
    assert map_types(ONNX, "map(int64, seq(tensor(float)))") is None


ELEMENTS = st.sampled_from(sorted(ONNX.type_elements))
TREES = st.recursive(
    ELEMENTS.map(lambda element: TypeName("tensor", (TypeName(element),))),
    lambda inner: st.one_of(
        st.builds(lambda part: TypeName("seq", (part,)), inner),
        st.builds(lambda part: TypeName("optional", (part,)), inner),
        st.builds(
            lambda key, part: TypeName("map", (TypeName(key), TypeName(part.element) if part.element else part)),
            st.sampled_from(["int64", "string", "int32"]),
            inner,
        ),
    ),
    max_leaves=4,
)


@given(TREES)
def test_a_type_tree_round_trips_through_text(tree: TypeName) -> None:
    text = str(tree)
    assert parse_type(text) == tree
    assert ONNX.knows_type(text) or tree.element
    assert schema_type(type_word(text)) == text
    assert parse_type(type_word(text)) is not None


@given(TREES, st.data())
def test_damaged_names_are_not_types(tree: TypeName, data: st.DataObject) -> None:
    text = str(tree)
    at = data.draw(st.sampled_from([index for index, char in enumerate(text) if char in "()"]))
    damaged = text[:at] + text[at + 1 :]
    assert not ONNX.knows_type(damaged)
    assert not is_type(damaged)


def test_hostile_names_end() -> None:
    assert parse_type("seq(" * 100_000) is None
    assert parse_type("seq(" * 100_000 + "x" + ")" * 100_000) is None
