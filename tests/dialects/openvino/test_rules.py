"""IR files that OpenVINO rejects, against its read_model on the same file."""

from __future__ import annotations

import re
from typing import Any

import pytest

import specgate
from specgate.dialects.openvino.references import PREFIX as IR_PREFIX
from specgate.errors import InputError

PORT = '<port id="{}" precision="FP32"><dim>2</dim></port>'
NET = f"""<net name="m" version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="2" element_type="f32"/>
<output>{PORT.format(0)}</output></layer>
<layer id="1" name="c" type="Const" version="opset1"><data element_type="f32" shape="2" offset="0" size="8"/>
<output>{PORT.format(0)}</output></layer>
<layer id="2" name="a" type="Add" version="opset1"><data auto_broadcast="numpy"/>
<input>{PORT.format(0)}{PORT.format(1)}</input><output>{PORT.format(2)}</output></layer>
<layer id="3" name="r" type="Result" version="opset1"><input>{PORT.format(0)}</input></layer>
</layers><edges>
<edge from-layer="0" from-port="0" to-layer="2" to-port="0"/>
<edge from-layer="1" from-port="0" to-layer="2" to-port="1"/>
<edge from-layer="2" from-port="2" to-layer="3" to-port="0"/>
</edges></net>"""
CONST = 'element_type="f32" shape="2" offset="0" size="8"'
FIRST = '<edge from-layer="0" from-port="0" to-layer="2" to-port="0"/>'
WRONG: dict[str, Any] = {  # the change, the .bin file, and the rules and messages of the findings
    "bin-short": ((), bytes(4), {"weights-range": "ends at byte 8 of 'm.bin', which has 4 bytes"}),
    "bin-missing": ((), None, {"weights-missing": "the bytes of 1 Const layer are in 'm.bin', which does not exist"}),
    "offset": (('offset="0"', 'offset="100"'), bytes(8), {"weights-range": "ends at byte 108 of 'm.bin'"}),
    "offset-negative": (('offset="0"', 'offset="-1"'), bytes(8), {"constant": "bytes as offset, found '-1'"}),
    "offset-none": (('offset="0"', ""), bytes(8), {"constant": "expected a number of bytes as offset, found none"}),
    "size-small": (('size="8"', 'size="4"'), bytes(8), {"weights-size": "has 4 bytes, but f32 of 2 needs 8"}),
    "size-none": (('size="8"', ""), bytes(8), {"constant": "expected a number of bytes as size, found none"}),
    "shape": ((CONST, CONST.replace('"2"', '"?"')), bytes(8), {"constant": "a shape of known sizes, found '?'"}),
    "shape-none": ((CONST, CONST.replace('shape="2"', "")), bytes(8), {"constant": "known sizes, found none"}),
    "type": ((CONST, CONST.replace("f32", "q7")), bytes(8), {"constant": "expected a known element_type, found 'q7'"}),
    "port-type": (("<output>" + PORT.format(2), "<output>" + PORT.format(2).replace("FP32", "FP33")), bytes(8),
                  {"port-type": "the output port 2 has the element type 'fp33', which OpenVINO does not define"}),
    "parameter-port-type": ((PORT.format(0) + '</output></layer>\n<layer id="1"',
                             PORT.format(0).replace("FP32", "FP33") + '</output></layer>\n<layer id="1"'), bytes(8),
                            {"port-type": "the output port 0 has the element type 'fp33'"}),
    "unknown-type": (('type="Add"', 'type="Mishmash"'), bytes(8), {"unknown-type": "opset1 does not have an operation 'Mishmash'"}),
    "cycle": ((FIRST, FIRST.replace('from-layer="0" from-port="0"', 'from-layer="2" from-port="2"')), bytes(8),
              {"cycle": "is part of a cycle: 'a'"}),
    "unconnected": ((FIRST, ""), bytes(8), {"input-unconnected": "the input port 0 is not connected"}),
    "version": (('version="11"', 'version="9999"'), bytes(8), {"ir-version": "has IR version 9999, expected 10 or 11"}),
    "version-none": ((' version="11"', ""), bytes(8), {"ir-version": "has no IR version, expected 10 or 11"}),
}  # fmt: skip
REFUSED = {
    "two-ids": ('id="1" name="c"', 'id="0" name="c"'),
    "edge-from-nowhere": ('from-layer="0"', 'from-layer="77"'),
    "edge-to-no-port": ('to-port="1"', 'to-port="9"'),
    "edge-from-no-port": ('from-port="2"', 'from-port="9"'),
    "two-edges": ("</edges>", FIRST + "</edges>"),
}


def save_model(folder, text, weights=bytes(8)):
    path = folder / "m.xml"
    path.write_text(text, encoding="utf-8")
    if weights is not None:
        path.with_suffix(".bin").write_bytes(weights)
    return str(path)


def find_ids(path):
    return {f.id.removeprefix(IR_PREFIX): f for f in list_all(path)}


def list_all(path):
    """Return the findings on the file itself; its operators have no table."""
    return [f for f in specgate.lint(path, targets=["openvino:opset13"]).findings if f.id.startswith(IR_PREFIX)]


def openvino_accepts(path):
    core = pytest.importorskip("openvino").Core()
    try:
        core.read_model(path)
    except RuntimeError:
        return False
    return True


@pytest.mark.parametrize("version", ["10", "11"])
def test_the_plain_model_is_clean(version, tmp_path):
    assert not find_ids(save_model(tmp_path, NET.replace('version="11"', f'version="{version}"')))


@pytest.mark.parametrize("case", WRONG)
def test_models_rejected_by_openvino_are_errors(case, tmp_path):
    change, weights, expected = WRONG[case]
    path = save_model(tmp_path, NET.replace(*change) if change else NET, weights)
    findings = find_ids(path)
    assert {rule: f.severity for rule, f in findings.items()} == dict.fromkeys(expected, "error")
    assert all(message in findings[rule].message for rule, message in expected.items())


@pytest.mark.oracle
@pytest.mark.parametrize("case", ["", *WRONG])
def test_openvino_gives_the_same_verdicts(case, tmp_path):
    change, weights, _ = WRONG[case] if case else ((), bytes(8), {})
    assert openvino_accepts(save_model(tmp_path, NET.replace(*change) if change else NET, weights)) == (not case)


@pytest.mark.parametrize("case", REFUSED)
def test_files_without_a_valid_graph_are_rejected(case, tmp_path):
    path = save_model(tmp_path, NET.replace(*REFUSED[case]))
    with pytest.raises(InputError, match=r"m\.xml: line \d+"):
        specgate.lint(path, targets=["openvino:opset13"])
    assert not openvino_accepts(path)


def test_model_without_edges(tmp_path):
    path = save_model(tmp_path, re.sub("<edges>.*</edges>", "<edges/>", NET, flags=re.DOTALL))
    assert [f.id for f in list_all(path)] == ["openvino/model/input-unconnected"] * 3
    assert [f.location.line for f in list_all(path) if f.location] == [6, 6, 8]


def test_surplus_constant_bytes_are_a_warning(tmp_path):
    path = save_model(tmp_path, NET.replace('size="8"', 'size="16"'), bytes(16))
    assert {rule: f.severity for rule, f in find_ids(path).items()} == {"weights-unused": "warning"}
    assert openvino_accepts(path)


def test_long_cycle_is_reported_without_its_consumers(tmp_path):
    port = PORT.format
    layers = [f'<layer id="{i}" name="n{i}" type="Relu" version="opset1"><input>{port(0)}</input><output>{port(1)}</output></layer>'
              for i in range(3000)]  # fmt: skip
    edges = [f'<edge from-layer="{i}" from-port="1" to-layer="{(i + 1) % 2990 if i == 2989 else i + 1}" to-port="0"/>'
             for i in range(2990)]  # fmt: skip
    text = f'<net version="11"><layers>{"".join(layers)}</layers><edges>{"".join(edges)}</edges></net>'
    findings = find_ids(save_model(tmp_path, text))
    assert findings["cycle"].message == "is part of a cycle: 'n0', 'n1', 'n2', 'n3', 'n4' …"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            'shape="2" element_type="i64"',
            "the output port declares f32, but the layer declares i64, which OpenVINO uses",
        ),
        (
            'shape="3" element_type="f32"',
            "the output port declares the shape [2], but the layer declares the shape [3]",
        ),
        (
            'shape="2,1" element_type="f32"',
            "the output port declares the shape [2], but the layer declares the shape [2, 1]",
        ),
        ('shape="?" element_type="f32"', None),
        ('shape="..." element_type="f32"', None),
    ],
)
def test_port_that_contradicts_its_layer_is_a_warning(data, message, tmp_path):
    text = NET.replace('shape="2" element_type="f32"', data)
    findings = [f for f in list_all(save_model(tmp_path, text)) if f.id.endswith("/declared")]
    assert [f.severity for f in findings] == (["warning"] if message else [])
    assert all(message in f.message for f in findings)


def test_element_types_are_case_insensitive(tmp_path):
    report = specgate.lint(save_model(tmp_path, NET.replace('type="Add"', 'type="add"')), targets=["openvino:opset13"])
    assert (report.findings, report.no_table) == ([], [])


def test_input_port_is_checked_with_the_type_of_its_producer(tmp_path):
    """Readers ignore the type and shape that an input port states."""
    stale = NET.replace(
        f"<input>{PORT.format(0)}{PORT.format(1)}", f"<input>{PORT.format(0)}" + PORT.format(1).replace("2", "3")
    )
    assert stale != NET
    assert specgate.lint(save_model(tmp_path, stale), targets=["openvino:opset13"]).findings == []


@pytest.mark.parametrize(("kind", "facts"), [("Abs", False), ("ReLU", False), ("Convert", True), ("Parameter", True)])
def test_incomplete_opset_has_few_operations(kind, facts, tmp_path):
    """OpenVINO 2026.4.1's reader rejects all others as opset17."""
    data = {"Convert": {"destination_type": "f32"}, "Parameter": {"element_type": "f32", "shape": [2]}}.get(kind, {})
    inputs = [] if kind == "Parameter" else [{"element_type": "f32", "shape": [2]}]
    layer = {"type": kind, "version": "opset17", "inputs": inputs, "outputs": [{}], "data": data}
    for basis in ("both", "documented", "observed"):
        verdict = specgate.check(layer, "openvino:opset17", basis=basis)
        assert verdict.accepted is facts
        assert [f.id for f in verdict.findings] == ([] if facts else [f"openvino/{kind}/version"])
    if not facts:
        assert verdict.findings[0].message == f"written for opset17, which is unfinished: no build has {kind} in it"
        assert verdict.findings[0].fix == "write the version opset1"


def test_empty_constant_may_have_a_byte(tmp_path):
    """OpenVINO writes one."""
    empty = NET.replace(CONST, 'element_type="f32" shape="0" offset="0" size="1"')
    assert not [f for f in list_all(save_model(tmp_path, empty)) if f.id.endswith("weights-unused")]
