"""Tables against the openvino package's facts, and incomplete tables."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

from specgate.errors import InputError
from specgate.spec.build import build_dialect
from specgate.spec.dialect_spec import Dialect
from specgate.spec.lint import lint_tables
from specgate.spec.tables import dialect
from tests.paths import SPECS
from tools.__main__ import main
from tools.import_openvino.compare import differences, pairs
from tools.import_openvino.package import Version, changes, opset_tables, package_facts
from tools.import_openvino.skeleton import file_name, write_skeleton

if TYPE_CHECKING:
    from pathlib import Path

installed = pytest.mark.skipif(
    find_spec("openvino") is None, reason="THE TABLES ARE NOT COMPARED WITH OPENVINO: pip install openvino"
)


@pytest.fixture(scope="module")
def facts():
    if find_spec("openvino") is None:
        pytest.skip("THE TABLES ARE NOT COMPARED WITH OPENVINO: pip install openvino (it is in the oracles extra)")
    return package_facts()


def about(table: Dialect, facts: Any) -> list[str]:
    """Return the differences, without types that lack a table."""
    return [line for line in differences(table, facts) if ": no table" not in line]


@pytest.mark.slow
@pytest.mark.oracle
def test_tables_agree_with_the_installed_package(facts):
    assert about(dialect("openvino"), facts) == []


@pytest.mark.oracle
def test_a_type_without_a_table_has_one_line(facts):
    message = list(differences(dialect("openvino"), facts))
    missing = [name for name in facts if name not in dialect("openvino").operators]
    assert [line.partition(":")[0] for line in message] == missing


@pytest.mark.oracle
def test_facts_read_from_the_package(facts):
    assert (len(facts), pairs(facts)) == (209, 245)
    assert facts["TopK"]["opset11"] == Version(
        "opset11", {"axis": 0, "mode": "max", "sort": "none", "index_element_type": "i32", "stable": False}
    )
    assert facts["Xor"]["opset2"] is None
    assert list(facts["ShuffleChannels"]) == ["opset1", "opset2", "opset3"]
    assert facts["LogicalXor"]["opset1"].opset == "opset2"
    assert {"Const", "PReLU", "ReLU", "SoftMax"} <= facts.keys()
    assert facts["Const"]["opset1"].attributes is None  # the factory makes no constants


@pytest.mark.oracle
def test_types_are_spelt_as_an_ir_spells_them(facts, tmp_path):
    openvino = pytest.importorskip("openvino")
    from openvino import opset1

    data = opset1.parameter([2], openvino.Type.f32)
    slope = opset1.constant([0.5], openvino.Type.f32)
    model = openvino.Model([opset1.softmax(opset1.prelu(opset1.relu(data), slope), 0)], [data], "m")
    openvino.save_model(model, str(tmp_path / "m.xml"), compress_to_fp16=False)
    text = (tmp_path / "m.xml").read_text(encoding="utf-8")
    for kind in ("Const", "PReLU", "ReLU", "SoftMax", "Parameter", "Result"):
        assert f'type="{kind}"' in text
        assert kind in facts


# The comparison, with invented tables and facts.

ROLL = """operator: Roll
summary: It rolls.
source:
  - {page: Roll-7}
fields:
  data: {kind: input}
  output: {kind: output}
  mode: {kind: attribute, type: string, optional: true, default: up}
  step: {kind: attribute, type: float, optional: true, default: 0.1}
  exclude_pad: {kind: attribute, type: bool, vendor_name: exclude-pad}
  body: {kind: attribute, type: graph}
support:
  "opset7": {data: {types: any}, output: {types: any}}
  "opset9": {}
"""
ATTRIBUTES = {"mode": "UP", "step": 0.10000000149011612, "exclude-pad": False}
FACTS = {"Roll": {"opset7": Version("opset7", ATTRIBUTES), "opset9": Version("opset9", ATTRIBUTES)}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a dialect's folder without tables."""
    result = tmp_path / "openvino"
    (result / "operators").mkdir(parents=True)
    for name in ("dialect", "levels", "sets", "types"):
        shutil.copy(SPECS / "openvino" / f"{name}.yaml", result)
    return result


def list_messages(folder: Path, text: str, facts: Any = None) -> list[str]:
    (folder / "operators" / "Roll.yaml").write_text(text, encoding="utf-8")
    stated: Any = FACTS if facts is None else facts
    return list(differences(Dialect("openvino", build_dialect(folder)), stated))


def test_nothing_differs(folder):
    assert list_messages(folder, ROLL) == []


def test_attributes_that_differ_on_purpose_are_not_reported(folder):
    other = {"Roll": {level: Version(level, {"mode": "down", "more": 1}) for level in ("opset7", "opset9")}}
    text = ROLL.replace("fields:", "unknowns:\n  - The package has more, other steps and no exclude-pad.\nfields:")
    text += (
        "observed:\n  - builds: opset7..opset9\n    not_enforced: []\n    evidence: builds have another mode and step\n"
    )
    assert (
        list_messages(folder, text.replace("    not_enforced: []\n", "    support: {data: {types: any}}\n"), other)
        == []
    )


@pytest.mark.parametrize(
    ("change", "facts", "expected"),
    [
        (('  "opset9": {}\n', ""), {}, ["Roll opset9: no row, and a version begins there"]),
        (('  "opset9": {}\n', '  "opset8": {}\n  "opset9": {}\n'), {}, ["Roll opset8: a row, and no version begins there"]),
        (('  "opset9": {}\n', '  "opset9": {}\nremoved: "opset12"\n'), {},
         ["Roll opset12: it is removed in the table, and not in the package"]),
        ((), {"opset12": None}, ["Roll opset12: the package has it no longer, expected it as removed"]),
        ((), {"opset9": None, "opset10": Version("opset7", ATTRIBUTES)},
         ["Roll opset9: the package lacks it there, expected a row that is deprecated",
          "Roll opset10: no row, and a version begins there"]),
        ((), {"opset9": Version("opset9", {**ATTRIBUTES, "new": 1})},
         ["Roll opset9: attribute new: only in the package"]),
        ((), {"opset9": Version("opset9", {"mode": "up", "step": 0.1})},
         ["Roll opset9: attribute exclude-pad: only in the table"]),
        ((), {"opset9": Version("opset9", {**ATTRIBUTES, "mode": "down"})},
         ["Roll opset9: attribute mode: default up in the table, down in the package"]),
        ((), {"opset9": Version("opset9", {**ATTRIBUTES, "step": 0.2})},
         ["Roll opset9: attribute step: default 0.1 in the table, 0.2 in the package"]),
        ((), {"opset9": Version("opset9", None)}, []),
    ],
)  # fmt: skip
def test_a_difference_of_each_kind_is_reported(folder, change, facts, expected):
    text = ROLL.replace(*change) if change else ROLL
    assert list_messages(folder, text, {"Roll": {**FACTS["Roll"], **facts}}) == expected


def test_types_missing_on_either_side(folder):
    other = {"New": {"opset16": Version("opset16", {})}}
    assert list_messages(folder, ROLL, other) == [
        "New: no table; its versions begin at opset16",
        "Roll: the package does not have it",
    ]


# Facts of the package's headers.


def test_the_tables_of_opsets(tmp_path):
    (tmp_path / "opset2_tbl.hpp").write_text(
        "_OPENVINO_OP_REG(Abs, ov::op::v0)\n//\n_OPENVINO_OP_REG(Gelu,ov::op::v0)\n"
    )
    (tmp_path / "opset10_tbl.hpp").write_text("#define _OPENVINO_OP_REG(x, y)\n_OPENVINO_OP_REG(Gelu, ov::op::v7)\n")
    (tmp_path / "opset10.hpp").write_text("_OPENVINO_OP_REG(Not, ov::op::v1)\n")
    assert list(opset_tables(tmp_path).items()) == [
        ("opset2", {"Abs": "v0", "Gelu": "v0"}),
        ("opset10", {"Gelu": "v7"}),
    ]
    with pytest.raises(InputError, match="expected the tables of the opsets"):
        opset_tables(tmp_path / "nowhere")


def test_where_versions_begin_and_end():
    tables = {
        "opset1": {"A": "v0", "B": "v0", "C": "v1"},
        "opset2": {"A": "v0", "C": "v2"},
        "opset3": {"A": "v0", "B": "v0", "C": "v2"},
        "opset4": {"C": "v4"},
    }
    assert changes(tables, {"opset4"}) == {
        "A": {"opset1": "v0"},
        "B": {"opset1": "v0", "opset2": None, "opset3": "v0"},
        "C": {"opset1": "v1", "opset2": "v2", "opset4": "v4"},
    }
    assert changes(tables, set())["A"] == {"opset1": "v0", "opset4": None}


# New tables, which are incomplete.


def test_a_table_is_started(folder):
    pytest.importorskip("ruamel.yaml", reason="NO TABLE IS WRITTEN: pip install ruamel.yaml (it is in the test extra)")
    at = {
        "opset1": Version("opset1", {"axis": 1, "pads": [], "exclude-pad": True}),
        "opset2": None,
        "opset3": Version("opset3", {"axis": 1, "steps": [0.5], "exclude-pad": False}),
        "opset6": Version(None, None),
        "opset8": None,
    }
    text = write_skeleton("ROIPool", at, "9.9")
    assert (
        text
        == """operator: ROIPool
source:
  - {package: openvino, version: "9.9", name: "openvino/opsets and NodeFactory.create, ROIPool"}
unknowns:
  - Only versions and attributes are here, as the package states them. Inputs, outputs, types, rules, examples and which
    attributes are required are to be written from the page.
  - Which attributes it has at opset6, the package does not say.
  - The package does not say what the elements of its empty lists are. Here they are int.
fields:
  axis: {kind: attribute, type: int, until: opset6}  # 1 when nothing is set
  pads: {kind: attribute, type: "int[]", until: opset3}  # [] when nothing is set
  exclude_pad: {kind: attribute, type: bool, vendor_name: exclude-pad, until: opset6}  # False when nothing is set
  steps: {kind: attribute, type: "float[]", since: opset3, until: opset6}  # [0.5] when nothing is set
support:
  "opset1": {}
  "opset2": {deprecated: true}
  "opset3": {}
  "opset6": {}
removed: "opset8"
"""
    )
    assert file_name("ROIPool") == "operators/ROIPool.yaml"
    (folder / file_name("ROIPool")).write_text(text, encoding="utf-8")
    table = Dialect("openvino", build_dialect(folder))
    assert list(differences(table, {"ROIPool": at})) == ["ROIPool: its table is only begun, without inputs and outputs"]
    assert [line for line in lint_tables(table) if "no-example" in line] != []


@pytest.mark.slow
@pytest.mark.oracle
@installed
def test_the_command(folder, capsys):
    pytest.importorskip("ruamel.yaml", reason="NO TABLE IS WRITTEN: pip install ruamel.yaml (it is in the test extra)")
    begin = ["import", "openvino", "--to", str(folder)]
    assert main([*begin, "--operator", "Gelu", "--operator", "ReLU"]) == 0
    assert capsys.readouterr().out == "operators/Gelu.yaml\noperators/ReLU.yaml\n"
    assert "approximation_mode" in (folder / "operators" / "Gelu.yaml").read_text(encoding="utf-8")
    before = (folder / "operators" / "Gelu.yaml").read_bytes()
    assert main([*begin, "--operator", "Sin", "--operator", "Gelu"]) == 2
    assert "Gelu has a table" in capsys.readouterr().err
    assert (folder / "operators" / "Gelu.yaml").read_bytes() == before
    assert not (folder / "operators" / "Sin.yaml").exists()
    assert main([*begin, "--operator", "Relu"]) == 2
    assert "has no type 'Relu'" in capsys.readouterr().err
    assert main(begin) == 2
    assert "expected --operator" in capsys.readouterr().err
    assert main([*begin, "--check"]) == 1
    *lines, last = capsys.readouterr().out.splitlines()
    assert sum(": no table; its versions begin at" in line for line in lines) == 207
    assert last.endswith("209 types in 245 versions, 2 tables, 209 differences")
