"""The configuration: its location, contents, and one readable error per mistake."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from contextlib import suppress
from datetime import date, time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specgate.errors import InputError
from specgate.linting.config import Config, Ignore, PathRule, load_config

FULL = """
targets = ["directml:4.1", "onnx:17"]
basis = "documented"
baseline = "specgate-baseline.json"
format = "sarif"
[[paths]]
match = "models/legacy/**"
targets = ["onnx:13"]
exclude = true
[[ignore]]
rule = "onnx/OneHot/axis-range"
path = "models/**"
node = "decoder/*"
target = "onnx:17"
reason = "fixed by runtime patch 12"
until = 2027-01-31
[[ignore]]
rule = "directml/*/axis-range"
reason = "known"
until = "2027-02-01"
"""


def write_file(folder: Path, text: str, name: str = "specgate.toml") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def problems(folder: Path, text: str) -> list[str]:
    path = write_file(folder, text)
    with pytest.raises(InputError) as caught:
        load_config(folder)
    lines = str(caught.value).splitlines()
    assert all(line.startswith(f"{path}: ") for line in lines)
    assert caught.value.file == str(path)
    return [line.removeprefix(f"{path}: ") for line in lines]


@pytest.mark.parametrize("shared", [False, True])
def test_a_full_configuration(tmp_path: Path, shared: bool) -> None:
    text = FULL
    if shared:
        text = "[tool.specgate]\n" + text.replace("[[", "[[tool.specgate.")
    path = write_file(tmp_path, text, "pyproject.toml" if shared else "specgate.toml")
    assert load_config(tmp_path) == Config(
        targets=["directml:4.1", "onnx:17"],
        basis="documented",
        paths=[PathRule("models/legacy/**", ["onnx:13"], exclude=True)],
        ignores=[
            Ignore(
                rule="onnx/OneHot/axis-range",
                reason="fixed by runtime patch 12",
                path="models/**",
                node="decoder/*",
                target="onnx:17",
                until=date(2027, 1, 31),
                source=str(path),
                place="ignore[0]",
            ),
            Ignore("directml/*/axis-range", "known", until=date(2027, 2, 1), source=str(path), place="ignore[1]"),
        ],
        baseline="specgate-baseline.json",
        format="sarif",
        source=str(path),
        root=tmp_path,
    )


def test_the_nearest_configuration_above_is_read(tmp_path: Path) -> None:
    write_file(tmp_path, 'targets = ["onnx:1"]')
    write_file(tmp_path / "a", 'targets = ["onnx:2"]')
    write_file(tmp_path / "a" / "b", "[project]\nname = 'x'\n[tool.other]\n", "pyproject.toml")
    config = load_config(tmp_path / "a" / "b")
    assert config.targets == ["onnx:2"]
    assert config.root == tmp_path / "a"


@pytest.mark.parametrize("linked", [False, True])
def test_the_search_stops_at_the_top_of_a_repository(tmp_path: Path, linked: bool) -> None:
    write_file(tmp_path, 'targets = ["onnx:1"]')
    top = tmp_path / "repository"
    (top / "models").mkdir(parents=True)
    if linked:
        (top / ".git").write_text("gitdir: elsewhere\n")
    else:
        (top / ".git").mkdir()
    assert load_config(top / "models") == Config(root=top)
    write_file(top, 'targets = ["onnx:2"]')
    assert load_config(top / "models").targets == ["onnx:2"]


def test_without_any_configuration_the_root_is_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "exists", lambda _path: False)
    monkeypatch.setattr(Path, "is_file", lambda _path: False)
    assert load_config(tmp_path / "a" / ".." / "b") == Config(root=tmp_path / "b")


def test_two_configurations_in_one_directory(tmp_path: Path) -> None:
    write_file(tmp_path, 'targets = ["onnx:1"]')
    write_file(tmp_path, "[tool.other]\n", "pyproject.toml")
    assert load_config(tmp_path).targets == ["onnx:1"]
    write_file(tmp_path, "[tool.specgate]\n", "pyproject.toml")
    with pytest.raises(InputError, match=r"specgate\.toml and \[tool\.specgate\] in .*pyproject\.toml"):
        load_config(tmp_path)


def test_an_explicit_file_is_read_instead(tmp_path: Path) -> None:
    write_file(tmp_path, 'targets = ["onnx:1"]')
    other = write_file(tmp_path / "ci", 'targets = ["onnx:2"]', "strict.toml")
    config = load_config(tmp_path, other)
    assert (config.targets, config.root, config.source) == (["onnx:2"], tmp_path / "ci", str(other))
    shared = write_file(tmp_path / "ci", "[tool.specgate]\ntargets = ['onnx:3']", "pyproject.toml")
    assert load_config(tmp_path, shared).targets == ["onnx:3"]


def test_an_explicit_pyproject_needs_the_table(tmp_path: Path) -> None:
    shared = write_file(tmp_path, "[tool.other]\n", "pyproject.toml")
    with pytest.raises(InputError, match=r"tool\.specgate: expected a table, found nothing"):
        load_config(tmp_path, shared)


@pytest.mark.parametrize("name", ["missing.toml", ".", "nul\0.toml"])
def test_an_explicit_file_must_be_readable(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"cannot be read|expected a regular file, found a directory"):
        load_config(tmp_path, tmp_path / name)


def test_a_source_below_the_working_directory_is_named_relatively(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_file(tmp_path / "a", "")
    assert load_config(Path("a")).source == str(Path("a") / "specgate.toml")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('tragets = ["onnx:17"]', ["tragets: unknown key, did you mean targets?"]),
        ('"x y" = 1',
         ["'x y': unknown key, expected one of targets, basis, baseline, format, severity, fail_on, select, severities, statistics, custom_domains, paths, ignore"]),
        ('targets = "onnx:17"', ["targets: expected an array of non-blank strings, found 'onnx:17'"]),
        ("targets = []", ["targets: expected an array of non-blank strings, found an empty array"]),
        ('targets = ["onnx:17", 17]', ["targets[1]: expected a non-blank string, found an integer"]),
        ('basis = "page"', ["basis: expected one of documented, observed, both, found 'page'"]),
        ("basis = true", ["basis: expected a non-blank string, found a boolean"]),
        ("baseline = 1.5", ["baseline: expected a non-blank string, found a float"]),
        ('format = " "', ["format: expected a non-blank string, found ' '"]),
        ("paths = {}", ["paths: expected an array of tables, [[paths]], found a table"]),
        ("paths = [10:00:00]", ["paths[0]: expected a table, found a time"]),
        ("[[paths]]\nexclude = true", ["paths[0].match: expected a non-blank string, found nothing"]),
        ('[[paths]]\nmatch = "a"', ["paths[0].targets: expected targets or exclude, found neither"]),
        ('[[paths]]\nmatch = "a"\nexclude = "yes"', ["paths[0].exclude: expected true or false, found 'yes'"]),
        ('[[paths]]\nmatch = "a"\ntargets = []', ["paths[0].targets: expected an array of non-blank strings, found an empty array"]),
        ('[[ignore]]\nrule = "a/b"', ["ignore[0].reason: expected a non-blank string, found nothing"]),
        ('[[ignore]]\nrule = "a/b"\nreason = "\\t"', ["ignore[0].reason: expected a non-blank string, found '\\t'"]),
        ('[[ignore]]\nreason = "r"', ["ignore[0].rule: expected a non-blank string, found nothing"]),
        ('[[ignore]]\nrule = "a/**"\nreason = "r"', ["ignore[0].rule: expected a * for each segment of the id, found 'a/**'"]),
    ],
)  # fmt: skip
def test_a_wrong_entry_is_named(tmp_path: Path, text: str, expected: list[str]) -> None:
    assert problems(tmp_path, text) == expected


@pytest.mark.parametrize(
    ("until", "what"),
    [
        ('"2027-02-30"', "'2027-02-30'"),
        ('"20270131"', "'20270131'"),
        ('"2027-W05-1"', "'2027-W05-1'"),
        ('"soon"', "'soon'"),
        ("2027-01-31T10:00:00", "a date with a time"),
        ("20270131", "an integer"),
    ],
)
def test_a_wrong_date(tmp_path: Path, until: str, what: str) -> None:
    text = f'[[ignore]]\nrule = "a/b"\nreason = "r"\nuntil = {until}'
    assert problems(tmp_path, text) == [f"ignore[0].until: expected a date such as 2027-01-31, found {what}"]


@pytest.mark.parametrize(
    ("pattern", "what"),
    [
        ("[z-a]", "expected a gitignore-style pattern"),
        ("a\\", "expected a gitignore-style pattern"),
        ("!a", "expected a pattern that can match a file"),
        ("# a", "expected a pattern that can match a file"),
        ("/", "expected a pattern that can match a file"),
        ("*a*a*a*a*b", "expected at most 4 * between two slashes"),
        ("a/**/b/**/c/**/d/**", "expected at most 3 ** segments"),
    ],
)
def test_a_wrong_pattern(tmp_path: Path, pattern: str, what: str) -> None:
    text = f"[[paths]]\nmatch = {json.dumps(pattern)}\nexclude = true"
    assert problems(tmp_path, text) == [f"paths[0].match: {what}, found {pattern!r}"]
    text = f'[[ignore]]\nrule = "a/b"\nreason = "r"\npath = {json.dumps(pattern)}'
    assert problems(tmp_path, text) == [f"ignore[0].path: {what}, found {pattern!r}"]


def test_all_mistakes_are_reported_at_once(tmp_path: Path) -> None:
    text = (
        'base = 1\ntargets = 1\n[[ignore]]\nrule = "a/b"\nreason = "r"\n[[ignore]]\nrule = 1\nuntil = 1\nresaon = ""\n'
    )
    assert [line.partition(": ")[0] for line in problems(tmp_path, text)] == [
        "base",
        "targets",
        "ignore[1].resaon",
        "ignore[1].rule",
        "ignore[1].reason",
        "ignore[1].until",
    ]


def test_mistakes_in_entries_of_several_kinds(tmp_path: Path) -> None:
    text = 'ignore = ["a", "", {table = 1, rule = "r"}, 3]\npaths = [{tragets = 1}, {exclude = 1, match = ["a"]}]\n'
    assert problems(tmp_path, text) == [
        "paths[0].tragets: unknown key, did you mean targets?",
        "paths[0].match: expected a non-blank string, found nothing",
        "paths[0].targets: expected targets or exclude, found neither",
        "paths[1].match: expected a non-blank string, found an array",
        "paths[1].exclude: expected true or false, found an integer",
        "ignore[1]: expected a table or a non-blank string, found ''",
        "ignore[2].table: unknown key, expected one of rule, path, node, target, reason, until",
        "ignore[2].reason: expected a non-blank string, found nothing",
        "ignore[3]: expected a table or a non-blank string, found an integer",
    ]


def test_very_many_mistakes_are_counted(tmp_path: Path) -> None:
    lines = problems(tmp_path, "".join(f"key{i} = 1\n" for i in range(2000)))
    assert len(lines) == 51
    assert lines[-1] == "and 1950 more"


def test_long_text_is_shortened(tmp_path: Path) -> None:
    assert all(len(line) < 250 for line in problems(tmp_path, f'basis = "{"x" * 5000}"\n{"y" * 5000} = 1'))


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"targets = [", "expected TOML, found an error"),
        (b"targets = 1\ntargets = 2", "expected TOML, found an error"),
        (b"x = '\xff'", "expected TOML, found an error"),
        (b"x = " + b"9" * 5000, "expected TOML, found an error"),
        (b"x = " + b"[" * 50_000, "expected TOML, found values nested too deeply"),
        (b"a." * 50_000 + b"a = 1", "expected at most 1000 dots in a line"),
        (b"#" * (1 << 20) + b"\n", "expected at most 1048576 bytes"),
    ],
)
@pytest.mark.parametrize("name", ["specgate.toml", "pyproject.toml"])
def test_a_file_that_is_not_toml(tmp_path: Path, data: bytes, what: str, name: str) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match=what):
        load_config(tmp_path)


@pytest.mark.parametrize("section", ["[tool]\nspecgate = 3", "tool.specgate = []"])
def test_the_section_must_be_a_table(tmp_path: Path, section: str) -> None:
    write_file(tmp_path, section, "pyproject.toml")
    with pytest.raises(InputError, match=r"tool\.specgate: expected a table, found an"):
        load_config(tmp_path)


def test_a_tool_entry_that_is_not_a_table_is_skipped(tmp_path: Path) -> None:
    write_file(tmp_path, "tool = 3", "pyproject.toml")
    (tmp_path / ".git").mkdir()
    assert load_config(tmp_path) == Config(root=tmp_path)


def test_the_last_matching_entry_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = Config(
        targets=["onnx:17"],
        paths=[
            PathRule("models/**", ["onnx:13"], exclude=True),
            PathRule("models/new/**", ["onnx:21"]),
            PathRule("models/new/kept.onnx", exclude=False),
            PathRule("*.xml", ["openvino:opset13"]),
        ],
        root=tmp_path,
    )
    monkeypatch.chdir(tmp_path)
    expected = {
        "a.onnx": (["onnx:17"], False),
        "models/a.onnx": (["onnx:13"], True),
        "models/new/a.onnx": (["onnx:21"], True),
        "models/new/kept.onnx": (["onnx:21"], False),
        "models/new/a.xml": (["openvino:opset13"], True),
        str(tmp_path / "models" / "a.onnx"): (["onnx:13"], True),
        "../elsewhere/a.xml": (["openvino:opset13"], False),
    }
    assert {file: (config.targets_for(file), config.is_excluded(file)) for file in expected} == expected


def test_a_pattern_may_start_at_the_root_in_any_spelling() -> None:
    for pattern in ("models/*.onnx", "/models/*.onnx", "./models/*.onnx"):
        assert Config(paths=[PathRule(pattern, exclude=True)]).is_excluded("models/a.onnx"), pattern


def test_a_bracket_in_brackets_matches_literally() -> None:
    config = Config(paths=[PathRule("[[a].onnx", exclude=True)])
    assert [config.is_excluded(file) for file in ("a.onnx", "[.onnx", "b.onnx")] == [True, True, False]


@pytest.mark.timeout(240)  # it hung for minutes
@pytest.mark.parametrize("pattern", ["*a*a*a*b", "**/a/**/a/**/b", "*a*a*a*b/**/*a*a*a*b"])
def test_an_allowed_pattern_answers_in_time(pattern: str) -> None:
    config = Config(paths=[PathRule(pattern, exclude=True)])
    assert not config.is_excluded("a" * 200 + "/" + "a/" * 200 + "a" * 200 + "c")


def test_pathspec_is_imported_only_for_patterns(tmp_path: Path) -> None:
    write_file(tmp_path, 'targets = ["onnx:17"]')
    program = (
        "import sys; from pathlib import Path; from specgate.linting.config import load_config; "
        "assert load_config(Path(sys.argv[1])).targets; print('pathspec' in sys.modules, 'tomllib' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


@pytest.mark.parametrize("message", [None, "[tool.other]", "[tool.specgate]"])
def test_pydantic_is_imported_only_with_a_configuration(tmp_path: Path, message: str | None) -> None:
    (tmp_path / ".git").mkdir()
    if message is not None:
        write_file(tmp_path, message, "pyproject.toml")
    program = (
        "import sys; from pathlib import Path; import specgate.cli.lint; from specgate.linting.config import load_config; "
        "load_config(Path(sys.argv[1])); print('pydantic' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(message == "[tool.specgate]")]


def test_the_schema_of_a_configuration(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    from specgate.cli import main

    assert main(["spec", "schema", "config"]) == 0
    schema = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator.check_schema(schema)
    document = tomllib.loads(FULL.replace("2027-01-31", '"2027-01-31"'))
    jsonschema.validate({**document, "ignore": [*document["ignore"], "onnx/Abs"]}, schema)
    mistakes = (
        '{"tragets": ["a"]}',
        '{"basis": "page"}',
        '{"ignore": [" "]}',
        '{"ignore": [{"rule": "a"}]}',
        '{"targets": []}',
    )
    for wrong in mistakes:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(json.loads(wrong), schema)


def toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, float):
        return repr(value)
    return json.dumps(value, ensure_ascii=False)


texts = st.text(st.characters(codec="utf-8", exclude_characters="\x7f"), max_size=12) | st.text("*!?[]-^\\/#&|~ab. ")
scalars = (
    texts | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats() | st.dates() | st.datetimes() | st.times()
)  # fmt: skip
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3))
entries = st.fixed_dictionaries(
    {},
    optional=dict.fromkeys(
        ("match", "targets", "exclude", "rule", "path", "node", "target", "reason", "until"), values
    ),
)
tables = st.fixed_dictionaries(
    {},
    optional={
        "targets": st.lists(texts) | values,
        "basis": st.sampled_from(["both", "observed"]) | values,
        "baseline": values,
        "format": values,
        "paths": st.lists(entries, max_size=3) | values,
        "ignore": st.lists(entries, max_size=3) | values,
        "other": values,
    },
)


@pytest.mark.slow
@given(tables)
def test_arbitrary_values_raise_only_input_errors(table: dict[str, Any]) -> None:
    text = "".join(f"{key} = {toml(value)}\n" for key, value in table.items())
    with TemporaryDirectory() as folder:
        write_file(Path(folder), text)
        with suppress(InputError):
            load_config(Path(folder))


@pytest.mark.slow
@given(st.binary() | st.text().map(lambda text: text.encode("utf-8", "replace")))
def test_arbitrary_bytes_raise_only_input_errors(data: bytes) -> None:
    with TemporaryDirectory() as folder:
        (Path(folder) / "pyproject.toml").write_bytes(b"[tool.specgate]\n" + data)
        with suppress(InputError):
            load_config(Path(folder))


@given(st.text("*!?[]-^\\/#&|~:ab. \t\n"), st.text("/ab.[]-"))
def test_arbitrary_patterns_raise_only_input_errors(pattern: str, file: str) -> None:
    with suppress(InputError):
        Config(paths=[PathRule(pattern, exclude=True)]).is_excluded(file)


def test_custom_domains_accept_domains_of_targets(tmp_path: Path) -> None:
    write_file(tmp_path, 'custom_domains = ["com.acme", "com.microsoft"]')
    assert load_config(tmp_path).custom_domains == ["com.acme", "com.microsoft"]
    assert problems(tmp_path, "custom_domains = 3") == [
        "custom_domains: expected an array of non-blank strings, found an integer"
    ]
