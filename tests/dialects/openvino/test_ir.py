"""The IR reader on OpenVINO's files, handwritten XML, and hostile bytes."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specgate.dialects.openvino import ir
from specgate.dialects.openvino.ir import IrEdge, IrLayer, IrModel, IrNet, read_ir, read_ir_bytes
from specgate.dialects.openvino.weights import Constants
from specgate.errors import InputError

SAMPLES = Path(__file__).parents[2] / "data" / "models"

HANDWRITTEN = """<?xml version="1.0"?>
<net name="hand" version="11">
  <layers>
    <layer id="0" name="x" type="Parameter" version="opset1">
      <data shape="?,1..4,2" element_type="f32"/>
      <output><port id="0" precision="FP32" names="a\\,b,c"><dim>-1</dim><dim> -1 </dim><dim>2</dim></port></output>
    </layer>
    <layer id="1" name="mine" type="Mine" version="extension">
      <rt_info><attribute name="a"><layer id="0"/></attribute></rt_info>
      <data k="v, w" empty=""/>
      <port_map><input external_port_id="-1"/></port_map>
      <back_edges><edge from-layer="9" to-layer="9"/></back_edges>
      <input><port id="0"/></input>
      <output>
        <port id="1" precision="I64"><rt_info><dim>x</dim></rt_info><dim>9223372036854775807</dim></port>
        <port id="2" precision="UNSPECIFIED"/>
      </output>
      <then_body>
        <layers><layer id="0" name="inner" type="Const" version="opset1">
          <data element_type="i64" shape="" offset="0" size="8"/><output><port id="0"/></output>
        </layer></layers>
      </then_body>
      <else_body><layers/><edges/></else_body>
    </layer>
  </layers>
  <edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/></edges>
  <rt_info><framework value="none"/></rt_info>
</net>
"""


def net(layers: str = "", edges: str = "") -> bytes:
    return f'<net name="n" version="11">\n<layers>\n{layers}\n</layers>\n<edges>{edges}</edges></net>'.encode()


def layer(number: int | str, inside: str = "", kind: str = "Op") -> str:
    return f'<layer id="{number}" name="l{number}" type="{kind}">{inside}</layer>'


def port(dims: str = "", precision: str = "FP32") -> str:
    return f'<output><port id="0" precision="{precision}">{dims}</port></output>'


def test_handwritten_ir() -> None:
    model = read_ir_bytes(HANDWRITTEN.encode())
    assert (model.name, model.version, model.file) == ("hand", 11, None)
    x, mine = model.net.layers
    assert (x.id, x.name, x.type, x.version, x.line) == ("0", "x", "Parameter", "opset1", 4)
    assert x.data == {"shape": "?,1..4,2", "element_type": "f32"}
    assert (x.outputs[0].element_type, x.outputs[0].shape, x.outputs[0].below) == ("f32", (-1, -1, 2), 2)
    assert x.outputs[0].names == ("a,b", "c")
    assert (mine.type, mine.version, mine.data) == ("Mine", "extension", {"k": "v, w", "empty": ""})
    assert (mine.inputs[0].element_type, mine.inputs[0].shape) == ("f32", (-1, -1, 2))
    assert [(p.id, p.element_type, p.shape) for p in mine.outputs] == [("1", "i64", (2**63 - 1,)), ("2", None, None)]
    assert model.net.edges == [IrEdge("0", "0", "1", "0", 26)]
    inner = mine.bodies["then_body"].layers[0].outputs[0]
    assert (inner.element_type, inner.shape) == ("i64", ())
    assert (list(mine.bodies), mine.body) == (["then_body", "else_body"], None)
    assert mine.bodies["else_body"] == IrNet([], [])


def test_input_port_type_comes_from_its_producer() -> None:
    edge = '<edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>'
    given_here = '<input><port id="0" precision="I8"><dim>7</dim></port></input>'
    dims = "<dim>3</dim>"
    for inside, expected in (('<input><port id="0"/></input>', ("f32", (3,))), (given_here, ("f32", (3,)))):
        read = read_ir_bytes(net(layer(0, port(dims)) + layer(1, inside), edge)).net.layers[1].inputs[0]
        assert (read.element_type, read.shape) == expected
    alone = read_ir_bytes(net(layer(1, '<input><port id="0"/></input>'))).net.layers[0].inputs[0]
    assert (alone.element_type, alone.shape) == (None, None)


@pytest.mark.parametrize(
    ("kind", "shape", "expected"),
    [
        ("Parameter", "", ()),
        ("Parameter", "...", None),
        ("Parameter", "1..3,2..,..7,-1,?,5, 6", (-1, -1, -1, -1, -1, 5, 6)),
        ("Const", "5, 3", (5, 3)),
        ("Const", "0", (0,)),
        ("Op", "2,3", None),
    ],
)
def test_the_shape_of_data(kind: str, shape: str, expected: tuple[int, ...] | None) -> None:
    read = read_ir_bytes(net(layer(0, f'<data shape="{shape}"/>' + port(), kind)))
    assert read.net.layers[0].outputs[0].shape == expected


@pytest.mark.parametrize(
    ("precision", "expected"),
    [
        *[("FP16", "f16"), ("BF16", "bf16"), ("BOOL", "boolean"), ("BIN", "u1"), ("U4", "u4"), ("F8E4M3", "f8e4m3")],
        *[("f64", "f64"), ("boolean", "boolean"), ("dynamic", None), ("UNSPECIFIED", None), ("undefined", None)],
    ],
)
def test_element_types(precision: str, expected: str | None) -> None:
    assert read_ir_bytes(net(layer(0, port(precision=precision)))).net.layers[0].outputs[0].element_type == expected


ENDS = 'from-layer="0" from-port="0"'
BAD = [
    (b"", "line 1: .*no element found"),
    (b"\x00\x01", "line 1: expected well-formed XML"),
    (b"<onnx/>", r"line 1: expected <net>.*'onnx'"),
    (net()[:-6], "line 5: expected well-formed XML, found: no element found"),
    (net() + b"<net/>", "expected well-formed XML"),
    (b'<?xml version="1.0" encoding="nonsense"?>\n<net>\xff</net>', "expected well-formed XML"),
    (b'<net version="x"/>', "a whole number as version of <net>, found 'x'"),
    (net('<layer name="a" type="Op"/>'), "line 3: expected a whole number as id of <layer>, found none"),
    (net(layer("x")), "line 3: expected a whole number as id of <layer>, found 'x'"),
    (net(layer("²")), "line 3: expected a whole number as id"),
    (net(layer("9" * 5000)), "line 3: expected a whole number as id of <layer>, found '9{60}…'$"),
    (net('<layer id="0" name="a"/>'), "line 3: expected a type of <layer>, found none"),
    (net(layer(0) + "\n" + layer("00")), "line 4, layer 'l00': expected distinct layer ids, found 0 twice"),
    (net(layer(0, "<output><port/></output>")), "line 3, layer 'l0': expected a whole number as id of <port>"),
    (net(layer(0, '<input><port id="1"/>\n<port id="1"/></input>')), "line 4, layer 'l0': expected distinct port ids"),
    (net(layer(0, "<data/>\n<data/>")), "line 4, layer 'l0': expected one <data>, found a second"),
    (net("</layers><layers>"), "line 3: expected one <layers>, found a second"),
    (net(layer(0, "<body><edges/>\n<edges/></body>")), "line 4, layer 'l0': expected one <edges>"),
    (net(layer(0, port("\n<dim>4.5</dim>"))), "line 4, layer 'l0': expected a size from 0 to .* found '4.5'"),
    (net(layer(0, port("<dim/>"))), "layer 'l0': expected a size .* found ''"),
    (net(layer(0, port("<dim>-2</dim>"))), "layer 'l0': expected a size .* found '-2'"),
    (
        net(layer(0, port("<dim>9223372036854775808</dim>"))),
        "layer 'l0': expected a size .* found '9223372036854775808'",
    ),
    (net(layer(0, port("<dim>" + "1" * 10**6 + "</dim>"))), "layer 'l0': expected a number in <dim>, found '1{60}…'$"),
    (net(layer(0, port("<dim>4<dim>4</dim></dim>"))), "layer 'l0': expected a number in <dim>, found an element 'dim'"),
    (net(layer(0, port(precision="a b"))), "layer 'l0': expected an element type .* found 'a b'"),
    (net(layer(0, port(precision=""))), "layer 'l0': expected an element type .* found ''"),
    (net(layer(0, '<data shape="2,x"/>' + port(), "Const")), "layer 'l0': expected a size .* found 'x'"),
    (net(layer(0, '<data element_type="f 32"/>' + port(), "Const")), "layer 'l0': expected an element type"),
    (net(layer(0), "\n\n<edge/>"), "line 7: expected a whole number as from-layer of <edge>, found none"),
    (net(layer(0), f'\n<edge {ENDS} to-layer="0" to-port="0"/>'), "line 6: expected output port 0 of layer 0"),
    (net(layer(0, port()), f'\n<edge {ENDS} to-layer="7" to-port="3"/>'), "line 6: expected input port 3 of layer 7"),
    (
        net(layer(0, port() + '<input><port id="1"/></input>'), f'\n<edge {ENDS} to-layer="0" to-port="1"/>' * 2),
        "line 7: expected one edge to port 1 of layer 0, found two",
    ),
]


@pytest.mark.parametrize(("data", "message"), BAD, ids=range(len(BAD)))
def test_unusable_input_error_has_a_line(data: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read_ir_bytes(data, "here.xml")
    assert caught.value.file == "here.xml"
    assert caught.value.place is not None
    assert caught.value.place.startswith("line ")
    assert len(str(caught.value)) < 300


LAUGHS = '<!DOCTYPE net [<!ENTITY a "ha">' + "".join(
    f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefghi", "bcdefghij", strict=True)
)


@pytest.mark.parametrize(
    "prolog",
    [
        LAUGHS + "]>",
        '<!DOCTYPE net SYSTEM "file:///etc/hostname">',
        '<!DOCTYPE net [<!ENTITY j SYSTEM "file:///etc/hostname">]>',
        '<!DOCTYPE net [<!ENTITY % p SYSTEM "http://localhost/x"> %p;]>',
        "<!DOCTYPE net>",
    ],
)
def test_document_types_and_entities_are_rejected(prolog: str) -> None:
    with pytest.raises(InputError, match="line 2: an IR must not contain a document type"):
        read_ir_bytes(b'<?xml version="1.0"?>\n' + prolog.encode() + net(layer(0, port("<dim>&j;</dim>"))))


def test_undeclared_entities_are_rejected() -> None:
    with pytest.raises(InputError, match="undefined entity"):
        read_ir_bytes(net(layer(0, port("<dim>&j;</dim>"))))


@pytest.mark.slow
def test_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    deep = b"<net><rt_info>" + b"<a>" * 198 + b"</a>" * 198 + b"</rt_info></net>"
    assert read_ir_bytes(deep).net.layers == []
    with pytest.raises(InputError, match="at most 200 nested elements"):
        read_ir_bytes(deep.replace(b"<a></a>", b"<a><a></a></a>"))
    nested = net()
    for _ in range(32):
        nested = net(layer(0, nested.decode().replace("<net", "<body").replace("</net>", "</body>")))
    inner: IrNet | None = read_ir_bytes(nested).net
    for _ in range(32):
        assert inner is not None
        inner = inner.layers[0].body
    assert inner == IrNet([], [])
    with pytest.raises(InputError, match="bodies nested at most 32 deep"):
        read_ir_bytes(net(layer(0, nested.decode().replace("<net", "<body").replace("</net>", "</body>"))))
    with pytest.raises(InputError, match="layer 'l0': expected attributes of at most 1048576"):
        read_ir_bytes(net(layer(0, f'<data a="{"x" * (2**20 + 1)}"/>')))
    for text in ("<!--{}-->", '<rt_info a="{}"/>', "<{}/>", "<?x {}?>"):
        with pytest.raises(InputError, match="tags and texts of at most 4194304 bytes"):
            read_ir_bytes(b"<net>" + text.format("x" * (5 * 2**20)).encode() + b"</net>")
    assert (
        read_ir_bytes(b"<net><rt_info>" + b"text \n" * 2**20 + b"</rt_info>" + b" " * (5 * 2**20) + b"</net>").name
        == ""
    )
    for name, size, allowed in (("MAX_ELEMENTS", 5, b"<a/>"), ("MAX_KEPT", 3, b"<layers/>"), ("MAX_BYTES", 80, b"")):
        monkeypatch.setattr(ir, name, size)
        filler = b"<a></a>" * 3 if name == "MAX_ELEMENTS" else b" " * 10
        assert read_ir_bytes(b"<net>" + allowed + filler + b"</net>").net.layers == []
        with pytest.raises(InputError, match="at most"):
            read_ir_bytes(b"<net>" + allowed + filler + b"<edges></edges><layers></layers><a></a>" * 3 + b"</net>")
        monkeypatch.undo()


LONG = "x" * 5000
MANY = " ".join(f'a{number}=""' for number in range(1001))
TOO_MUCH = [
    (net(layer(0, f"<data {MANY}/>")), "at most 1000 attributes of <data>, found 1001"),
    (net(layer(0, kind=LONG)), "a type of <layer> of at most 4096 characters"),
    (net(layer(0).replace('"l0"', f'"{LONG}"')), "a name of <layer> of at most 4096 characters"),
    (net(layer(0).replace("type=", f'version="{LONG}" type=')), "a version of <layer> of at most 4096 characters"),
    (
        net(f'<layer id="0" name="{LONG[:4000]}" type="If"><then_body><layers>' * 3),
        "nested layers whose names have at most 8192 characters together",
    ),
]


@pytest.mark.parametrize(("data", "message"), TOO_MUCH, ids=range(len(TOO_MUCH)))
def test_long_values_are_shortened_in_messages(data: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read_ir_bytes(data)
    assert len(str(caught.value)) < 300


def test_the_layers_and_names_of_a_file_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    data = net("".join(layer(number, port()) for number in range(3)))
    assert len(read_ir_bytes(data).net.layers) == 3
    monkeypatch.setattr(ir, "MAX_LAYERS", 2)
    with pytest.raises(InputError, match="line 3: expected at most 2 layers"):
        read_ir_bytes(data)
    monkeypatch.setattr(ir, "MAX_KEPT", 40)
    named = port().replace('id="0"', f'id="0" names="{"ab," * 40}"')
    with pytest.raises(InputError, match=r"at most .* elements"):
        read_ir_bytes(net(layer(0, named) + layer(1)))


def test_long_files_keep_their_lines() -> None:
    count = 4000
    data = net("\n".join(layer(number, port("<dim>4</dim>\n")) for number in range(count)))
    assert len(data) > 4 * 64 * 1024
    lines = data.decode().splitlines()
    read = read_ir_bytes(data).net.layers
    assert [item.id for item in read] == [str(number) for number in range(count)]
    assert all(f'<layer id="{item.id}"' in lines[item.line - 1] for item in read)


def test_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected a regular file") as caught:
        read_ir(tmp_path)
    assert caught.value.file == str(tmp_path)
    with pytest.raises(InputError, match="cannot be read: No such file"):
        read_ir(tmp_path / "missing.xml")
    with pytest.raises(InputError, match="cannot be read: embedded null"):
        read_ir("a\0b.xml")


def constant(kind: str, shape: str, size: int, offset: int = 0) -> bytes:
    data = f'<data element_type="{kind}" shape="{shape}" offset="{offset}" size="{size}"/>'
    return net(layer(0, data + '<output><port id="0"/></output>', "Const"))


def values_of(model: IrModel, layer: IrLayer, limit: int = 4096) -> list[Any] | None:
    with Constants(model.file) as constants:
        items = constants.values(layer, limit)
        assert constants.values(layer, limit) is items
    return None if items is None else list(items)


def values(path: Path, xml: bytes, limit: int = 4096) -> list[Any] | None:
    path.write_bytes(xml)
    model = read_ir(path)
    return values_of(model, model.net.layers[0], limit)


def test_constants(tmp_path: Path) -> None:
    xml, blob = tmp_path / "m.v1.xml", tmp_path / "m.v1.bin"
    assert values(xml, constant("i64", "2", 16)) is None
    blob.write_bytes(b"\xff" + struct.pack("<qq", -3, 2**40))
    assert values(xml, constant("i64", "2", 16, 1)) == [-3, 2**40]
    assert values(xml, constant("i64", "2", 16, 1), limit=15) is None
    assert values(xml, constant("i64", "", 8, 1)) == [-3]
    assert values(xml, constant("i64", "0,5", 0, 17)) == []
    assert values(xml, constant("u1", "1,3", 1)) == [1, 1, 1]
    for undecoded in (
        constant("i64", "2", 16, 2),  # past the end of the file
        constant("i64", "2", 2**62, 1),
        constant("i64", "2", 15, 1),  # fewer bytes than the shape needs
        constant("i64", "9223372036854775807,9223372036854775807", 16),
        constant("i64", "?", 16),
        constant("string", "1", 16),
        constant("i64", "2", 16).replace(b'offset="0"', b'offset="-8"'),
        constant("i64", "2", 16).replace(b'size="16"', b""),
        constant("i64", "2", 16).replace(b'"Const"', b'"Parameter"'),
        constant("i64", "2", 16).replace(b'<port id="0"/>', b""),
    ):
        assert values(xml, undecoded) is None
    model = read_ir_bytes(constant("i64", "2", 16))
    assert values_of(model, model.net.layers[0]) is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_pipes_are_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.xml")
    with pytest.raises(InputError, match="expected a regular file"):
        read_ir(tmp_path / "pipe.xml")
    os.mkfifo(tmp_path / "m.bin")
    assert values(tmp_path / "m.xml", constant("i64", "2", 16)) is None


MUTATIONS = [
    b"",
    b"<",
    b">",
    b'"',
    b"&j;",
    b"<!DOCTYPE a>",
    b"<dim>-5</dim>",
    b"</layer>",
    b"<body>",
    b'id="0"',
    b"\xff",
]
MUTATIONS += [
    b"\x00",
    b"9" * 30,
    b"<![CDATA[4]]>",
    b"<edge/>",
    b"\xef\xbb\xbf",
    b"-1",
    b"Const",
    b'shape="1,..,"',
    b"<!--",
]
SEEDS = [HANDWRITTEN.encode(), *(path.read_bytes() for path in sorted(SAMPLES.glob("*_openvino.xml")))]


def check_invariants(result: IrNet) -> None:
    ports = {(item.id, p.id) for item in result.layers for p in (*item.inputs, *item.outputs)}
    for edge in result.edges:
        assert {(edge.from_layer, edge.from_port), (edge.to_layer, edge.to_port)} <= ports
    for item in result.layers:
        for p in (*item.inputs, *item.outputs):
            assert p.shape is None or all(-1 <= size < 2**63 for size in p.shape)
        for body in item.bodies.values():
            check_invariants(body)


@pytest.mark.slow
@settings(max_examples=400, deadline=None)
@given(st.data())
def test_mutated_models_are_read_or_rejected(data: st.DataObject) -> None:
    raw = data.draw(st.sampled_from(SEEDS))
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(raw)))
        stop = data.draw(st.integers(start, min(len(raw), start + 40)))
        new = data.draw(st.sampled_from([*MUTATIONS, raw[:start], raw[start : start + 300]]) | st.binary(max_size=8))
        raw = raw[:start] + new + raw[stop:]
    if data.draw(st.booleans()):
        raw = raw[: data.draw(st.integers(0, len(raw)))]
    try:
        model = read_ir_bytes(raw)
    except InputError:
        return
    check_invariants(model.net)


def test_import_loads_no_heavy_packages() -> None:
    code = "import sys, specgate.dialects.openvino.ir\nprint(*{'numpy', 'yaml', 'pydantic', 'openvino', 'rich'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


IR_TYPES = {"Constant": "Const", "Relu": "ReLU", "Softmax": "SoftMax", "PRelu": "PReLU"}


@pytest.fixture(scope="module")
def ov() -> Any:
    return pytest.importorskip(
        "openvino", reason="openvino is not installed: the reader is NOT compared with real IR files"
    )


def real_shape(output: Any) -> tuple[int, ...] | None:
    shape = output.get_partial_shape()
    if shape.rank.is_dynamic:
        return None
    if len(shape) == 0 and output.get_node().get_type_name() not in ("Constant", "Parameter"):
        return None  # written as an unknown rank is
    return tuple(-1 if size.is_dynamic else size.get_length() for size in shape)


def real_type(output: Any) -> str | None:
    name: str = output.get_element_type().get_type_name()
    return None if name == "dynamic" else name


def text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def compare(result: IrNet, real: Any) -> None:
    """Compare a read file with an ov.Model: layers, ports, attributes, edges, bodies."""
    by_name = {item.name: item for item in result.layers}
    nodes = real.get_ordered_ops()
    assert sorted(by_name) == sorted(node.get_friendly_name() for node in nodes)
    edges = set()
    for node in nodes:
        item, kind = by_name[node.get_friendly_name()], node.get_type_info().name
        assert (item.type, item.version) == (IR_TYPES.get(kind, kind), node.get_type_info().version_id)
        sources = [entry.get_source_output() for entry in node.inputs()]
        assert [(p.element_type, p.shape) for p in item.inputs] == [(real_type(o), real_shape(o)) for o in sources]
        outputs = [] if kind == "Result" else node.outputs()
        assert [(p.element_type, p.shape) for p in item.outputs] == [(real_type(o), real_shape(o)) for o in outputs]
        assert all(set(o.get_names()) <= set(p.names) for o, p in zip(outputs, item.outputs, strict=True))
        for p, output in zip(item.inputs, sources, strict=True):
            source = by_name[output.get_node().get_friendly_name()]
            edges.add((source.id, source.outputs[output.get_index()].id, item.id, p.id))
        if kind in ("If", "Loop", "TensorIterator"):
            bodies = ["then_body", "else_body"] if kind == "If" else ["body"]
            functions = [node.get_function(number) for number in (0, 1)] if kind == "If" else [node.get_function()]
            assert sorted(item.bodies) == sorted(bodies)
            for name, function in zip(bodies, functions, strict=True):
                compare(item.bodies[name], function)
        else:
            compare_attributes(item, node)
    assert {(e.from_layer, e.from_port, e.to_layer, e.to_port) for e in result.edges} == edges
    assert len(result.edges) == len(edges)


def compare_attributes(item: IrLayer, node: Any) -> None:
    real = {key: text(value) for key, value in node.get_attributes().items()}
    if item.type == "Parameter":  # get_attributes flattens intervals
        shape = str(node.get_partial_shape()).removeprefix("[").removesuffix("]")
        assert (item.data["shape"], item.data["element_type"]) == (shape, real["element_type"])
    else:
        assert {key: value for key, value in item.data.items() if key not in ("offset", "size")} == real


def roundtrip(ov: Any, path: Path, results: list[Any], parameters: list[Any]) -> IrModel:
    model = ov.Model(results, parameters, "real")
    ov.serialize(model, path)
    ir_model = read_ir(path)
    assert (ir_model.name, ir_model.version, ir_model.file) == ("real", 11, str(path))
    compare(ir_model.net, model)
    lines = path.read_text().splitlines()
    assert all(f'<layer id="{item.id}" name="{item.name}"' in lines[item.line - 1] for item in ir_model.net.layers)
    return ir_model


@pytest.mark.oracle
def test_one_hot_and_dynamic_shapes(ov: Any, tmp_path: Path) -> None:
    from openvino import opset1, opset16
    from openvino import opset15 as ops

    for shape in ("[2,3]", "[?,4]", "[1..3,2..,..7,?,5]", "...", "[]", "[0,9223372036854775807]"):
        ids = ops.parameter(ov.PartialShape(shape), ov.Type.i64, name="ids")
        ids.output(0).set_names({"ids", "a,b"})
        scalars = [ops.constant(number, dtype=kind) for number, kind in ((5, "int64"), (1, "float32"), (0, "float32"))]
        results = [
            ops.result(opset1.one_hot(ids, *scalars, axis=0)),
            ops.result(ops.relu(ops.convert(ids, "f16"))),
            ops.result(opset16.one_hot(ids, *scalars, axis=-1, negative_indices_mode="normalize")),
        ]
        result = roundtrip(ov, tmp_path / "one_hot.xml", results, [ids])
        assert result.net.layers[0].outputs[0].names == ("a,b", "ids")
        modes = [item.data.get("negative_indices_mode") for item in result.net.layers if item.type == "OneHot"]
        assert sorted(modes, key=str) == [None, "normalize"]
    dynamic = ops.parameter([2], ov.Type.dynamic, name="d")
    assert roundtrip(ov, tmp_path / "d.xml", [ops.result(dynamic)], [dynamic]).net.layers[0].outputs[0].shape == (2,)


@pytest.mark.oracle
def test_bodies(ov: Any, tmp_path: Path) -> None:
    from openvino import opset15 as ops

    x, flag = ops.parameter([2, 3], ov.Type.f32, name="x"), ops.parameter([], ov.Type.boolean, name="flag")
    t, e = ops.parameter([2, 3], ov.Type.f32, name="t"), ops.parameter([2, 3], ov.Type.f32, name="e")
    branch = ops.if_op(flag)
    later, other = ops.result(ops.relu(t)), ops.result(ops.add(e, ops.constant(2.0, dtype="float32")))
    branch.set_then_body(ov.Model([later], [t], "then"))
    branch.set_else_body(ov.Model([other], [e], "else"))
    branch.set_input(x.output(0), t, e)
    branched = branch.set_output(later, other)

    step, state = ops.parameter([], ov.Type.i64, name="step"), ops.parameter([2, 3], ov.Type.f32, name="state")
    more, after = ops.result(ops.constant(True, dtype="bool")), ops.result(ops.add(state, ops.convert(step, "f32")))
    loop = ops.loop(ops.constant(3, dtype="int64"), ops.constant(True, dtype="bool"))
    loop.set_function(ov.Model([more, after], [step, state], "loop"))
    loop.set_special_body_ports([0, 0])
    loop.set_merged_input(state, branched, after.output(0))
    looped = loop.get_iter_value(after.output(0), -1)
    gathered = loop.get_concatenated_slices(after.output(0), 0, 1, 1, -1, 0)

    row, last = ops.parameter([1, 3], ov.Type.f32, name="row"), ops.parameter([1, 3], ov.Type.f32, name="last")
    total = ops.result(ops.add(row, last))
    iterator = ops.tensor_iterator()
    iterator.set_function(ov.Model([total], [row, last], "iterator"))
    iterator.set_sliced_input(row, looped, 0, 1, 1, -1, 0)
    iterator.set_merged_input(last, ops.constant([[0.0, 0.0, 0.0]], dtype="float32").output(0), total.output(0))
    results = [ops.result(iterator.get_iter_value(total.output(0), -1)), ops.result(gathered)]
    result = roundtrip(ov, tmp_path / "bodies.xml", results, [x, flag])
    assert {item.type: sorted(item.bodies) for item in result.net.layers if item.bodies} == {
        "If": ["else_body", "then_body"],
        "Loop": ["body"],
        "TensorIterator": ["body"],
    }


UNDECODED = {"nf4", "f4e2m1", "f8e4m3", "f8e5m2", "f8e8m0", "u3", "u6"}


@pytest.mark.oracle
def test_constants_of_every_element_type(ov: Any, tmp_path: Path) -> None:
    from openvino import opset15 as ops

    kinds = {kind for name in vars(ov.Type) if isinstance(kind := getattr(ov.Type, name), ov.Type)}
    kinds -= {ov.Type.dynamic, ov.Type.string}
    assert len(kinds) >= 23
    expected: dict[str, list[Any]] = {}
    results = []
    for kind in sorted(kinds, key=str):
        name = kind.get_type_name()
        whole = {"boolean": [1, 0, 1, 1, 0], "u1": [1, 0, 1, 1, 0], "u2": [3, 0, 1, 2, 3], "u4": [15, 0, 1, 8, 7]}.get(
            name
        )
        signed = [-8, 7, 0, -1, 3] if name in ("i4", "i8", "i16", "i32", "i64") else [1, 2, 0, 3, 1]
        broken = [-1.5, 0.25, 0, 8, 1] if name in ("f16", "bf16", "f32", "f64") else None
        expected[name] = whole or broken or signed
        node = ov.op.Constant(kind, ov.Shape([5]), expected[name])
        node.set_friendly_name(name)
        results.append(ops.result(node))
    result = roundtrip(ov, tmp_path / "types.xml", results, [])
    read = {item.name: values_of(result, item) for item in result.net.layers if item.type == "Const"}
    assert {name for name, numbers in read.items() if numbers is None} == UNDECODED & set(expected)
    assert {name: numbers for name, numbers in read.items() if numbers is not None} == {
        name: numbers for name, numbers in expected.items() if name not in UNDECODED
    }
    assert {type(number) for number in read["boolean"] or ()} == {bool}


@pytest.mark.oracle
@pytest.mark.parametrize("name", ["classifier_openvino", "onehot16_openvino"])
def test_samples_read_like_in_openvino(ov: Any, name: str) -> None:
    result = read_ir(SAMPLES / f"{name}.xml")
    compare(result.net, ov.Core().read_model(SAMPLES / f"{name}.xml"))
    depth = next(item for item in result.net.layers if item.name == "depth")
    assert values_of(result, depth) == [5]
