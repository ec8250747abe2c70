"""Code outside the dialects' packages does not name a dialect, with few exceptions.

The list of exceptions only gets shorter.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Final

import pytest

from tests.paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMES: Final = re.compile(
    r"(?i:directml|onnx|openvino|dxdispatch|DML_)|"
    r"(?i:size-?2d|scale-?bias|minimum_?size|TotalTensorSizeInBytes|GuaranteedBaseOffsetAlignment)|\bFlags\b"  # words
)
#: A message may name one as an example.
EXAMPLE: Final = re.compile(r"\b(such as|for instance|e\.g\.) ")
COMMANDS: Final = "texts of help, and the names that two commands take"
RUNTIME: Final = "it answers about placements, which one runtime alone has"
TEXTS: Final = "descriptions of fields in the tables' schema"
#: The files that still name a dialect, with the reason.
ALLOWED: Final = {
    **dict.fromkeys(
        (
            "api.py",
            "cli/conform.py",
            "cli/oracle.py",
            "cli/place.py",
            "cli/specs.py",
            "report/placement/html.py",
            "report/placement/text.py",
        ),
        RUNTIME,
    ),
    "cli/command_options.py": COMMANDS,
    "cli/options.py": COMMANDS,
    "cli/parser.py": COMMANDS,
    "spec/file_models.py": TEXTS,
    "runtimes/__init__.py": "the registry",
    "spec/view.py": "the prefix of DirectML's operators, which may be given with it",
}
PACKAGE: Final = ROOT / "specgate"


def docstrings(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                yield first.value


def words(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield names and strings of the code with their lines, without docstrings."""
    skipped = set(docstrings(tree))
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 0)
        if isinstance(node, ast.Constant) and node not in skipped:
            text = node.value.decode("latin-1") if isinstance(node.value, bytes) else node.value
            if isinstance(text, str):
                yield line, text
        elif isinstance(node, ast.ImportFrom):
            yield line, str(node.module)
        for field in ("id", "attr", "name", "asname", "arg"):
            text = getattr(node, field, None)
            if isinstance(text, str):
                yield line, text


def add_name(code: str) -> list[str]:
    pairs = [(line, text) for line, text in words(ast.parse(code)) if NAMES.search(text)]
    return [f"{line}: {text[:80]}" for line, text in pairs if not EXAMPLE.search(text)]


FILES: Final = [
    name
    for path in sorted(PACKAGE.rglob("*.py"))
    # A runtime reads models of one dialect and creates operators of another, so placement names both.
    if not (name := path.relative_to(PACKAGE).as_posix()).startswith(("dialects/", "runtimes/onnxruntime/"))
]


@pytest.mark.parametrize(
    ("code", "count"),
    [
        ('"""On onnx."""\n# openvino\n', 0),
        ('def f():\n    "directml"\n    return "directml"\n', 1),
        ("from a.onnx import b as c\nimport d as openvino\n", 2),
        ("x.onnx_model\nf(onnx=1)\ndef DirectML(onnx): ...\n", 4),
        ('f"{a}onnx:{b}"\nb"ONNX"\n', 2),
        ('Size2D(1, 2)\nb.Flags\nre.compile(a, flags=0)\n"scale-bias"\n', 3),
        ('f"expected a target such as onnx:17, found {a}"\n', 0),
    ],
)
def test_dialect_names_in_code_are_detected(code: str, count: int) -> None:
    assert len(add_name(code)) == count


def test_many_files_are_read() -> None:
    assert len(FILES) > 150


@pytest.mark.parametrize("file", FILES)
def test_only_allowed_files_name_a_dialect(file: str) -> None:
    """An exception that is not needed must be removed."""
    result = add_name((PACKAGE / file).read_text(encoding="utf-8"))
    assert (result != []) is (file in ALLOWED), result


def test_allowed_files_exist() -> None:
    assert set(ALLOWED) <= set(FILES)
