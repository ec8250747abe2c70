"""The version of tables depends on their facts, not on formatting or time."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

import specgate
from specgate.cli import main
from specgate.dialects import BUILT_IN
from specgate.spec.build import build_dialect
from specgate.spec.digest import digest
from specgate.spec.store import build_with_digest, cached_tables, compiled_tables, written_tables
from specgate.spec.tables import load_extra_specs
from specgate.spec.version import RELEASE, tables_version, versions, versions_of_targets
from tests.paths import ROOT
from tests.spec.conftest import OPERATOR

FORM = rf"{RELEASE}\+[0-9a-f]{{12}}"


def test_the_version_has_the_expected_format() -> None:
    assert re.fullmatch(FORM, specgate.tables_version)
    assert specgate.tables_version == tables_version()
    assert "tables_version" in specgate.__all__
    assert list(versions(BUILT_IN)) == ["directml", "onnx", "onnxruntime", "openvino"]
    assert len(set(versions(BUILT_IN).values())) == 4


def test_unknown_attributes_raise() -> None:
    with pytest.raises(AttributeError, match="'specgate' has no attribute 'table_version'"):
        specgate.table_version  # type: ignore[attr-defined]  # noqa: B018


def test_importing_does_not_compute_the_version() -> None:
    script = "import sys, specgate; assert not {'hashlib', 'specgate.spec.version'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", script], check=True, timeout=240, cwd=ROOT)


@pytest.mark.slow
def test_the_digest_is_the_same_in_another_process() -> None:
    """Text hashes, and thus the order of sets, differ between processes."""
    script = (
        "from pathlib import Path\nfrom specgate.spec.build import build_dialect\nfrom specgate.spec.digest import digest\n"
        "print(digest(build_dialect(Path('specs/openvino'))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], check=True, timeout=240, cwd=ROOT, capture_output=True, text=True
    )
    assert done.stdout.strip() == compiled_tables("openvino")["digest"]


def test_cached_tables_have_the_digest_of_built_tables(folder, tmp_path) -> None:
    tables = build_with_digest(build_dialect, folder())
    path = tmp_path / "kept.jsonl"
    path.write_text(written_tables(None, tables), encoding="utf-8")
    kept = cached_tables(path)["tables"]
    assert kept["digest"] == tables["digest"] == digest(tables)
    assert digest({**kept, "operators": dict(kept["operators"])}) == tables["digest"]


SAME = {
    "a comment": {"operators__COPY_yaml": OPERATOR + "# more\n"},
}
OTHER = {
    "a rank": {"operators__COPY_yaml": OPERATOR.replace("ranks: 4", "ranks: 1..4")},
    "a summary": {"operators__COPY_yaml": OPERATOR.replace("summary: ", "summary: Surely ")},
    "an operator": {"operators__TWO_yaml": OPERATOR.replace("COPY", "TWO")},
}


@pytest.mark.parametrize("changed", SAME.values(), ids=SAME.keys())
def test_formatting_does_not_change_the_digest(changed, folder, tmp_path) -> None:
    before = digest(build_dialect(folder()))
    for path in (tmp_path / "scratch" / "operators").iterdir():
        path.unlink()
    assert digest(build_dialect(folder(**changed))) == before


@pytest.mark.parametrize("changed", OTHER.values(), ids=OTHER.keys())
def test_contents_change_the_digest(changed, folder) -> None:
    before = digest(build_dialect(folder()))
    assert all(text != OPERATOR for text in changed.values())
    assert digest(build_dialect(folder(**changed))) != before


def test_an_extra_folder_changes_the_version(tmp_path) -> None:
    before, own = tables_version(), versions(["directml", "onnx"])
    text = (ROOT / "specs" / "directml" / "operators" / "ONE_HOT.yaml").read_text(encoding="utf-8")
    path = tmp_path / "directml" / "operators" / "ONE_HOT_2.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(text.replace("ONE_HOT", "ONE_HOT_2"), encoding="utf-8")
    load_extra_specs(tmp_path)
    try:
        assert tables_version() != before
        changed = {name for name, version in versions(["directml", "onnx"]).items() if version != own[name]}
        assert changed == {"directml"}
    finally:
        load_extra_specs()
    assert tables_version() == before


def test_a_target_uses_its_dialect_and_a_runtime_three_tables() -> None:
    every = versions(BUILT_IN)
    assert versions_of_targets(["directml:4.1", "onnx:17"]) == {name: every[name] for name in ("directml", "onnx")}
    assert versions_of_targets(["openvino-cpu:2026.4"]) == {"openvino": every["openvino"]}
    runtime = versions_of_targets(["onnxruntime-directml:1.24.4"])
    assert runtime == {name: every[name] for name in ("directml", "onnx", "onnxruntime")}
    assert set(versions_of_targets(["onnxruntime:1.24.4"])) == {"onnx", "onnxruntime"}
    assert versions_of_targets(["unheard:1", "directml:99"]) == {}


def test_the_command_line_prints_the_version(capsys) -> None:
    with pytest.raises(SystemExit):
        main(["--version"])
    first, second = capsys.readouterr().out.splitlines()
    assert first == f"specgate {specgate.__version__}"
    assert second.startswith(f"tables {specgate.tables_version} (directml {RELEASE}+")


def test_a_verdict_has_its_table_versions(capsys, one_hot) -> None:
    main(["check", json.dumps(one_hot), "--target", "directml:4.1", "--format", "json"])
    assert json.loads(capsys.readouterr().out)["tables"] == versions(["directml"])
