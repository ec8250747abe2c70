"""If, Loop and TensorIterator in IRs, compared with OpenVINO if installed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import specgate
from specgate.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path


def port(number: int, kind: str, shape: str) -> str:
    precision = {"f32": "FP32", "i64": "I64", "boolean": "BOOL"}[kind]
    return f'<port id="{number}" precision="{precision}">{"".join(f"<dim>{n}</dim>" for n in shape.split(",") if n)}</port>'


def parameter(number: int, name: str, kind: str, shape: str) -> str:
    data = f'<data shape="{shape.replace("-1", "?")}" element_type="{kind}"/>'
    ends = f"<output>{port(0, kind, shape)}</output>"
    return f'<layer id="{number}" name="{name}" type="Parameter" version="opset1">{data}{ends}</layer>'


def layer(number: int, kind: str, version: str, takes: list[str], gives: list[str], data: str = "") -> str:
    ins = "".join(port(at, *each.split(":")) for at, each in enumerate(takes))
    outs = "".join(port(len(takes) + at, *each.split(":")) for at, each in enumerate(gives))
    ends = (f"<input>{ins}</input>" if takes else "") + (f"<output>{outs}</output>" if gives else "")
    return f'<layer id="{number}" name="{kind}{number}" type="{kind}" version="{version}">{data}{ends}'


def close(text: str) -> str:
    return f"{text}</layer>"


def edges(*pairs: tuple[int, int, int, int]) -> str:
    text = '<edge from-layer="{}" from-port="{}" to-layer="{}" to-port="{}"/>'
    return f"<edges>{''.join(text.format(*pair) for pair in pairs)}</edges>"


def net(layers: list[str], links: str) -> str:
    return f'<?xml version="1.0"?><net name="m" version="11"><layers>{"".join(layers)}</layers>{links}</net>'


ADD = '<data auto_broadcast="numpy"/>'
ROW = "f32:1,2"


def branch() -> str:
    """The absolute values of x if the condition holds, else x concatenated with x."""
    later = net([
        parameter(0, "a", "f32", "1,2"),
        close(layer(1, "Abs", "opset1", [ROW], [ROW])),
        close(layer(2, "Result", "opset1", [ROW], [])),
    ], edges((0, 0, 1, 0), (1, 1, 2, 0)))  # fmt: skip
    other = net([
        parameter(5, "b", "f32", "1,2"),
        close(layer(6, "Add", "opset1", [ROW, ROW], [ROW], ADD)),
        close(layer(7, "Result", "opset1", [ROW], [])),
    ], edges((5, 0, 6, 0), (5, 0, 6, 1), (6, 2, 7, 0)))  # fmt: skip
    maps = "".join(
        f'<{which}_port_map><input external_port_id="1" internal_layer_id="{first}"/>'
        f'<output external_port_id="0" internal_layer_id="{last}"/></{which}_port_map>'
        for which, first, last in (("then", 0, 2), ("else", 5, 7))
    )
    bodies = "".join(
        f"<{which}_body>{text[text.index('<layers>') : text.index('</net>')]}</{which}_body>"
        for which, text in (("then", later), ("else", other))
    )
    return net([
        parameter(0, "condition", "boolean", ""),
        parameter(1, "x", "f32", "1,2"),
        close(layer(2, "If", "opset8", ["boolean:", ROW], [ROW]) + maps + bodies),
        close(layer(3, "Result", "opset1", [ROW], [])),
    ], edges((0, 0, 2, 0), (1, 0, 2, 1), (2, 2, 3, 0)))  # fmt: skip


def sums(stride: int = 1) -> str:
    """The running sums of rows: all of them, and the last one."""
    body = net([
        parameter(0, "row", "f32", "1,2"),
        parameter(1, "total", "f32", "1,2"),
        close(layer(2, "Add", "opset1", [ROW, ROW], [ROW], ADD)),
        close(layer(3, "Result", "opset1", [ROW], [])),
    ], edges((0, 0, 2, 0), (1, 0, 2, 1), (2, 2, 3, 0)))  # fmt: skip
    ends = 'start="0" end="-1"' if stride > 0 else 'start="-1" end="0"'
    cut = f'axis="0" {ends} stride="{stride}" part_size="1"'
    maps = (
        f'<port_map><input external_port_id="0" internal_layer_id="0" {cut}/>'
        '<input external_port_id="1" internal_layer_id="1"/>'
        f'<output external_port_id="2" internal_layer_id="3" {cut}/>'
        '<output external_port_id="3" internal_layer_id="3"/></port_map>'
        '<back_edges><edge from-layer="3" to-layer="1"/></back_edges>'
    )
    inner = f"<body>{body[body.index('<layers>') : body.index('</net>')]}</body>"
    return net([
        parameter(0, "rows", "f32", "3,2"),
        parameter(1, "begin", "f32", "1,2"),
        close(layer(2, "TensorIterator", "opset1", ["f32:3,2", ROW], ["f32:3,2", ROW]) + maps + inner),
        close(layer(3, "Result", "opset1", ["f32:3,2"], [])),
        close(layer(4, "Result", "opset1", [ROW], [])),
    ], edges((0, 0, 2, 0), (1, 0, 2, 1), (2, 2, 3, 0), (2, 3, 4, 0)))  # fmt: skip


ROWS = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
BEGIN = np.array([[0.5, -0.5]], np.float32)
X = np.array([[-1, 2]], np.float32)


def write_file(folder: Path, text: str) -> Path:
    path = folder / "m.xml"
    path.write_text(text, encoding="utf-8")
    path.with_suffix(".bin").touch()
    return path


def compare_with_openvino(path: Path, arrays: dict[str, np.ndarray], ours: list[np.ndarray]) -> None:
    """Compare outputs with those of OpenVINO, if it is installed."""
    openvino = pytest.importorskip("openvino", reason="OPENVINO IS NOT INSTALLED: bodies are compared by hand alone")
    compiled = openvino.compile_model(str(path), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    theirs = compiled(list(arrays.values()))
    assert all(np.array_equal(array, theirs[output]) for array, output in zip(ours, compiled.outputs, strict=True))


@pytest.mark.parametrize(("condition", "expected"), [(True, [[1, 2]]), (False, [[-2, 4]])])
def test_a_condition_chooses_the_body(tmp_path, condition, expected):
    path, arrays = write_file(tmp_path, branch()), {"condition": np.array(condition), "x": X}
    result = list(specgate.execute(str(path), arrays).values())
    assert [each.tolist() for each in result] == [expected]
    compare_with_openvino(path, arrays, result)


@pytest.mark.parametrize(
    ("stride", "expected"), [(1, [[1.5, 1.5], [4.5, 5.5], [9.5, 11.5]]), (-1, [[9.5, 11.5], [8.5, 9.5], [5.5, 5.5]])]
)
def test_tensor_iterator_slices_rows_from_either_end(tmp_path, stride, expected):
    path, arrays = write_file(tmp_path, sums(stride)), {"rows": ROWS, "begin": BEGIN}
    result = list(specgate.execute(str(path), arrays).values())
    assert [each.tolist() for each in result] == [expected, [[9.5, 11.5]]]
    compare_with_openvino(path, arrays, result)


def test_invalid_port_maps_are_named(tmp_path):
    text = sums().replace('internal_layer_id="3"/>', 'internal_layer_id="2"/>')
    with pytest.raises(
        InputError, match="TensorIterator 'TensorIterator2': a port map references the layer 2, which is not a Result"
    ):
        specgate.execute(str(write_file(tmp_path, text)), {"rows": ROWS, "begin": BEGIN})
    text = sums().replace('<input external_port_id="1" internal_layer_id="1"/>', "")
    with pytest.raises(InputError, match="the Parameter 'total' of the body is not mapped to an input"):
        specgate.execute(str(write_file(tmp_path, text)), {"rows": ROWS, "begin": BEGIN})


def test_array_that_cannot_be_sliced_is_rejected(tmp_path):
    text = sums().replace('axis="0"', 'axis="5"', 1)
    with pytest.raises(InputError, match="2 dimensions cannot be sliced along axis 5"):
        specgate.execute(str(write_file(tmp_path, text)), {"rows": ROWS, "begin": BEGIN})


def test_concatenated_outputs_count_toward_the_memory_limit(tmp_path):
    with pytest.raises(InputError, match="limit"):
        specgate.execute(str(write_file(tmp_path, sums())), {"rows": ROWS, "begin": BEGIN}, max_bytes=60)


def test_variable_starts_as_its_input_or_zeros(tmp_path):
    data = '<data variable_id="v" variable_type="f32" variable_shape="1,2"/>'
    text = net([
        parameter(0, "x", "f32", "1,2"),
        close(layer(1, "ReadValue", "opset6", [ROW], [ROW], data)),
        close(layer(2, "Result", "opset1", [ROW], [])),
        close(layer(3, "ReadValue", "opset6", [], [ROW], data.replace('"v"', '"w"'))),
        close(layer(4, "Result", "opset1", [ROW], [])),
    ], edges((0, 0, 1, 0), (1, 1, 2, 0), (3, 0, 4, 0)))  # fmt: skip
    outputs = specgate.execute(str(write_file(tmp_path, text)), {"x": X})
    assert [each.tolist() for each in outputs.values()] == [X.tolist(), [[0, 0]]]
