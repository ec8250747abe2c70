"""A check starts quickly because it imports little: no YAML, no pydantic, no numpy."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from specgate.spec.store import compiled_tables
from tests.paths import ROOT

HEAVY = (
    "numpy", "pydantic", "yaml", "rich", "jinja2", "pathspec", "platformdirs", "onnx", "openvino", "hypothesis",
    "importlib.metadata", "onnxruntime", "unittest", "asyncio", "argparse", "http", "email", "xml",
)  # fmt: skip
#: Modules that `import specgate` may add to those of Python's startup; 77 today with Python 3.11.
MOST_MODULES = 90
IMPORT = "import specgate\n"
CHECK = """
import json, sys
descriptor = json.loads(sys.argv[1])
for level in ("4.1", "2.1", "1.0"):
    specgate.check(descriptor, "directml:" + level)
"""
REJECTED = CHECK + "descriptor['desc']['Axis'] = 9\nassert not specgate.check(descriptor, 'directml:4.1').accepted\n"
FROM_FILE = "import sys\nassert specgate.check(sys.argv[2], 'directml:4.1').accepted\n"
LOWEST = CHECK + "assert specgate.minimum(descriptor) == '2.0'\n"


def modules_after(code: str, *arguments: str) -> set[str]:
    """Run code in a new Python process; return the modules that it imported."""
    script = f"import sys\nbefore = set(sys.modules)\n{code}\nprint(*sorted(set(sys.modules) - before), sep='\\n')"
    command = [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{script}", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return set(done.stdout.split())


@pytest.fixture(scope="module", autouse=True)
def _fresh_tables() -> None:
    """The first check after a change of a YAML file builds the tables, so build before."""
    compiled_tables("directml")


@pytest.mark.parametrize(
    "code",
    [IMPORT, IMPORT + CHECK, IMPORT + REJECTED, IMPORT + LOWEST, IMPORT + FROM_FILE],
    ids=["import", "check", "rejection", "lowest level", "file"],
)
def test_nothing_heavy_is_imported(code: str, one_hot: dict[str, Any], tmp_path) -> None:
    path = tmp_path / "one_hot.json"
    path.write_text(json.dumps(one_hot), encoding="utf-8")
    result = modules_after(code, json.dumps(one_hot), str(path))
    assert "specgate.api" in result
    heavy = sorted(name for name in result if name in HEAVY or name.partition(".")[0] in HEAVY)
    assert heavy == []


#: Slow imports for rare uses: `dataclasses` with `inspect`, near names, archives, other commands.
RARE = (
    "dataclasses", "inspect", "difflib", "shutil", "lzma", "tomllib", "datetime", "specgate.validate.remedy",
    "specgate.validate.repair", "specgate.cli.command_options", "specgate.cli.command_options", "specgate.linting.config",
    "pathlib", "urllib.parse", "ipaddress", "specgate.rules.compile", "specgate.rules.explain", "specgate.rules.words",
    "specgate.validate.row", "specgate.validate.row", "specgate.validate.accepting_levels", "specgate.validate.fixes",
)  # fmt: skip
COMMAND = """
import os, sys
os.chdir(sys.argv[3])
from specgate.cli import main
assert main(["check", sys.argv[2], "--target", "directml:4.1"]) == 0
"""


@pytest.mark.parametrize("code", [IMPORT + CHECK, COMMAND], ids=["check", "command"])
def test_rarely_used_modules_are_not_imported(code: str, one_hot: dict[str, Any], tmp_path) -> None:
    path = tmp_path / "one_hot.json"
    path.write_text(json.dumps(one_hot), encoding="utf-8")
    result = modules_after(code, json.dumps(one_hot), str(path), str(tmp_path))
    assert "specgate.validate.check" in result
    assert sorted(result.intersection(RARE)) == []


def test_a_command_builds_only_its_parser(monkeypatch) -> None:
    from specgate.cli import parser

    texts: list[str] = []

    def record_call(name: str, add: Any) -> Any:
        def adding(commands: Any) -> None:
            texts.append(name)
            add(commands)

        return adding

    for name, add in parser._COMMANDS.items():
        monkeypatch.setitem(parser._COMMANDS, name, record_call(name, add))
    parser._parser.cache_clear()
    assert parser.make_parser(["check", "x.json"]).parse_args(["check", "x.json"]).descriptor == ["x.json"]
    assert texts == ["check"]
    for words in ([], ["--specs", "check"], ["nonsense"]):
        parser._parser.cache_clear()
        texts.clear()
        parser.make_parser(words)
        assert texts == list(parser._COMMANDS)
    parser._parser.cache_clear()


def test_few_modules_are_imported(record_property) -> None:
    names = modules_after(IMPORT)
    own = sorted(name for name in names if name.partition(".")[0] == "specgate")
    record_property("modules of import specgate", len(names))
    record_property("own modules of import specgate", own)
    assert len(names) <= MOST_MODULES, f"{len(names)} modules: {sorted(names)}"
    assert len(own) <= 35, own
