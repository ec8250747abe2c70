"""Descriptors in files: single, lists, DxDispatch models, relaxed JSON, errors."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specgate.descriptors.core import Descriptor
from specgate.descriptors.files import NoTableEntry, read_one, read_placed
from specgate.descriptors.text import lines, load_relaxed, without_comments
from specgate.errors import InputError, NoTable
from tests.paths import DATA, ROOT

ONE = {"type": "ONE_HOT", "desc": {"IndicesTensor": {"DataType": "INT32", "Sizes": [2, 1]}, "Axis": 1}}
TENSOR = {"DataType": "INT32", "Sizes": [2, 1]}
BARE = {"type": "DML_OPERATOR_ONE_HOT", "IndicesTensor": TENSOR, "Axis": 1}
NODE = {"op_type": "OneHot", "attributes": {"axis": 0}}
LAYER = {"type": "OneHot", "version": "opset1", "data": {"axis": 0}}
SHADER = {"type": "hlsl", "sourcePath": "x.hlsl", "compiler": "dxc", "compilerArgs": []}


@pytest.fixture
def save(tmp_path):
    def make(content, name="file.json"):
        path = tmp_path / name
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return path

    return make


def read_descriptors(path, dialect=None):
    return [(place, entry) for place, _, entry in read_placed(path, dialect)]


@pytest.mark.parametrize(("data", "dialect"), [(ONE, "directml"), (NODE, "onnx"), (LAYER, "openvino")])
def test_one_descriptor(save, data, dialect):
    path = save(data)
    result = read_one(path)
    assert (result.dialect, result.operator) == (dialect, "ONE_HOT" if dialect == "directml" else "OneHot")
    assert read_descriptors(path) == [("", result)]
    assert read_one(str(path), dialect) == result


def test_lists_and_mappings(save):
    pairs = read_descriptors(save([ONE, NODE, LAYER]))
    assert [place for place, _ in pairs] == ["[0]", "[1]", "[2]"]
    assert [entry.dialect for _, entry in pairs if isinstance(entry, Descriptor)] == ["directml", "onnx", "openvino"]
    pairs = read_descriptors(save({"$schema": "x", "descriptors": {"a": ONE, "b/c": NODE, "": LAYER, "\n" * 99: ONE}}))
    assert [place for place, _ in pairs][:3] == ["descriptors/a", "descriptors/b/c", "descriptors/"]
    assert pairs[3][0].startswith(r"descriptors/'\n\n")
    assert len(pairs[3][0]) < 150


def test_yaml(save):
    text = "descriptors:\n  a:\n    op_type: OneHot\n    inputs: [{elem_type: INT64, shape: [N, null]}]\n"
    for name in ("file.yaml", "file.yml", "file.txt"):
        ((place, result),) = read_descriptors(save(text, name))
        assert place == "descriptors/a"
        assert isinstance(result, Descriptor)
        assert result.fields["indices"].sizes == ("N", None)


def test_a_dxdispatch_model():
    for name in ("one_hot.json", "one_hot.yaml"):
        pairs = read_descriptors(DATA / "dxdispatch" / name)
        assert [place for place, _ in pairs] == ["dispatchables/packed", "dispatchables/strided"]
        assert all(isinstance(entry, Descriptor) for _, entry in pairs)


def test_operators_without_a_table_are_named(save):
    model = {"dispatchables": {"s": SHADER, "g": {"type": "DML_OPERATOR_GEMM9", "desc": {}}, "o": ONE}}
    entries = dict(read_descriptors(save(model)))
    assert [getattr(entry, "operator", None) for entry in entries.values()] == ["hlsl", "GEMM9", "ONE_HOT"]
    assert isinstance(entries["dispatchables/g"], NoTableEntry)
    assert entries["dispatchables/g"].message == "directml has no table for 'GEMM9'; did you mean GEMM?"
    ((place, entry), _) = read_descriptors(save([{"op_type": "OneHit"}, NODE]))
    assert place == "[0]"
    assert entry == NoTableEntry("onnx", "OneHit", "onnx has no table for 'OneHit'; did you mean OneHot?")
    with pytest.raises(NoTable, match="'GEMM9'"):
        read_one(save({"type": "DML_OPERATOR_GEMM9", "desc": {}}))


def test_read_one_requires_exactly_one_descriptor(save):
    with pytest.raises(InputError, match=r"file\.json: expected one descriptor, found 2: \[0\], \[1\]$"):
        read_one(save([ONE, NODE]))
    with pytest.raises(InputError, match="expected one descriptor, found none"):
        read_one(save([]))
    with pytest.raises(InputError, match=r"found 20: .*\[7\] and 12 more"):
        read_one(save([ONE] * 20))
    assert read_one(save([ONE])).operator == "ONE_HOT"


@pytest.mark.parametrize(
    ("content", "dialect", "complaint"),
    [
        ("17", None, "expected a descriptor as an object, found 17"),
        ("", None, "file.json"),
        ('{"a": 1}', None, "expected a descriptor of DirectML .* found the keys"),
        ('[{"type": "ONE_HOT", "desc": {"Axes": 1}}]', None, r"file\.json: \[0\]: 'Axes' is not a field of ONE_HOT"),
        (json.dumps({"dispatchables": {"x": ONE}}), "onnx", "holds descriptors of directml, not of 'onnx'"),
        (json.dumps({"descriptors": {}, "more": 1}), None, "expected only descriptors, found 'more'"),
        (
            '{"dispatchables": {"x": {"type": "ONE_HOT", "desc": {"Axis": -1}}}}',
            None,
            "dispatchables/x.Axis: expected an",
        ),
        ('{"op_type": "OneHot",, }', None, "line 1 column 2[14]"),
        ('{"a": 1, "a": 2}', None, "duplicate key 'a' in an object"),
        ("[" * 100_000, None, "nested too deeply|not valid JSON"),
        ('{"op_type": 1} /* open', None, "line 1: unterminated comment"),
    ],
)
def test_unusable_files(save, content, dialect, complaint):
    with pytest.raises(InputError, match=complaint) as caught:
        read_descriptors(save(content), dialect)
    assert "file.json" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match="cannot be read: No such file"):
        read_one(tmp_path / "none.json")
    with pytest.raises(InputError, match="expected a regular file"):
        read_one(tmp_path)
    (tmp_path / "x.json").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="expected UTF-8 text"):
        read_one(tmp_path / "x.json")


# Relaxed JSON


def test_comments_and_trailing_commas():
    text = """// first
    { /* a "quoted" // thing */ "a": [1, 2, /* x */ ], // , ] "
      "b": "// no, /* comment */ ,]", "c\\\\": {"d": "\\",]",},
    }
    """
    assert load_relaxed(text, "x.json") == {"a": [1, 2], "b": "// no, /* comment */ ,]", "c\\": {"d": '",]'}}
    assert load_relaxed(text, "x") == load_relaxed(text, "x.json")


def test_removing_comments_keeps_positions():
    text = '{ /* one\ntwo */ "a": [1, // three\n oops ] }'
    with pytest.raises(InputError, match="line 3 column 2"):
        load_relaxed(text, "x.json")
    plain = without_comments(text)
    assert len(plain) == len(text)
    assert [i for i, c in enumerate(plain) if c == "\n"] == [i for i, c in enumerate(text) if c == "\n"]


@settings(deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(alphabet='/*,]}"\\ a\n'),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(alphabet='/*,]"\\'), inner),
        max_leaves=8,
    ),
    st.sampled_from(['/* , ] } " */', '// " , ]\n', " ", "\n"]),
)
def test_any_document_parses_with_comments_and_commas(document, noise):
    strict = json.dumps(document, indent=1)
    assert json.loads(without_comments(strict)) == document
    noisy = json.dumps(document, separators=(f"{noise},{noise}", f"{noise}:{noise}"))
    if isinstance(document, list | dict) and document:
        noisy = f"{noisy[:-1]},{noise}{noisy[-1]}"
    assert json.loads(without_comments(noise + noisy + noise)) == document


@pytest.mark.parametrize(
    "text", ['"\\' * 500_000, "/*" * 500_000, '"' + '\\"' * 500_000, ", " * 500_000, "/" * 1_000_000]
)
def test_hostile_text_is_scanned_once(text):
    if text.startswith("/*"):
        with pytest.raises(InputError, match="unterminated comment"):
            without_comments(text)
    else:
        assert len(without_comments(text)) == len(text)


# Lines


@pytest.mark.parametrize("name", ["one_hot.json", "one_hot.yaml"])
def test_lines_of_a_model(name):
    text = (DATA / "dxdispatch" / name).read_text(encoding="utf-8")
    result = lines(text, name)
    assert result is not None
    rows = text.split("\n")
    assert "INT32" in rows[result["dispatchables", "strided", "desc", "IndicesTensor", "DataType"] - 1]
    assert "[8, 8, 4, 1]" in rows[result["dispatchables", "strided", "desc", "OutputTensor", "Strides"] - 1]


def test_line_numbers_of_json_with_tabs_or_none_if_unknown():
    assert lines('{\n\t"a": [\n\t\t1,\n\t\t2,\n\t]\n}', "x.json") == {(): 1, ("a",): 2, ("a", 0): 3, ("a", 1): 4}
    assert lines("[" * 500 + "]" * 500, "x.json") is None
    assert lines("{ /* open", "x.json") is None
    assert lines("a: [", "x.yaml") is None


def test_a_json_file_is_read_without_heavy_imports():
    code = (
        "import sys\n"
        "from specgate.descriptors.files import read_placed\n"
        f"assert list(read_placed({str(DATA / 'dxdispatch' / 'one_hot.json')!r}))\n"
        "heavy = {'numpy', 'pydantic', 'yaml', 'onnx', 'rich'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run(
        [sys.executable, "-c", "from specgate.spec.tables import dialect; dialect('directml')"], cwd=ROOT, check=True
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


@pytest.mark.parametrize("name", ["file.json", "file.yaml"])
@pytest.mark.parametrize("document", [ONE, BARE, NODE, LAYER])
def test_schema_key_is_accepted_only_at_the_top_level(save, name, document):
    named = {"$schema": "./descriptor.schema.json", **document}
    assert read_one(save(named, name)) == read_one(save(document, name))
    with pytest.raises(InputError, match=r"\$schema"):
        read_descriptors(save([named], name))
