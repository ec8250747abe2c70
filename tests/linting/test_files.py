"""File discovery: the files it selects, their order, and errors."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specgate.errors import InputError
from specgate.linting.files import discover, looks_like_model, quote_text, read_content, relative_name

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX links or special files")

DXDISPATCH = b'{"resources": {}, "dispatchables": {}}'
CONTENTS = {".xml": b"<?xml version='1.0'?>\n<net name='m'>", ".json": DXDISPATCH, ".yaml": b"op_type: OneHot\n"}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def make(*names: str, content: bytes | None = None) -> None:
    for name in names:
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(CONTENTS.get(path.suffix, b"") if content is None else content)


def find_ids(*paths: str, exclude: str | None = None) -> list[str]:
    files = discover(paths, exclude=lambda file: exclude is not None and exclude in file)
    return [file.replace(os.sep, "/") for file in files]


def reject(*paths: str, exclude: str | None = None) -> str:
    with pytest.raises(InputError) as caught:
        find_ids(*paths, exclude=exclude)
    return str(caught.value)


def test_a_named_file_is_accepted_regardless_of_suffix(root: Path) -> None:
    make("a.bin", "node_modules/b.json", ".hidden/c.onnx", "d[1].onnx", content=b"")
    names = ["d[1].onnx", "a.bin", "./node_modules/b.json", ".hidden/c.onnx"]
    assert find_ids(*names, exclude="o") == names


def test_a_directory_is_walked_in_order(root: Path) -> None:
    make("m/b.onnx", "m/a.ONNX", "m/sub/c.xml", "m/sub/d.json", "m/e.yaml", "m/f.yml", "m/readme.md", "m/weights.bin")
    make("m/f.yml", content=b"dispatchables:\n  one: {}\n")
    expected = ["m/a.ONNX", "m/b.onnx", "m/e.yaml", "m/f.yml", "m/sub/c.xml", "m/sub/d.json"]
    assert find_ids("m") == find_ids("m/") == expected
    assert find_ids(str(root / "m")) == [(root / name).as_posix() for name in expected]


def test_files_of_the_working_directory_have_plain_names(root: Path) -> None:
    make("a.onnx", "m/b.onnx")
    assert find_ids(".") == ["a.onnx", "m/b.onnx"]


def test_hidden_directories_and_installed_packages_are_skipped_unless_named(root: Path) -> None:
    make(".venv/a.onnx", ".git/a.onnx", "m/node_modules/a.onnx", "m/.cache/x/a.onnx", "m/a.onnx")
    assert find_ids(".") == find_ids("**") == find_ids("*") == find_ids("**/*.onnx") == ["m/a.onnx"]
    assert find_ids(".venv", "m/node_modules") == [".venv/a.onnx", "m/node_modules/a.onnx"]
    assert find_ids("*/.cache/*/*.onnx") == ["m/.cache/x/a.onnx"]


def test_directories_yield_only_files_that_look_like_models(root: Path) -> None:
    make("m/a.onnx")
    make("m/pom.xml", content=b"<project/>")
    make("m/package.json", content=b'{"type": "module", "version": "1"}')
    make("m/ci.yaml", content=b"on: push\n")
    assert find_ids("m") == ["m/a.onnx"]
    assert find_ids("m/pom.xml", "m/*.yaml") == ["m/pom.xml", "m/ci.yaml"]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("m/*.onnx", ["m/a.onnx", "m/b.onnx"]),
        ("m/?.onnx", ["m/a.onnx", "m/b.onnx"]),
        ("m/[!a].onnx", ["m/b.onnx"]),
        ("m/a.*", ["m/a.onnx"]),
        ("m/*.bin", ["m/a.bin"]),
        ("m/**/*.onnx", ["m/a.onnx", "m/b.onnx", "m/x/c.onnx", "m/x/y/d.onnx"]),
        ("**/y/*.onnx", ["m/x/y/d.onnx"]),
        ("**/x/**/d.onnx", ["m/x/y/d.onnx"]),
        ("**/**/d.onnx", ["m/x/y/d.onnx"]),
        ("m/*/*.onnx", ["m/x/c.onnx"]),
        ("m/x*", ["m/x/c.onnx", "m/x/y/d.onnx"]),
        ("m/?", ["m/x/c.onnx", "m/x/y/d.onnx"]),
        ("m/**", ["m/a.onnx", "m/b.onnx", "m/x/c.onnx", "m/x/y/d.onnx"]),
        ("./m//*.onnx", ["m/a.onnx", "m/b.onnx"]),
        ("m/x/../*.onnx", ["m/x/../a.onnx", "m/x/../b.onnx"]),
    ],
)
def test_patterns_are_expanded_and_a_final_star_leaves_the_suffix_open(
    root: Path, pattern: str, expected: list[str]
) -> None:
    make("m/a.onnx", "m/b.onnx", "m/a.bin", "m/x/c.onnx", "m/x/y/d.onnx", "m/.e.onnx")
    assert find_ids(pattern) == expected


def test_an_absolute_pattern(root: Path) -> None:
    make("m/a.onnx")
    assert find_ids(str(root / "*" / "*.onnx")) == [(root / "m/a.onnx").as_posix()]


@posix_only
def test_a_file_named_like_a_pattern_matches_itself(root: Path) -> None:
    make("*.onnx", "a.onnx")
    assert find_ids("*.onnx") == ["*.onnx"]


def test_exclusion_applies_to_discovered_files_only(root: Path) -> None:
    make("m/a.onnx", "m/old/b.onnx")
    assert find_ids("m", exclude="old") == ["m/a.onnx"]
    assert find_ids("m/**/*.onnx", exclude="old") == ["m/a.onnx"]
    assert find_ids("m/old/b.onnx", exclude="old") == ["m/old/b.onnx"]
    assert reject("m/old", exclude="old").endswith("found none (1 excluded by the configuration)")


def test_an_excluded_file_is_not_opened(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make("m/a.onnx", "m/b.json")
    monkeypatch.setattr(Path, "open", lambda *_arguments: pytest.fail("opened"))
    assert find_ids("m", exclude="json") == ["m/a.onnx"]


def test_each_real_file_is_listed_once_by_its_first_name(root: Path) -> None:
    make("m/a.onnx", "m/b.onnx")
    assert find_ids("m/b.onnx", "m", "m/*.onnx", "./m/a.onnx") == ["m/b.onnx", "m/a.onnx"]


@posix_only
def test_links(root: Path) -> None:
    make("real/a.onnx", "m/b.onnx")
    Path("m/linked").symlink_to(root / "real")
    Path("m/loop").symlink_to(root / "m")
    Path("m/self.onnx").symlink_to("self.onnx")
    Path("m/dangling.onnx").symlink_to("nowhere")
    Path("m/same.onnx").symlink_to("b.onnx")
    assert find_ids("m") == find_ids("m/**/*.onnx") == find_ids("m/*") == ["m/b.onnx"]
    assert find_ids("m/linked") == ["m/linked/a.onnx"]
    assert "cannot be read" in reject("m/self.onnx")


@posix_only
def test_special_files(root: Path) -> None:
    make("m/a.onnx")
    os.mkfifo("m/pipe.onnx")
    os.mkfifo("m/pipe.json")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("m/sock.onnx")
        assert find_ids("m") == find_ids("m/*.onnx") == ["m/a.onnx"]
        assert reject("m/pipe.onnx") == "m/pipe.onnx: expected a file or a directory, found a FIFO"
        assert reject("m/sock.onnx").endswith("found a socket")
    assert reject(os.devnull).endswith("found a device")


@pytest.mark.parametrize(
    ("path", "what"),
    [
        ("missing.onnx", "missing.onnx: cannot be read"),
        ("missing/*.onnx", "missing: cannot be read"),
        ("a.onnx/*.onnx", "a.onnx: cannot be read"),
        ("*.xml", "*.xml: expected at least one model file, found none"),
        ("empty", "empty: expected at least one model file, found none"),
        ("", "expected a file, a directory or a pattern, found an empty path"),
        ("nul\0", "cannot be read"),
        ("nul\0/*", "cannot be read"),
        ("x" * 5000, "cannot be read"),
    ],
)
def test_paths_without_files_are_rejected(root: Path, path: str, what: str) -> None:
    make("a.onnx")
    Path("empty").mkdir()
    assert what in reject("a.onnx", path)


def test_an_empty_path_list_is_rejected() -> None:
    assert "expected at least one file" in reject()


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.onnx", b"", True),
        ("a.pb", b"", True),
        ("a.xml", b" " * 1020 + b"<net", True),
        ("a.xml", b" " * 1021 + b"<net", False),
        ("a.XML", b"<project>", False),
        ("a.json", DXDISPATCH, True),
        ("a.json", b'{"type": "DML_OPERATOR_ONE_HOT", "desc": {}}', True),
        ("a.json", b'{"type": "OneHot", "inputs": [{"element_type": "i64"}]}', True),
        ("a.json", b'{"op_type" : "OneHot"}', True),
        ("a.json", b'{"type": "object", "description": "x"}', False),
        ("a.json", b'{"desc": 1, "my_type": 2, "sub-type": 3}', False),
        ("a.json", b'["dispatchables"]', False),
        ("a.json", b"", False),
        ("a.json", b" " * (64 * 1024) + DXDISPATCH, False),
        (
            "a.json",
            b'{"type": "object", "properties": {"desc": {"type": "string"}, "op_type": {"type": "string"}}}',
            False,
        ),
        ("a.json", b'{"type": "object", "desc": "x"}', False),
        ("a.json", b'{"properties": {"dispatchables": {}}, "type": "object"}', False),
        ("a.json", b'{"type": "record", "element_type": "x", "data": []}', False),
        ("a.json", b'[{"op_type": 1}, {"op_type": "Relu"}]', True),
        ("a.json", b'{"descriptors": {"a": {"op_type": "Relu"}}}', True),
        ("a.json", b'{"dispatchables": {"a": ', True),
        ("a.json", b'{"type": "x", "desc": ', False),
        ("a.yaml", b"{% if x %}\ntype: a\ndesc: b\n", False),
        ("a.yaml", b"type: ONE_HOT\ndesc:\n  Axis: 1\n", True),
        ("a.yml", b"dispatchables:\n", True),
        ("a.yml", b"jobs:\n  test:\n", False),
    ],
)
def test_files_that_look_like_models(root: Path, name: str, content: bytes, expected: bool) -> None:
    make(name, content=content)
    assert looks_like_model(name) is expected


def test_a_name_relative_to_the_root(root: Path) -> None:
    assert relative_name("m/a.onnx", root) == "m/a.onnx"
    assert relative_name(str(root / "m" / "a.onnx"), Path()) == "m/a.onnx"
    assert relative_name("m/../a.onnx", root) == "a.onnx"
    assert relative_name("../a.onnx", root) == "../a.onnx"


@posix_only
def test_a_name_through_a_link_to_the_root(root: Path) -> None:
    make("real/m/a.onnx")
    Path("link").symlink_to("real")
    assert relative_name("link/m/a.onnx", root / "real") == "m/a.onnx"
    Path("real/data").symlink_to("../elsewhere")
    assert relative_name("real/data/a.onnx", root / "real") == "data/a.onnx"


def test_reading_is_bounded(root: Path) -> None:
    make("a", content=b"12345")
    assert read_content(Path("a"), 5, name="a") == b"12345"
    with pytest.raises(InputError, match="a: expected at most 4 bytes, found more"):
        read_content(Path("a"), 4, name="a")


@given(st.text(st.characters()))
def test_shown_text_is_short_and_on_one_line(text: str) -> None:
    assert len(quote_text(text).splitlines()) == 1
    assert len(quote_text(text)) <= 1000


@given(st.text("*?[]!-^&|~/.ab\\", min_size=1).filter(lambda text: not text.startswith("/") and ".." not in text))
def test_arbitrary_patterns_raise_only_input_errors(tmp_path_factory: pytest.TempPathFactory, pattern: str) -> None:
    base = tmp_path_factory.getbasetemp() / "patterns"
    (base / "a" / "b").mkdir(parents=True, exist_ok=True)
    (base / "a" / "b" / "a.onnx").touch()
    try:
        files = discover([str(base / pattern)], exclude=lambda _file: False)
    except InputError:
        return
    assert [Path(file).name for file in files] == ["a.onnx"]
