"""Rows of a release imported into the files, and compared with them."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from specgate.errors import InputError
from specgate.runtimes.onnxruntime.build import build_runtime
from tests.paths import SPECS
from tools.__main__ import main
from tools.import_onnxruntime import update
from tools.import_onnxruntime.rows import Axis, by_release, format_rows
from tools.import_onnxruntime.stated import merged_types

OPEN = 2**31 - 1


def kernel(name: str, versions: tuple[int, int], types: dict[str, list[str]], provider: str = "CPU") -> Any:
    return SimpleNamespace(
        provider=f"{provider}ExecutionProvider", domain="", op_name=name, version_range=versions, type_constraints=types
    )


@pytest.fixture
def install(monkeypatch):
    """Return a function that makes a package with these kernels the installed one.

    None: a package that does not state them.
    """

    def to(release: str, kernels: list[Any] | None) -> None:
        package, states = ModuleType("onnxruntime"), ModuleType("states")
        package.__dict__["__version__"] = release
        if kernels is not None:
            states.__dict__["get_all_opkernel_def"] = lambda: kernels
        monkeypatch.setitem(sys.modules, "onnxruntime", package)
        monkeypatch.setitem(sys.modules, "onnxruntime.capi", ModuleType("capi"))
        monkeypatch.setitem(sys.modules, "onnxruntime.capi.onnxruntime_pybind11_state", states)

    return to


ABS = [kernel("Abs", (6, 12), {"T": ["tensor(float)"]}), kernel("Abs", (6, 12), {"T": ["tensor(double)"]})]


def rows_of(folder, release: str, operator: str, provider: str = "CPU") -> list[dict[str, Any]]:
    tables = build_runtime(folder)
    at = list(tables["releases"]).index(release)
    rows = tables["registrations"][provider]["ai.onnx"].get(operator, [])
    lists = tables["types"]
    items = [row for row in rows if row["first"] <= at <= row["last"]]
    return [{**row, "types": {name: lists[t] for name, t in row["types"].items()}} for row in items]


@pytest.mark.slow
def test_a_release_gets_the_rows_of_its_package(runtime, install) -> None:
    install("1.31.1", [*ABS, kernel("New", (13, 13), {}), kernel("Other", (1, OPEN), {}, "Other")])
    lines: list[str] = []
    assert update.compare_runtime(runtime, lines.append)
    assert "cpu/ai.onnx.yaml: New 13: missing" in lines
    assert "cpu/ai.onnx.yaml: Abs 13: not in 1.31.1" in lines
    update.import_runtime(runtime, lines.append)
    assert not update.compare_runtime(runtime, lines.append)
    assert lines[-1] == "CPU 1.31.1: 2 kernels, 0 differences"
    (row,) = rows_of(runtime, "1.31", "Abs")
    assert (row["version"], row["until"], row["types"]) == (6, 12, {"T": ["FLOAT", "DOUBLE"]})
    assert [row["version"] for row in rows_of(runtime, "1.31", "New")] == [13]
    assert len(rows_of(runtime, "1.30", "Abs")) == 2
    assert rows_of(runtime, "1.31", "Add") == []


@pytest.mark.slow
def test_handwritten_parts_stay(runtime, wheel) -> None:
    stated = [{"name": f"Op{index}", "version": 1, "types": {"T": 1 << 1}} for index in range(60)]
    resize = {"name": "Resize", "version": 13, "types": {"T1": 1 << 1, "T2": 1 << 1}, "inputs": [1], "query": 9}
    shape = {"name": "Shape", "version": 1, "types": {"T": 1 << 1}}
    update.import_runtime(runtime, print, wheel([*stated, resize, shape]))
    (row,) = rows_of(runtime, "1.24", "Resize", "DirectML")
    assert row["query"].startswith("mode != 'cubic'")
    assert (row["types"], row["constant_inputs"]) == ({"T1": ["FLOAT"], "T2": ["FLOAT"]}, [1])
    assert rows_of(runtime, "1.24", "Shape", "DirectML")[0]["cpu_outputs"] == [0]
    assert [row["version"] for row in rows_of(runtime, "1.24", "If", "DirectML")] == [7, 11, 13, 16, 19]
    text = (runtime / "directml" / "ai.onnx.yaml").read_text(encoding="utf-8")
    assert text.startswith(
        "# Kernel registrations of ONNX Runtime's DirectML provider for ai.onnx. Keys: see specs/README.md.\n"
    )


def test_a_query_that_is_missing_is_reported(runtime, wheel) -> None:
    stated = [{"name": f"Op{index}", "version": 1, "types": {"T": 1 << 1}} for index in range(60)]
    stated += [{"name": "Abs", "version": 6, "types": {"T": 1 << 1}, "query": 3, "graph": 1}]
    lines: list[str] = []
    assert update.compare_runtime(runtime, lines.append, wheel(stated))
    about = [line.partition("Abs 6: ")[2] for line in lines if ": Abs 6: " in line]
    assert about == [
        "types: expected {'T': ['FLOAT']}, found {'T': ['FLOAT', 'INT8', 'INT16', 'INT32', 'INT64', 'FLOAT16']}",
        "graph: expected False, found None",
        "query: missing",
    ]


def test_releases_that_cannot_be_imported(runtime, install, monkeypatch) -> None:
    install("1.15.1", None)
    with pytest.raises(InputError, match=r"onnxruntime 1\.15\.1 does not state its kernels"):
        update.import_runtime(runtime, print)
    install("9.9.0", ABS)
    with pytest.raises(InputError, match=r"9\.9\.0 is not a release of CPU; add it to releases\.yaml first"):
        update.import_runtime(runtime, print)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(InputError, match="onnxruntime is needed to import its kernels"):
        update.import_runtime(runtime, print)


@pytest.mark.slow
def test_the_command(runtime, install, capsys) -> None:
    install("1.31.1", ABS)
    assert main(["import", "onnxruntime", "--to", str(runtime), "--check"]) == 1
    assert main(["import", "onnxruntime", "--to", str(runtime)]) == 0
    assert main(["import", "onnxruntime", "--to", str(runtime), "--check"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "CPU 1.31.1: 1 kernel, 0 differences"


def test_kernels_are_merged_only_without_loss() -> None:
    def types(*pairs: tuple[str, str]) -> list[dict[str, list[str]]]:
        return [{"T": [text], "U": [other]} for text, other in pairs]

    assert merged_types(types(("FLOAT", "BOOL"), ("DOUBLE", "BOOL"))) == [{"T": ["FLOAT", "DOUBLE"], "U": ["BOOL"]}]
    tables = types(("DOUBLE", "DOUBLE"), ("FLOAT", "FLOAT"))
    assert merged_types(tables) == merged_types(tables[::-1]) == tables
    every = types(("FLOAT", "FLOAT"), ("FLOAT", "DOUBLE"), ("DOUBLE", "FLOAT"), ("DOUBLE", "DOUBLE"))
    assert merged_types(every) == [{"T": ["FLOAT", "DOUBLE"], "U": ["FLOAT", "DOUBLE"]}]
    assert merged_types([{"T": ["FLOAT"]}, {"T": ["FLOAT"]}]) == [{"T": ["FLOAT"]}]


def test_rows_are_written_once_with_their_releases() -> None:
    axis = Axis(["1.1", "1.2", "1.3"], (0, 2), {"pair": ["FLOAT", "DOUBLE"]})
    written = {
        "6..12": {"types": {"T": ["FLOAT"]}},
        "13": [{"types": {"T": "$pair"}, "releases": "1.1"}, {"types": {"T": ["BOOL"]}, "releases": "1.3"}],
        "14": {"types": {}, "releases": "1.2.."},
    }
    assert format_rows(by_release(written, axis), axis) == {**written, "14": {"releases": "1.2.."}}


@pytest.mark.oracle
def test_the_shipped_files_are_what_the_installed_package_states() -> None:
    package = pytest.importorskip("onnxruntime")
    if package.__version__ != "1.31.1":
        pytest.skip("the files were made from 1.31.1 and older wheels")
    lines: list[str] = []
    assert not update.compare_runtime(SPECS / "onnxruntime", lines.append), "\n".join(lines[:20])
