"""Setting up the environment that computes values.

The chosen way, missing programs, no partial files. Nothing is downloaded.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from specgate.cli import main
from specgate.dialects.directml.oracle import builds as directml_builds
from specgate.dialects.directml.oracle import values_environment
from specgate.dialects.directml.oracle.builds import find_builds
from specgate.dialects.directml.oracle.values import ValuesOracle
from specgate.dialects.directml.oracle.values_environment import (
    VALUE_LEVELS,
    choose_environment,
    install_values,
    missing_values,
    native_place,
    ready_place,
    root_place,
    wine_version,
)
from specgate.errors import InputError
from tools.__main__ import main as tools


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """Simulate an x86_64 Linux with an empty cache, without what `change` removes.

    Debian 12; nothing is run.
    """
    state: dict[str, Any] = {
        "debian": 12,
        "packages": ["wine64"],
        "wine": 8,
        "root": True,
        "programs": {"debootstrap", "unshare"},
    }
    monkeypatch.setenv("SPECGATE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(os, "geteuid", lambda: 0 if state["root"] else 1000, raising=False)
    monkeypatch.setattr(values_environment, "missing_packages", lambda: state["packages"])
    monkeypatch.setattr(values_environment, "debian_version", lambda: state["debian"])
    monkeypatch.setattr(values_environment, "wine_version", lambda _: state["wine"])
    monkeypatch.setattr(shutil, "which", lambda name: f"/bin/{name}" if name in state["programs"] else None)
    monkeypatch.setattr(
        directml_builds,
        "compiler",
        lambda _: directml_builds.Tool("cross-gcc", "gcc-mingw-w64-x86-64", "/bin/cross-gcc"),
    )
    monkeypatch.setattr(values_environment, "check_programs", lambda _: None)
    return state


@pytest.fixture
def commands(machine, monkeypatch):
    """Replace programs by functions that write small files and record calls."""
    run = []

    def pretend(command, what, environment=None):
        run.append(command)
        if "debootstrap" in command:
            top = Path(command[-1])
            (top / "var/cache/apt/archives").mkdir(parents=True)
            (top / "var/cache/apt/archives/x.deb").write_text("x")
            (top / "usr/share/vulkan/icd.d").mkdir(parents=True)
            (top / "usr/share/vulkan/icd.d/lvp_icd.json").write_text("{}")
        elif "-o" in command:
            Path(command[command.index("-o") + 1]).write_text("made")
        elif any("wineboot" in word for word in command):
            where = values_environment.find_place() or root_place()
            inside = Path(environment["WINEPREFIX"].replace(where.seen, str(where.folder), 1))
            (inside / "system.reg").write_text("registry")

    def libraries(builds, progress):
        for build in builds:
            directml_builds.library(build).parent.mkdir(parents=True, exist_ok=True)
            directml_builds.library(build).write_text(build.level)

    monkeypatch.setattr(values_environment, "run_program", pretend)
    monkeypatch.setattr(values_environment, "install_libraries", libraries)
    return run


def test_the_levels_have_windows_builds():
    assert all(find_builds(level, "windows") for level in VALUE_LEVELS)


def test_complete_system_is_used_directly(machine):
    machine.update(packages=[], wine=10)
    assert choose_environment() == "native"


def test_older_debian_uses_a_newer_debian_root(machine):
    assert choose_environment() == "root"
    machine.update(packages=[])  # Wine 8 does not write the outputs
    assert choose_environment() == "root"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"debian": 13, "packages": ["mesa-vulkan-drivers", "xvfb"]}, "apt-get install .* mesa-vulkan-drivers xvfb"),
        ({"debian": 14, "packages": []}, "apt-get install .* wine64"),
        ({"programs": {"unshare"}}, r"install the package debootstrap \(apt-get install debootstrap\)"),
        ({"programs": {"debootstrap"}}, "install the package util-linux"),
        ({"root": False}, "making a Debian root requires root"),
    ],
)
def test_missing_requirements_are_named_on_one_line(machine, change, message):
    machine.update(change)
    with pytest.raises(InputError, match=message) as caught:
        choose_environment()
    assert "\n" not in str(caught.value)


def test_other_systems_are_rejected(machine, monkeypatch):
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    with pytest.raises(InputError, match="Linux on x86_64 only, found linux on aarch64"):
        install_values(["6.4"])
    monkeypatch.setattr(sys, "platform", "win32")
    assert missing_values("6.4") == ["values are computed on Linux only"]


def test_level_without_values_is_rejected_first(machine, commands):
    with pytest.raises(InputError, match=r"no values of DirectML 3\.1; the builds of 2\.1, 5\.0"):
        install_values(["6.4", "3.1"])
    with pytest.raises(InputError, match=r"no build of DirectML at feature level '9\.9'"):
        install_values(["9.9"])
    assert commands == []


def test_missing_compiler_is_reported_before_creating_a_root(machine, commands, monkeypatch):
    tool = directml_builds.Tool("x86_64-w64-mingw32-gcc", "gcc-mingw-w64-x86-64", None)
    monkeypatch.setattr(directml_builds, "compiler", lambda _: tool)
    with pytest.raises(InputError, match="gcc-mingw-w64-x86-64"):
        install_values(["6.4"])
    assert commands == []


def test_root_is_created_once_and_then_extended(commands):
    lines: list[str] = []
    assert missing_values("6.4") == ["neither Wine 10 nor a Debian root with Wine 10 is installed"]
    install_values(["6.4"], progress=lines.append)
    assert [missing_values(level) for level in ("6.4", "6.3")] == [[], ["its library is missing"]]
    assert sum("debootstrap" in command for command in commands) == 1
    assert not list(values_environment.debian_root().rglob("*.deb"))
    count = len(commands)
    install_values(["6.4", "6.3"], progress=lines.append)
    assert len(commands) == count
    assert missing_values("6.3") == []


def test_debian_root_requires_the_root_user(machine, commands):
    install_values(["6.4"], progress=lambda _: None)
    machine.update(root=False)
    with pytest.raises(InputError, match="requires the root user"):
        ready_place("6.4")


def test_failed_bootstrap_leaves_no_files(commands, monkeypatch):
    def fail(command, what, environment=None):
        (Path(command[-1]) / "half").write_text("made")
        raise InputError(f"{what}: 'E: no mirror'")

    monkeypatch.setattr(values_environment, "run_program", fail)
    with pytest.raises(InputError, match="making a Debian root: 'E: no mirror'"):
        install_values(["6.4"], progress=lambda _: None)
    assert list(values_environment.debian_root().parent.iterdir()) == []


def test_wine_prefix_requires_a_registry(commands, monkeypatch):
    pretend = vars(values_environment)["run_program"]
    monkeypatch.setattr(
        values_environment,
        "run_program",
        lambda command, what, environment=None: "wineboot" in str(command) or pretend(command, what, environment),
    )
    with pytest.raises(InputError, match="Wine wrote no registry"):
        install_values(["6.4"], progress=lambda _: None)
    assert values_environment.find_place() is None


def test_equal_copies_of_wine_libraries_share_a_file(tmp_path):
    original = tmp_path / "usr/lib/x/wine/x86_64-windows/a.dll"
    copies = [tmp_path / "prefix/drive_c/windows/system32" / name for name in ("a.dll", "b.dll", "drivers/a.dll")]
    for path in (original, *copies):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("the same" if path != copies[2] else "another")
    values_environment._share_copies(tmp_path / "prefix", tmp_path)
    assert [path.samefile(original) for path in copies] == [True, False, False]
    assert copies[2].read_text() == "another"


def test_commands_of_both_environments(machine, monkeypatch):
    monkeypatch.setattr(directml_builds, "wine", lambda: directml_builds.Tool("wine64", "wine64", "/usr/bin/wine"))
    environment, existing = native_place(), root_place()
    assert environment.values_command("6.4")[0] == "/bin/sh"
    assert environment.values_command("6.4")[2] == "/usr/bin/wine"
    assert environment.values_command("6.4")[-1] == "Z:" + str(environment.folder / "builds/6.4/DirectML.dll").replace(
        "/", "\\"
    )
    words = existing.values_command("6.4")
    assert words[0] == "unshare"
    assert f"--root={values_environment.debian_root()}" in words
    assert words[-1] == r"Z:\specgate\builds\6.4\DirectML.dll"
    assert existing.environment()["WINEPREFIX"] == "/specgate/wine"
    assert "SPECGATE_OWN_TMP" not in environment.environment()


def test_wine_version_is_parsed(tmp_path):
    program = tmp_path / "wine"
    program.write_text("#!/bin/sh\necho 'wine-10.3 (Staging)'\n")
    program.chmod(0o755)
    assert wine_version(str(program)) == 10
    program.write_text("#!/bin/sh\necho hello\n")
    assert wine_version(str(program)) == 0
    assert wine_version(str(tmp_path / "none")) == 0


def test_missing_oracle_names_the_install_command(machine):
    with pytest.raises(InputError, match=r"specgate oracle install directml --values --levels 6\.4"):
        ValuesOracle("6.4")
    with pytest.raises(InputError, match=r"values are computed with the builds of 2\.1.* only$"):
        ValuesOracle("3.1")


def test_the_command_line(machine, commands, capsys, tmp_path):
    assert main(["oracle", "list"]) == 0
    assert "values missing: specgate oracle install directml --values --levels 6.4" in capsys.readouterr().out
    assert main(["oracle", "install", "directml", "--values"]) == 0
    assert "making a Debian root (trixie)" in capsys.readouterr().out
    assert main(["oracle", "list"]) == 0
    rows = [line for line in capsys.readouterr().out.splitlines() if line.endswith("values installed")]
    assert [row.split()[0] for row in rows] == ["directml:6.4"]
    assert main(["oracle", "install", "directml", "--values", "--system", "linux"]) == 2
    assert "Windows builds" in capsys.readouterr().err
    expected = ["record", "--level", "3.1", "--operator", "ONE_HOT", "--to", str(tmp_path)]
    assert tools(expected) == 2
    assert "values of DirectML 3.1 cannot be computed" in capsys.readouterr().err


def test_oldest_build_gets_the_cabinet_library(machine):
    where = root_place()
    assert where.values_command("2.1")[-2:] == [
        r"Z:\specgate\builds\2.1\DirectML.dll",
        f"Z:\\specgate\\{where.host.name}\\Cabinet.dll",
    ]
