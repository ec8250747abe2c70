"""The published archives: the wheel has compiled tables and works without a checkout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path
from typing import Any, cast

import pytest

import specgate
from specgate.dialects import BUILT_IN
from specgate.runtimes.onnxruntime.registrations import RUNTIME
from specgate.spec import store
from specgate.spec.store import cached_tables, compiled_tables
from tests.paths import DATA, ROOT
from tools.stubs import stub_text

pytest.importorskip("build", reason="NO WHEEL IS BUILT: pip install build hatchling (they are in the test extra)")
pytest.importorskip("hatchling", reason="NO WHEEL IS BUILT: pip install build hatchling (they are in the test extra)")

COMPILED = {f"specgate/_specs/{name}.jsonl" for name in (*BUILT_IN, RUNTIME, f"{RUNTIME}-lowering")}
STUBS = {f"specgate/make/{name}.pyi" for name in ("__init__", *BUILT_IN)}
WHEEL = f"specgate_ml-{specgate.__version__}-py3-none-any.whl"
SOURCE = f"specgate_ml-{specgate.__version__}"
pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]  # two builds, and an environment with pip, on a busy machine


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the source archive, and the wheel from it, as a release does."""
    result = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(result), str(ROOT)]
    run = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", errors="replace")
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-3000:]
    return result


@pytest.fixture(scope="module")
def user(archives: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel in a new environment; its dependencies come from this one."""
    home = tmp_path_factory.mktemp("user")
    venv.create(home / "env", with_pip=True)
    python = home / "env" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    install = [str(python), "-m", "pip", "install", "-q", "--no-deps", "--no-index", str(archives / WHEEL)]
    run = subprocess.run(install, capture_output=True, text=True, encoding="utf-8", errors="replace", cwd=home)
    assert run.returncode == 0, run.stderr
    questions = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = subprocess.run([str(python), "-c", questions], capture_output=True, text=True, encoding="utf-8", cwd=home)
    # after its own packages, without the .pth files there, which would add the checkout
    Path(site.stdout.strip(), "dependencies.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    return python


def run_python(python: Path, *command: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "SPECGATE"))}
    return subprocess.run(
        [str(python), *command],
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=python.parent,
        env={**environment, "PYTHONUTF8": "1"},
    )


def test_the_wheel_has_compiled_tables_and_their_sources(archives: Path) -> None:
    with zipfile.ZipFile(archives / WHEEL) as wheel:
        names = set(wheel.namelist())
    assert {name for name in names if name.endswith(".jsonl")} == COMPILED
    specs = {path.relative_to(ROOT).as_posix() for path in ROOT.glob("specs/**/*") if path.is_file()}
    yaml = {name.removeprefix("specgate/_specs/yaml/") for name in names if "/_specs/yaml/" in name}
    assert {f"specs/{name}" for name in yaml} == specs
    assert {name.partition("/")[0] for name in names} == {"specgate", f"{SOURCE}.dist-info"}
    assert {name for name in names if name.endswith(".pyi")} == STUBS
    assert "specgate/py.typed" in names
    assert not [name for name in names if name.endswith((".pyc", ".orig"))]


def test_the_compiled_tables_are_complete(archives: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(archives / WHEEL) as wheel:
        files = [wheel.extract(name, tmp_path) for name in COMPILED]
        stubs = {name: wheel.read(f"specgate/make/{name}.pyi").decode() for name in BUILT_IN}
    for file in files:
        result = cached_tables(Path(file))
        assert result["stamp"] is None
        assert len(result["tables"]["digest"]) > 10  # a wheel does not contain YAML to hash
    assert stubs == {name: stub_text(name) for name in BUILT_IN}


def test_the_source_archive_has_files_for_the_wheel_and_tests(archives: Path) -> None:
    with tarfile.open(archives / f"{SOURCE}.tar.gz") as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {
        "LICENSE",
        "CHANGELOG.md",
        "pyproject.toml",
        "specs/directml/dialect.yaml",
        "tests/spec/test_wheel.py",
        "tools/hatch_hook.py",
    } <= names
    assert not [name for name in names if name.startswith(("specgate/_specs", ".venv", "dist", "mutants"))]
    assert not [name for name in names if name.endswith(".pyi")]


def test_the_metadata_have_version_license_and_readme(archives: Path) -> None:
    with zipfile.ZipFile(archives / WHEEL) as wheel:
        metadata = wheel.read(f"{SOURCE}.dist-info/METADATA").decode()
    for line in (f"Version: {specgate.__version__}", "Requires-Python: >=3.11", "License-Expression: MIT"):
        assert f"{line}\n" in metadata
    assert "Description-Content-Type: text/markdown" in metadata


def test_the_installed_wheel_is_imported(user: Path) -> None:
    run = run_python(user, "-c", "import specgate; print(specgate.__file__, specgate.__version__)")
    place, _, version = run.stdout.strip().rpartition(" ")
    assert version == specgate.__version__
    assert not Path(place).is_relative_to(ROOT)


def test_the_wheel_checks_a_descriptor(user: Path) -> None:
    file = str(DATA / "descriptors" / "double_identity.json")
    accepted = run_python(user, "-m", "specgate", "check", file, "--target", "directml:4.1")
    assert (accepted.returncode, accepted.stdout.split()[0]) == (0, "accepted"), accepted.stderr
    rejected = run_python(user, "-m", "specgate", "check", file, "--target", "directml:2.1", "--format", "json")
    assert rejected.returncode == 1
    ids = {finding["id"] for finding in _findings(json.loads(rejected.stdout))}
    assert "directml/ELEMENT_WISE_IDENTITY/InputTensor.type" in ids


def test_the_wheel_lints_models_of_every_dialect(user: Path) -> None:
    run = run_python(
        user, "-m", "specgate", "lint", str(DATA / "models"), "--target", "onnx:17", "--target", "openvino:2024.0",
        "--fail-on", "never", "--format", "json",
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert "openvino/OneHot/version" in {finding["id"] for finding in _findings(json.loads(run.stdout))}


def test_the_wheel_reads_compiled_tables_without_yaml(user: Path) -> None:
    file = str(DATA / "descriptors" / "double_identity.json")
    code = (
        "import sys, specgate.cli\n"
        f"code = specgate.cli.main(['check', {file!r}, '--target', 'directml:4.1'])\n"
        "print(code, sorted({'yaml', 'pydantic', 'specgate.spec.build'} & set(sys.modules)))\n"
    )
    run = run_python(user, "-c", code)
    assert run.stdout.splitlines()[-1] == "0 []", run.stdout + run.stderr


def test_line_endings_do_not_change_the_compiled_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines of compiled tables are located by their lengths in bytes."""
    from tools.hatch_hook import CompileSpecs

    def as_on_windows(self: Path, text: str, **_: object) -> int:
        return self.write_bytes(text.replace("\n", "\r\n").encode())

    compiled = {name: compiled_tables(name) for name in BUILT_IN}  # by the checkout, once
    built = store.build_with_digest
    monkeypatch.setattr(
        store, "build_with_digest", lambda build, folder: compiled.get(folder.name) or built(build, folder)
    )
    monkeypatch.setattr(Path, "write_text", as_on_windows)
    hook = cast("Any", CompileSpecs)(str(ROOT), {}, None, None, str(tmp_path), "wheel")
    build: dict[str, Any] = {"force_include": {}}
    hook.initialize("standard", build)
    try:
        for file, path in build["force_include"].items():
            assert path in STUBS or cached_tables(Path(file))["tables"]
    finally:
        hook.finalize("standard", build, "")
    assert not any(Path(file).exists() for file in build["force_include"])


def test_an_editable_install_compiles_nothing_and_writes_the_stubs(tmp_path: Path) -> None:
    from tools.hatch_hook import CompileSpecs

    make = tmp_path / "specgate" / "make"
    make.mkdir(parents=True)
    hook = cast("Any", CompileSpecs)(str(tmp_path), {}, None, None, str(tmp_path), "wheel")
    build: dict[str, Any] = {"force_include": {}}
    hook.initialize("editable", build)
    hook.finalize("editable", build, "")
    assert build == {"force_include": {}}
    assert {f"specgate/make/{path.name}" for path in make.iterdir()} == STUBS
    assert (make / "onnx.pyi").read_text(encoding="utf-8") == stub_text("onnx")


def _findings(document: Any) -> list[dict[str, Any]]:
    """Return every finding of a report as JSON, wherever it is."""
    if isinstance(document, list):
        return [finding for each in document for finding in _findings(each)]
    if not isinstance(document, dict):
        return []
    own = [document] if {"id", "severity", "message"} <= document.keys() else []
    return own + [finding for each in document.values() for finding in _findings(each)]
