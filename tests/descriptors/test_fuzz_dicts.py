"""Any dict gives a verdict or a specgate error, quickly, in one printable line."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import specgate
from specgate.descriptors.core import Descriptor
from specgate.descriptors.read import read_dict, write_dict
from specgate.spec.tables import dialect

TARGETS = {"directml": "directml:4.1", "onnx": "onnx:17", "openvino": "openvino:opset16"}
EXAMPLES = {
    name: [
        example["descriptor"]
        for operator in dialect(name).operators
        for example in dialect(name).operator(operator).table.examples.values()
    ]
    for name in TARGETS
}


def nest(depth: int, leaf: Any) -> Any:
    for level in range(depth):
        leaf = [leaf] if level % 2 else {"Desc": leaf}
    return leaf


def endless() -> Any:
    value: dict[str, Any] = {"DataType": "INT8"}
    value["Desc"] = value
    value["Sizes"] = value["shape"] = value["value"] = [value]
    return value


def endless_list() -> list[Any]:
    value: list[Any] = [1, 2]
    value.append(value)
    return value


MONSTERS: list[Any] = [
    10**5000,
    -(10**5000),
    float("nan"),
    float("-inf"),
    1e308,
    -0.0,
    True,
    2**32,
    2**63,
    2**64,
    -1,
    "",
    "\x00",
    "\ud800",
    "\u202e\x1b[31m\n\r\u2028",
    "x" * 100_000,
    "-" * 30,
    "9" * 5000,
    b"\xff" * 300,
    1j,
    [],
    {},
    (),
    [[]],
    [None],
    ["N", None, -1],
    [1] * 70,
    [2**62] * 256,
    [0] * 300,
    nest(3000, 1),
    endless(),
    endless_list(),
    {1: 2, None: 3, (1,): 4, 10**5000: 5, b"x": 6, "\n": 7},
    {"DataType": ["INT8"], "Sizes": {}},
    {"DataType": "INT8", "Sizes": [1], "Flags": ["NONE", []], "Type": []},
    {"elem_type": [], "shape": [{}], "value": [[]]},
    {"element_type": {}, "shape": ["\n"]},
    object(),
    {1, 2},
    range(3),
    int,
]


def monster(index: int) -> Any:
    """Draw one of the MONSTERS; `sampled_from` would print them, which must be avoided."""
    return MONSTERS[index]


WORDS = st.sampled_from(
    ["type", "Type", "desc", "Desc", "op_type", "domain", "inputs", "outputs", "attributes", "opset", "data", "version"]
    + [
        "name",
        "id",
        "IndicesTensor",
        "ValuesTensor",
        "OutputTensor",
        "Axis",
        "axis",
        "DataType",
        "Sizes",
        "Strides",
        "Flags",
    ]
    + [
        "DimensionCount",
        "TotalTensorSizeInBytes",
        "GuaranteedBaseOffsetAlignment",
        "elem_type",
        "element_type",
        "shape",
        "value",
    ]
)
KNOWN = st.sampled_from(
    [
        "DML_OPERATOR_ONE_HOT",
        "ONE_HOT",
        "OneHot",
        "ai.onnx",
        "opset1",
        "opset16",
        "FLOAT32",
        "INT64",
        "i64",
        "N",
        "BUFFER",
        "13",
    ]
)
LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.integers(-1, 5), st.floats(), st.text(max_size=8), st.binary(max_size=4),
    KNOWN, WORDS, st.integers(0, len(MONSTERS) - 1).map(monster),
)  # fmt: skip
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS | st.text(max_size=4), inner, max_size=5),
    max_leaves=16,
)
HEADS: dict[str, dict[str, Any]] = {
    "directml": {"type": "DML_OPERATOR_ONE_HOT"},
    "onnx": {"op_type": "OneHot"},
    "openvino": {"type": "OneHot"},
}


def evaluate(data: Any, name: str | None) -> None:
    """Read, check, write, and read again; every error must be printable and specgate's."""
    started = time.perf_counter()
    try:
        descriptor = read_dict(data, name)
        assert isinstance(descriptor, Descriptor)
        verdict = specgate.check(descriptor, TARGETS[descriptor.dialect])
        for finding in (*verdict.findings, *verdict.undecided):
            tame(finding.message)
            tame(finding.where)
            assert finding.id.isprintable()
            assert len(str(finding.values)) < 8000
            json.dumps(dict(finding.values))
        assert read_dict(write_dict(descriptor), descriptor.dialect).fields.keys() == descriptor.fields.keys()
    except specgate.Error as error:
        tame(str(error))
    assert time.perf_counter() - started < 30  # no hang, however busy the machine


def tame(text: str) -> None:
    assert text.isprintable()
    assert len(text) < 600


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
@given(data=st.dictionaries(WORDS | st.text(max_size=4), VALUES, max_size=6))
@settings(max_examples=120, deadline=None)
def test_any_dict(name: str, data: dict[str, Any]) -> None:
    evaluate({**data, **HEADS[name]}, name)
    evaluate(data, None)


@pytest.mark.parametrize("name", TARGETS)
@given(data=VALUES)
@settings(max_examples=40, deadline=None)
def test_any_value(name: str, data: Any) -> None:
    evaluate(data, name)
    if not isinstance(data, str | tuple):  # a path, and an onnx node with its types
        try:
            specgate.check(data, TARGETS[name])
        except specgate.Error as error:
            tame(str(error))


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return every path inside a plain value, as deep as descriptors nest."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(result for key, item in items if len(path) < 5 for result in places(item, (*path, key)))]


def replace_at(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """Return a copy with another value at `path`."""
    if not path:
        return new
    result = value.copy()
    result[path[0]] = replace_at(value[path[0]], path[1:], new)
    return result


def remove_path(value: Any, path: tuple[Any, ...]) -> Any:
    """Return a copy without the value at `path`."""
    result = value.copy()
    if len(path) == 1:
        del result[path[0]]
    else:
        result[path[0]] = remove_path(value[path[0]], path[1:])
    return result


CASES = [
    pytest.param(name, example, path, id=f"{name} {index} {'.'.join(map(str, path)) or 'whole'}")
    for name, examples in EXAMPLES.items()
    for index, example in enumerate(examples[:1])
    for path in places(example)
]


@pytest.mark.parametrize(("name", "example", "path"), CASES)
def test_every_path_of_an_example_with_every_hostile_value(
    name: str, example: dict[str, Any], path: tuple[Any, ...]
) -> None:
    for monster in MONSTERS:
        evaluate(replace_at(example, path, monster), name)
    if path:
        evaluate(remove_path(example, path), name)


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
@given(data=st.data())
@settings(max_examples=120, deadline=None)
def test_examples_with_a_few_paths_changed(name: str, data: st.DataObject) -> None:
    changed = data.draw(st.sampled_from(EXAMPLES[name]))
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(places(changed)[1:] or [()]))
        changed = replace_at(changed, path, data.draw(VALUES))
        if not isinstance(changed, dict):
            break
    evaluate(changed, name)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "example"), [(name, e) for name, examples in EXAMPLES.items() for e in examples])
def test_examples_round_trip(name: str, example: dict[str, Any]) -> None:
    result = read_dict(example, name)
    written = write_dict(result)
    assert json.loads(json.dumps(written)) == written
    assert read_dict(written, name) == result
    assert read_dict(written) == result  # its dialect is known from its own words
