"""Installation: verified wheels, no partial files, missing programs; no downloads."""

from __future__ import annotations

import hashlib
import shutil
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from specgate.dialects.directml.oracle import builds, install
from specgate.dialects.directml.oracle.builds import BUILDS, find_builds, levels
from specgate.dialects.directml.oracle.install import COMPILE, install_directml, run_program, status
from specgate.dialects.directml.oracle.worker import Worker
from specgate.errors import InputError
from specgate.spec.tables import dialect

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux builds run on Linux only")
TORCH = [f"torch_directml/{name}" for name in ("libdirectml.so", "libd3d12.so", "libd3d12core.so", "other.so")]
FILES = {
    "torch-directml": TORCH,
    "tensorflow-directml": ["_solib/libdirectml.so.ba10", "_solib/DirectMLba10.dll", "include/dxcore.h"],
    "onnxruntime-directml": ["onnxruntime/capi/DirectML.dll", "onnxruntime/capi/onnxruntime.dll"],
}


def make_wheel(path: Path, package: str, version: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name in FILES[package]:
            archive.writestr(zipfile.ZipInfo(name), f"{name} of {version}")
    return path


@pytest.fixture
def commands(monkeypatch, tmp_path):
    """An empty cache, with fake pip and compiler that write small files and record calls."""
    run = []

    def pretend(command, what, environment=None):
        run.append(command)
        if "download" in command:
            package, version = command[command.index("download") + 1].split("==")
            make_wheel(Path(command[command.index("--dest") + 1]) / "made.whl", package, version)
        elif "-o" in command:
            Path(command[command.index("-o") + 1]).write_text("made")

    facts = []
    for build in BUILDS:
        wheel = make_wheel(tmp_path / "sample.whl", build.wheel.package, build.wheel.version)
        digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
        facts.append(replace(build, wheel=replace(build.wheel, sha256=digest)))
    monkeypatch.setenv("SPECGATE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(builds, "runtime_tools", lambda _: [])
    monkeypatch.setattr(builds, "compiler", lambda _: builds.Tool("cc", "gcc", "cc"))
    monkeypatch.setattr(install, "run_program", pretend)
    monkeypatch.setattr(builds, "BUILDS", tuple(facts))
    monkeypatch.setattr(install, "BUILDS", tuple(facts))
    monkeypatch.setattr(install, "D3D12_WHEEL", find_builds("6.2", "linux")[0].wheel)
    return run


def downloads(commands) -> list[str]:
    return [command[command.index("download") + 1] for command in commands if "download" in command]


def list_installed() -> list[str]:
    return [f"{row.build.level} {row.build.system}" for row in status() if row.installed]


def test_levels_match_the_tables_and_builds_are_unique():
    order = dialect("directml").levels
    assert levels() == [level for level in order if level in levels()]
    assert len({(build.level, build.system) for build in BUILDS}) == len(BUILDS)
    assert len({build.wheel.sha256 for build in BUILDS}) == len(BUILDS)


@LINUX
def test_library_and_d3d12_loader_share_a_wheel(commands):
    install_directml(["6.2"], progress=lambda _: None)
    assert list_installed() == ["6.2 linux"]
    assert downloads(commands) == ["torch-directml==0.2.5.dev240914"]
    library = builds.library(find_builds("6.2", "linux")[0])
    assert library.read_text() == "torch_directml/libdirectml.so of 0.2.5.dev240914"
    assert sorted(p.name for p in (library.parent.parent / "d3d12").iterdir()) == ["libd3d12.so", "libd3d12core.so"]


@LINUX
def test_repeated_installation_downloads_nothing(commands):
    lines: list[str] = []
    install_directml("all", progress=lines.append)
    assert list_installed() == [f"{row.build.level} {row.build.system}" for row in status() if row.preferred]
    assert {line.split()[0] for line in list_installed()} == set(levels())
    before = len(downloads(commands))
    assert before == len(levels())
    install_directml("all", progress=lines.append)
    assert len(downloads(commands)) == before
    assert lines[-1].endswith("already installed")


def test_builds_of_one_system(commands):
    install_directml("all", system="windows", progress=lambda _: None)
    assert list_installed() == [f"{build.level} windows" for build in BUILDS if build.system == "windows"]


def test_pip_downloads_exactly_one_build(commands):
    install_directml(["6.4"], system="windows", progress=lambda _: None)
    command = next(command for command in commands if "download" in command)
    assert command[:3] == [sys.executable, "-m", "pip"]
    assert {"onnxruntime-directml==1.24.4", "--no-deps", "--only-binary=:all:", "win_amd64"} <= set(command)


def test_hash_mismatch_leaves_no_files(commands, monkeypatch, tmp_path):
    wrong = tuple(replace(b, wheel=replace(b.wheel, sha256="0" * 64)) for b in BUILDS)
    monkeypatch.setattr(builds, "BUILDS", wrong)
    with pytest.raises(InputError, match=f"expected the sha256 {'0' * 64}, found [0-9a-f]{{64}}"):
        install_directml(["6.4"], system="windows", progress=lambda _: None)
    folder = builds.library(find_builds("6.4")[0]).parent
    assert not folder.exists()
    assert [p.name for p in folder.parent.iterdir() if not p.name.startswith("host-")] == []


def test_a_wheel_without_the_library(commands, monkeypatch):
    monkeypatch.setitem(FILES, "onnxruntime-directml", ["onnxruntime/capi/DirectML.dll", "again/DirectML.dll"])
    wheel = make_wheel(builds.directory().parent.parent.parent / "w.whl", "onnxruntime-directml", "1.24.4")
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    facts = tuple(replace(b, wheel=replace(b.wheel, sha256=digest)) for b in BUILDS)
    monkeypatch.setattr(builds, "BUILDS", facts)
    with pytest.raises(InputError, match=r"expected one file \*/DirectML\*\.dll, found 2"):
        install_directml(["6.4"], system="windows", progress=lambda _: None)
    assert list_installed() == []


def test_missing_programs_are_named_with_their_packages(commands, monkeypatch):
    monkeypatch.setattr(
        builds, "compiler", lambda _: builds.Tool("x86_64-w64-mingw32-gcc", "gcc-mingw-w64-x86-64", None)
    )
    monkeypatch.setattr(builds, "runtime_tools", lambda _: [builds.Tool("wine64", "wine64", None)])
    with pytest.raises(InputError, match=r"gcc-mingw-w64-x86-64.*wine64 is not found.*wine64"):
        install_directml(["6.4"], system="windows", progress=lambda _: None)
    assert commands == []
    row = next(row for row in status() if (row.build.level, row.build.system) == ("6.4", "windows"))
    assert any("wine64" in line for line in row.missing)


def test_an_unknown_level_is_rejected_before_anything_is_fetched(commands):
    with pytest.raises(InputError, match=r"no build of DirectML at feature level '4\.0'"):
        install_directml(["6.2", "4.0"], progress=lambda _: None)
    assert commands == []


def test_missing_builds_report_their_install_command(commands):
    rows = {(row.build.level, row.build.system): row for row in status()}
    assert len(rows) == len(BUILDS)
    row = rows["6.4", "windows"]
    assert row.missing == ("the library is not downloaded", "the host is not built")
    assert row.command == "specgate oracle install directml --levels 6.4"


@LINUX
def test_install_command_of_a_secondary_build_names_its_system(commands):
    row = next(row for row in status() if (row.build.level, row.build.system) == ("6.2", "windows"))
    assert row.command == "specgate oracle install directml --levels 6.2 --system windows"


def test_changed_source_requires_a_rebuilt_host(commands, monkeypatch):
    install_directml(["6.4"], system="windows", progress=lambda _: None)
    monkeypatch.setattr(builds, "_host_stamp", lambda _: "another")
    assert list_installed() == []


def test_failed_programs_are_reported_with_their_output():
    with pytest.raises(InputError, match=r"fetching: 'ERROR: no such thing'"):
        run_program([sys.executable, "-c", "print('x\\nERROR: no such thing'); raise SystemExit(1)"], "fetching")
    with pytest.raises(InputError, match="No such file"):
        run_program(["/nowhere/cc"], "compiling")


@LINUX
@pytest.mark.skipif(shutil.which("cc") is None, reason="NO HOST IS COMPILED: cc is not found (Debian package gcc)")
def test_real_host_compiles_and_names_an_unloadable_library(monkeypatch, tmp_path):
    monkeypatch.setenv("SPECGATE_CACHE", str(tmp_path))
    monkeypatch.setattr(install, "COMPILE", (*COMPILE, "-Werror"))
    install._install_host("linux", lambda _: None)
    with pytest.raises(InputError, match=r"created no device: 0x8007007E.*nowhere\.so"):
        Worker([str(builds.host_directory("linux") / "host"), "nowhere.so"], {})
