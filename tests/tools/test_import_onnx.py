"""ONNX tables against the packages that state them, and the importer."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from specgate.errors import InputError
from specgate.spec.build import build_dialect
from specgate.spec.dialect_spec import Dialect
from specgate.spec.tables import dialect
from tests.paths import ROOT, SPECS
from tools.import_onnx.compare import differences, facts_of_tables, level_differences
from tools.import_onnx.files import file_name, import_operators
from tools.import_onnx.update import REMARKS

if TYPE_CHECKING:
    from pathlib import Path

#: Facts that only an older release states for a version, with the reason.
KNOWN = {
    "1.14.1": {
        "Erf 13: types of T: only in the package INT16, INT32, INT64, INT8, UINT16, UINT32, UINT64, UINT8": "narrowed",
        "GroupNormalization 18: deprecated: True in the table, False in the package": "withdrawn later, for 21",
    },
    "1.17.0": {
        "Erf 13: types of T: only in the package INT16, INT32, INT64, INT8, UINT16, UINT32, UINT64, UINT8": "narrowed",
        "GlobalLpPool 2: types of T: only in the package BFLOAT16": "meant for 22, put right in a later release",
        "GlobalLpPool 22: types of T: only in the table BFLOAT16": "stated of 2 instead, put right in a later release",
        "GroupNormalization 18: deprecated: True in the table, False in the package": "withdrawn later, for 21",
    },
    "1.20.1": {
        "Attention 25: the package has no such version": "its window attributes came to opset 25 with 1.23",
    },
}


@pytest.fixture(scope="module")
def table() -> Dialect:
    return dialect("onnx")


@pytest.fixture(scope="module")
def installed() -> dict[str, Any]:
    pytest.importorskip(
        "onnx", reason="THE TABLES ARE NOT COMPARED WITH ONNX: pip install onnx (it is in the test extra)"
    )
    from tools.import_onnx import schemas

    return {
        "package": schemas.package_version(),
        "versions": schemas.domain_versions(),
        "table": schemas.version_table(),
        "operators": schemas.schema_facts(),
    }


def find_ids(table: Dialect, package: dict[str, Any]) -> list[str]:
    words = {info["tensor"]: word for word, info in table.types.items()}
    return list(differences(facts_of_tables(table), package["operators"], words, package["versions"]))


@pytest.mark.oracle
def test_tables_agree_with_the_installed_package(table, installed):
    assert find_ids(table, installed) == []
    assert list(level_differences(table, installed["table"], installed["versions"])) == []
    assert len(table.operators) >= 227


@pytest.mark.oracle
def test_a_difference_of_each_kind_is_reported(table, installed):
    changed = json.loads(json.dumps(installed))
    operators = changed["operators"]
    del operators["Abs"]
    operators["NewOne"] = operators["Cos"]
    del operators["Add"]["14"]
    operators["Clip"]["13"]["inputs"][1]["option"] = "single"
    operators["Concat"]["13"]["inputs"][0]["homogeneous"] = False
    operators["Loop"]["25"]["inputs"][2]["least"] = 1
    operators["Gemm"]["13"]["type_sets"]["T"].remove("tensor(double)")
    operators["Gemm"]["13"]["attributes"]["alpha"]["default"] = 2.0
    operators["TopK"]["24"]["attributes"]["axis"]["required"] = True
    operators["Cast"]["28"]["attributes"]["to"]["type"] = "STRING"
    operators["Scatter"]["11"]["deprecated"] = False
    operators["Where"]["16"]["outputs"][0]["types"] = "B"
    message = find_ids(table, changed)
    starts = [
        "Abs: the package does not have it", "NewOne: no table", "Add 14: the package has no such version",
        "Cast 28: attribute to: type INT", "Clip 13: inputs[1]: name min", "Concat 13: inputs[0]: name inputs",
        "Gemm 13: types of T: only in the table DOUBLE", "Gemm 13: attribute alpha: type FLOAT, required False, default 1",
        "Loop 25: inputs[2]: name v_initial", "Scatter 11: deprecated: True", "TopK 24: attribute axis:",
        "Where 16: outputs[0]: name output, types T",
    ]  # fmt: skip
    assert len(message) == len(starts)
    for start in starts:
        assert sum(line.startswith(start) for line in message) == 1, start


def cached_release(release: str) -> Path:
    """Return a folder with that release of onnx, cached; skip without network."""
    from specgate.dialects.directml.oracle.builds import directory

    folder = directory().parent / "onnx" / release
    if not (folder / "onnx" / "__init__.py").is_file():
        part = folder.with_name(f".{release}.{os.getpid()}")
        command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(part), f"onnx=={release}"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
        except subprocess.TimeoutExpired:
            pytest.skip(f"THE TABLES ARE NOT COMPARED WITH ONNX {release}: pip took too long")
        if done.returncode:
            shutil.rmtree(part, ignore_errors=True)
            lines = done.stderr.strip().splitlines() or ["no message"]
            pytest.skip(f"THE TABLES ARE NOT COMPARED WITH ONNX {release}: pip cannot install it: {lines[-1]:.200}")
        shutil.rmtree(folder, ignore_errors=True)
        part.rename(folder)
    return folder


@pytest.mark.slow
@pytest.mark.oracle
@pytest.mark.parametrize("release", KNOWN)
def test_tables_agree_with_other_releases(table, release):
    path = os.pathsep.join([str(cached_release(release)), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "-m", "tools.import_onnx.schemas"],
        capture_output=True, text=True, timeout=240, check=False, env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["no message"]
        pytest.skip(f"THE TABLES ARE NOT COMPARED WITH ONNX {release}: it does not run here: {lines[-1]:.200}")
    package = json.loads(done.stdout)
    assert package["package"] == release
    assert len(package["operators"]) > 190
    assert sorted(find_ids(table, package)) == sorted(KNOWN[release])


# The importer.


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pytest.importorskip("ruamel.yaml", reason="NO TABLE IS WRITTEN: pip install ruamel.yaml (it is in the test extra)")
    for name in ("dialect.yaml", "levels.yaml", "types.yaml"):
        shutil.copy(SPECS / "onnx" / name, tmp_path)
    (tmp_path / "operators").mkdir()
    return tmp_path


def parameter(name: str, types: str, option: str = "single", **more: Any) -> dict[str, Any]:
    return {"name": name, "types": types, "option": option, **more}


def version(*, deprecated: bool = False, **parts: Any) -> dict[str, Any]:
    empty: dict[str, Any] = {"inputs": [], "outputs": [], "type_sets": {}, "attributes": {}}
    return {"deprecated": deprecated, **empty, **parts}


def attribute(kind: str, *, required: bool = False, default: Any = None) -> dict[str, Any]:
    return {"type": kind, "required": required, "default": default}


def twice() -> dict[str, dict[str, Any]]:
    """An operator whose attribute becomes an input, and an output named like an input."""
    sets = {"T": ["tensor(float)", "tensor(double)", "seq(tensor(float))"]}
    first = version(
        inputs=[parameter("X", "T")],
        outputs=[parameter("X", "T")],
        type_sets=sets,
        attributes={"axes": attribute("INTS", required=True), "to": attribute("STRING", default="a b")},
    )
    second = version(
        inputs=[parameter("X", "T"), parameter("axes", "tensor(int64)", "optional")],
        outputs=[parameter("X", "T")],
        type_sets={**sets, "T": [*sets["T"], "tensor(int32)"]},
        attributes={"to": attribute("INT", default=-1)},
    )
    return {"1": first, "13": second}


TWICE = """\
operator: Twice
source:
  - {package: onnx, version: "9.9", name: "onnx.defs.get_all_schemas_with_history, Twice 1 and 13"}
fields:  # from the package, except for became, counts, doc, enum and words
  X: {kind: input}
  axes: {kind: input, optional: true, since: "13"}
  X_output: {kind: output, vendor_name: X}
  axes_attribute: {kind: attribute, type: "int[]", vendor_name: axes, until: "13"}
  to:
    - {kind: attribute, type: string, optional: true, default: a b, until: "13"}
    - {kind: attribute, type: int, optional: true, default: -1, since: "13"}
support:  # from the package, except for ranks, ranges and values
  "1": {type_sets: {T: [FLOAT, DOUBLE, seq(tensor(float))]}, X: {types: T}, X_output: {types: T}}
  "13": {type_sets: {T: [FLOAT, DOUBLE, seq(tensor(float)), INT32]}, axes: {types: [INT64]}}
"""


def test_every_table_marks_imported_and_written_parts() -> None:
    files = sorted((SPECS / "onnx" / "operators").rglob("*.yaml"))
    assert len(files) > 200
    marks = {f"{key}:  # {remark}" for (key,), remark in REMARKS.items()}
    own = [file for file in files if file.parent.name not in dialect("onnx").tables.foreign]
    assert [file.name for file in own if not marks <= set(file.read_text(encoding="utf-8").splitlines())] == []


def test_a_new_table(folder):
    assert import_operators(folder, {"Twice": twice()}, "9.9") == ["operators/Twice.yaml"]
    assert (folder / "operators" / "Twice.yaml").read_text() == TWICE
    assert import_operators(folder, {"Twice": twice()}, "9.9") == []
    onnx_model = Dialect("onnx", build_dialect(folder))
    words = {info["tensor"]: word for word, info in onnx_model.types.items()}
    assert list(differences(facts_of_tables(onnx_model), {"Twice": twice()}, words, {"": 28})) == []


BY_HAND = """\
# What the first line says.
operator: Twice
summary: Does it twice.
source:
  - {package: onnx, version: "1.0", name: older}
  - {page: twice.md, note: read too}
unknowns:
  - Why twice.

fields:
  # Of X.
  X: {kind: input, doc: "what is doubled"}   # behind X
  axes: {kind: input, optional: true, since: "13", doc: "which ones"}
  X_output: {kind: output, vendor_name: X}
  axes_attribute: {kind: attribute, type: "int[]", vendor_name: axes, until: "13"}
  to: {kind: attribute, type: int, optional: true, enum: element-type, words: [a, b],
    doc: "where to"}   # behind to
support:
  "1":
    type_sets: {T: [DOUBLE, FLOAT, seq(tensor(float))]}   # on one line
    X: {types: T, ranks: 1..4}
    X_output: {types: T}
  "13":   # behind the row
    type_sets:
      T: [FLOAT]
    X: {types: T, ranks: 1..8}
    axes: {types: [INT64], ranks: 1}
    X_output: {types: T}
    to: {range: 0..3}
# Above the rules.
rules:
  one-rank: rank(X) == 1   # a rule

# The end.
"""


def test_handwritten_parts_stay(folder):
    path = folder / "operators" / "elsewhere.yaml"
    path.write_text(BY_HAND)
    assert import_operators(folder, {"Twice": twice()}, "9.9") == ["operators/elsewhere.yaml"]
    text = path.read_text()
    assert text.startswith("# What the first line says.\noperator: Twice\nsummary: Does it twice.\nsource:\n")
    assert 'version: "9.9"' in text
    assert "older" not in text
    assert "  - {page: twice.md, note: read too}\n" in text
    assert "unknowns:\n  - Why twice.\n" in text
    assert '  # Of X.\n  X: {kind: input, doc: "what is doubled"}   # behind X\n' in text
    assert '  axes: {kind: input, optional: true, since: "13", doc: "which ones"}\n' in text
    assert "  # behind to\n  to:\n" in text
    assert text.count('doc: "where to"') == 2
    assert text.count("enum: element-type") == 2
    assert "    type_sets: {T: [DOUBLE, FLOAT, seq(tensor(float))]}   # on one line\n" in text
    assert '  # behind the row\n  "13":\n    type_sets: {T: [FLOAT, DOUBLE, seq(tensor(float)), INT32]}\n' in text
    assert "    X: {ranks: 1..8}\n    axes: {types: [INT64], ranks: 1}\n    to: {range: 0..3}\n" in text
    assert text.endswith("# Above the rules.\nrules:\n  one-rank: rank(X) == 1   # a rule\n\n# The end.\n")
    assert import_operators(folder, {"Twice": twice()}, "9.9") == []


def test_rows_state_changes_and_use_named_sets(folder):
    (folder / "sets.yaml").write_text("dialect: onnx\ntypes:\n  real: [FLOAT, DOUBLE]\n  more: [$real, BOOL]\n")
    assert import_operators(folder, {"Twice": twice()}, "9.9") == ["operators/Twice.yaml"]
    path = folder / "operators" / "Twice.yaml"
    first = '  "1": {type_sets: {T: [$real, seq(tensor(float))]}, X: {types: T}, X_output: {types: T}}\n'
    assert path.read_text().endswith(
        first + '  "13": {type_sets: {T: [$real, seq(tensor(float)), INT32]}, axes: {types: [INT64]}}\n'
    )
    path.write_text(path.read_text().replace("X: {types: T},", "X: {types: T, ranks: 2},"))
    later = {**twice(), "14": version(**{**twice()["13"], "type_sets": {"T": ["tensor(float)", "tensor(double)"]}})}
    later["13"] = {**later["13"], "type_sets": {"T": ["tensor(float)", "tensor(double)", "tensor(bool)"]}}
    assert import_operators(folder, {"Twice": later}, "9.9") == ["operators/Twice.yaml"]
    assert path.read_text().endswith(
        first.replace("X: {types: T},", "X: {types: T, ranks: 2},")
        + '  "13": {type_sets: {T: $more}, axes: {types: [INT64]}}\n  "14": {type_sets: {T: $real}}\n'
    )
    assert import_operators(folder, {"Twice": later}, "9.9") == []
    assert build_dialect(folder)["operators"]["Twice"]["support"]["14"]["X"]["ranks"] == [2, 2]


def test_a_withdrawn_version_at_the_end_and_in_the_middle(folder):
    facts = {
        "Gone": {"1": version(outputs=[parameter("Y", "tensor(bool)")]), "9": version(deprecated=True)},
        "Back": {"1": version(deprecated=True), "9": version(outputs=[parameter("Y", "tensor(bool)")])},
    }
    import_operators(folder, facts, "9.9")
    onnx_model = Dialect("onnx", build_dialect(folder))
    assert str(onnx_model.operator("Gone").levels) == "1..8"
    assert str(onnx_model.operator("Back").levels) == "9..28"
    assert (folder / "operators" / "Gone.yaml").read_text().endswith('removed: "9"\n')


@pytest.mark.slow
def test_the_shipped_files_are_what_the_importer_writes(tmp_path, installed):
    if installed["package"] != "1.23.2":
        pytest.skip(
            f"THE SHIPPED FILES ARE NOT REWRITTEN: they come from onnx 1.23.2, {installed['package']} is installed"
        )
    shutil.copytree(SPECS / "onnx", tmp_path / "onnx")
    assert import_operators(tmp_path / "onnx", installed["operators"], installed["package"]) == []


def test_file_names():
    assert file_name("GatherND") == "operators/GatherND.yaml"
    assert file_name("ai.onnx.ml.LabelEncoder") == "operators/ai.onnx.ml/LabelEncoder.yaml"


def test_files_are_in_the_folder_of_their_name(table):
    assert [file for name, file in table.tables.files.items() if file != file_name(name)] == []


def test_a_folder_without_tables(tmp_path):
    with pytest.raises(InputError, match=r"types\.yaml"):
        import_operators(tmp_path, {}, "1")


def test_a_file_that_is_not_a_table(folder):
    (folder / "operators" / "odd.yaml").write_text("- 3\n")
    with pytest.raises(InputError, match="the table of an operator"):
        import_operators(folder, {}, "1")
