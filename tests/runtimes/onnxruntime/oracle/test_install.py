"""Installing a runtime: downloads, builds, existing files, errors."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from specgate.cli import main
from specgate.dialects.directml.oracle import values_environment
from specgate.dialects.directml.oracle.values_environment import WineEnvironment
from specgate.errors import InputError
from specgate.runtimes.onnxruntime.oracle import install
from specgate.runtimes.onnxruntime.oracle.install import (
    LEVELS,
    NEWEST,
    RUNTIMES,
    find_runtime,
    install_command,
    install_runtime,
    installed_host,
    status,
)


@pytest.fixture
def place(tmp_path, monkeypatch):
    """An environment with DirectML of some levels; records calls."""
    where = WineEnvironment(tmp_path / "place", "/seen", None, "wine64")
    where.host.mkdir(parents=True)
    (where.host / "DXCore.dll").write_bytes(b"stub")
    done: list[str] = []

    def values(levels, *, progress):
        done.append(f"values {' '.join(levels)}")
        for level in levels:
            where.library(level).parent.mkdir(parents=True, exist_ok=True)
            where.library(level).touch()

    def compile_host(command, _):
        done.append("host")
        Path(command[command.index("-o") + 1]).write_bytes(b"program")

    @contextlib.contextmanager
    def download(wheel, _):
        done.append(f"{wheel.package} {wheel.version}")
        yield "wheel"

    monkeypatch.setattr(install, "install_values", values)
    monkeypatch.setattr(install, "run_program", compile_host)
    monkeypatch.setattr(install, "download_wheel", download)
    monkeypatch.setattr(install, "extract", lambda _, pattern, target: target.write_text(pattern))
    monkeypatch.setattr(values_environment, "find_place", lambda: where)
    monkeypatch.setattr(
        values_environment, "missing_values", lambda level: [] if where.library(level).exists() else ["x"]
    )
    return where, done


def quiet(_):
    pass


def test_each_part_is_installed_once(place):
    where, done = place
    install_runtime(progress=quiet)
    assert done == ["values 6.4", "host", f"onnxruntime-directml {NEWEST}"]
    onnx_model = installed_host(NEWEST, None)
    assert onnx_model.runtime.read_text() == "*/capi/onnxruntime.dll"
    assert onnx_model.directml == where.library("6.4")
    assert sorted(path.name for path in onnx_model.host.parent.iterdir()) == ["DXCore.dll", "placement.exe"]
    install_runtime(levels=["5.0"], progress=quiet)
    assert done[3:] == ["values 6.4 5.0"]
    assert installed_host(NEWEST, "5.0").directml == where.library("5.0")


def test_an_older_release_installs_its_level(place):
    _, done = place
    install_runtime("1.18.0", progress=quiet)
    assert done == ["values 6.3", "host", "onnxruntime-genai-directml 0.3.0"]
    assert [entry.levels for entry in status()] == [(), (), ("6.3",)]


def test_missing_parts_name_the_install_command(place):
    with pytest.raises(InputError, match=r"its library is missing; .*; try specgate oracle install \S+$"):
        installed_host(NEWEST, None)
    install_runtime(progress=quiet)
    with pytest.raises(InputError, match=r"--levels 5\.0$"):
        installed_host(NEWEST, "5.0")
    with pytest.raises(InputError, match=r"--release 1\.18\.0$"):
        installed_host("1.18.0", None)


def test_a_host_built_from_other_sources_does_not_run(place, monkeypatch):
    install_runtime(progress=quiet)
    monkeypatch.setattr(install, "_hash_host_sources", lambda: "other")
    with pytest.raises(InputError, match="host"):
        installed_host(NEWEST, None)


@pytest.mark.parametrize("level", ["2.1", "3.1", "9.9"])
def test_levels_that_do_not_run_are_rejected(place, level):
    _, done = place
    with pytest.raises(InputError, match="expected the level"):
        install_runtime(levels=[level], progress=quiet)
    assert done == []


def test_an_unknown_release_lists_known_releases():
    with pytest.raises(InputError, match=" and ".join(r.release.replace(".", r"\.") for r in RUNTIMES)):
        find_runtime("1.19.0")


def test_each_release_has_a_level_with_a_build():
    assert {runtime.level for runtime in RUNTIMES} <= set(LEVELS)


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        ((NEWEST,), "specgate oracle install onnxruntime-directml"),
        (("1.18.0",), "specgate oracle install onnxruntime-directml --release 1.18.0"),
        ((NEWEST, ["5.0", "6.1"]), "specgate oracle install onnxruntime-directml --levels 5.0,6.1"),
    ],
)
def test_the_command_that_installs(arguments, command):
    assert install_command(*arguments) == command


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["onnxruntime"], "expected --release"),
        (["onnxruntime", "--release", "1.20.1", "--levels", "5.0"], "--levels does not apply"),
        (["onnxruntime-directml", "--system", "linux"], "--system and --values apply to builds of a dialect"),
        (["onnxruntime-directml", "--release", "9"], "no build of onnxruntime-directml '9'"),
        (["directml", "--release", "1.24.4"], "--release applies to runtimes"),
    ],
)
def test_the_command_rejects_invalid_arguments(words, message, capsys):
    assert main(["oracle", "install", *words]) == 2
    assert message in capsys.readouterr().err


def test_the_command_installs_and_lists(place, capsys):
    _, done = place
    assert main(["oracle", "install", "onnxruntime-directml", "--levels", "5.0, 6.1"]) == 0
    assert done[0] == "values 6.4 5.0 6.1"
    assert main(["oracle", "list"]) == 0
    rows = {line.split()[0]: line for line in capsys.readouterr().out.splitlines() if line.startswith("onnxruntime")}
    assert rows[f"onnxruntime-directml:{NEWEST}"].endswith("installed, with DirectML 5.0, 6.1, 6.4")
    assert rows["onnxruntime-directml:1.18.0"].endswith(install_command("1.18.0"))
