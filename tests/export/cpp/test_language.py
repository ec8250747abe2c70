"""The header evaluates and prints the tables' expressions as Python does."""

from __future__ import annotations

import ast
import subprocess
from typing import TYPE_CHECKING

import pytest

from specgate.descriptors.core import format_value
from specgate.dialects.directml.cpp.header import write_header
from specgate.dialects.directml.cpp.levels import Levels
from specgate.dialects.directml.cpp.nodes import Names, Nodes
from specgate.spec.tables import dialect
from tests.export.cpp.native import HARNESS, compiler

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from specgate.rules.language import Rule

pytestmark = pytest.mark.slow

PROGRAM = """
#include "specgate_dml.h"
namespace tested {{
using namespace specgate::detail;
{nodes}
}}  // namespace tested
int main() {{
  using namespace specgate::detail;
  for (const Node* node : {{{texts}}}) std::puts(std::string(node->text).c_str());
  for (const double number : {{{numbers}}}) std::puts(real_text(number).c_str());
  Pool pool;
  const Layout nothing{{"", 0, 0, {{}}}};
  const Context context(pool, nothing, nullptr, 0);
  for (const Node* node : {{{wholes}}}) std::puts(to_text(Evaluator(context).value(node)).c_str());
  const Node *loop = {loop}, *one = pool.subscript(loop->part(1), 1);
  std::puts(std::string(pool.substitute(loop->part(0), loop->name, one)->text).c_str());
}}
"""
NUMBERS = (
    0.0,
    -0.0,
    1.0,
    0.1,
    1e-05,
    0.0001,
    123456789012345.0,
    1e15,
    1e16,
    1.5e300,
    5e-324,
    0.10000000149011612,
    -2.5,
    1e22,
)
#: A loop whose variable is also a part of other names.
LOOP = "all(d < d_max or X.sizes[d] > 1 for d in Axes)"
#: Lengths around 64 and 128 bits, with remainders of every sign.
WHOLES = (
    "2 * 3 - 10", "9223372036854775807 + 1", "-9223372036854775807 - 2", "18446744073709551615 * 18446744073709551615",
    "340282366920938463463374607431768211456 // 3", "340282366920938463463374607431768211456 % 1000000007",
    "-7 // 2", "-7 % 2", "7 // -2", "7 % -2", "-340282366920938463463374607431768211457 // 4294967296",
    "-340282366920938463463374607431768211457 % 4294967296", "4294967296 * 4294967296 * 4294967296 * 4294967296 * 4294967296",
    "7.5 % 2", "-7.5 % 2", "7.5 % -2", "-7.5 // 2", "7.5 // 2", "7 // 2.5", "-4.0 % 2", "4.0 % -2", "2.5 * 2 - 1",
    "18446744073709551616 - 18446744073709551615", "18446744073709551616 - 1",
)  # fmt: skip


def rules() -> Iterator[Rule]:
    table = dialect("directml")
    levels = Levels(table, table.levels)
    for name in table.operators:
        spec = table.operator(name)
        yield from (*spec.scope.defines.values(), *spec.conditions)
        for resolved in levels.sides(spec).values():
            for form in (*resolved.rules, *resolved.tensor_rules):
                yield from (rule for rule in (form.require, form.when) if rule is not None)


@pytest.mark.skipif(compiler() is None, reason="no C++ compiler is installed: expressions are not compiled")
def test_expressions_and_numbers_are_formatted_like_python(tmp_path: Path) -> None:
    trees = {rule.text: rule.tree for rule in rules()}
    assert len(trees) > 500
    nodes = Nodes()
    texts = [f"tested::{nodes.pointer(tree, Names())}" for tree in trees.values()]
    wholes = [f"tested::{nodes.pointer(ast.parse(text, mode='eval').body, Names())}" for text in WHOLES]
    loop = nodes.pointer(ast.parse(LOOP, mode="eval").body.args[0], Names())  # type: ignore[attr-defined]
    program = PROGRAM.format(
        nodes="\n".join(nodes.lines()),
        texts=", ".join(texts),
        numbers=", ".join(map(repr, NUMBERS)),
        wholes=", ".join(wholes),
        loop=f"tested::{loop}",
    )
    (tmp_path / "specgate_dml.h").write_text(write_header(["ONE_HOT"]), encoding="utf-8")
    (tmp_path / "program.cpp").write_text(program, encoding="utf-8")
    installed = compiler()
    assert installed is not None
    flags = ["-std=c++17", "-Wall", "-Werror", f"-I{tmp_path}"]
    installed.run([*flags, str(tmp_path / "program.cpp"), "-o", str(tmp_path / "program")])
    printed = subprocess.run(
        [str(tmp_path / "program")], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    expected = [ast.unparse(tree) for tree in trees.values()] + [repr(number) for number in NUMBERS]
    assert printed[: len(expected)] == expected
    assert printed[len(expected) : -1] == [format_value(eval(text)) for text in WHOLES]  # noqa: S307  # texts of this file
    assert printed[-1] == "Axes[1] < d_max or X.sizes[Axes[1]] > 1"


@pytest.mark.skipif(compiler() is None, reason="no C++ compiler is installed: the header is not compiled")
def test_macros_of_windows_headers_do_not_conflict(tmp_path: Path) -> None:
    header = write_header(["ONE_HOT", "GEMM"])
    includes = "\n".join(line for line in header.splitlines() if line.startswith("#include"))
    macros = (
        "near",
        "far",
        "small char",
        "hyper int64_t",
        "interface struct",
        "IN",
        "OUT",
        "min(a, b) 0",
        "max(a, b) 0",
    )
    defined = "\n".join(f"#define {macro}" for macro in macros)
    (tmp_path / "specgate_dml.h").write_text(header, encoding="utf-8")
    program = f'{includes}\n{defined}\n#include "specgate_dml.h"\nint main() {{}}\n'
    (tmp_path / "program.cpp").write_text(program, encoding="utf-8")
    installed = compiler()
    assert installed is not None
    installed.run(["-std=c++17", "-Wall", "-Werror", "-fsyntax-only", str(tmp_path / "program.cpp")])


@pytest.mark.skipif(compiler() is None, reason="no C++ compiler is installed: the header is not compiled")
@pytest.mark.parametrize(("levels", "text"), [(["1.0"], True), (None, False)])
def test_a_part_of_the_tables_compiles_without_warnings(tmp_path: Path, levels: list[str] | None, text: bool) -> None:
    header = write_header(["ELEMENT_WISE_IDENTITY"], levels, text=text)
    (tmp_path / "specgate_dml.h").write_text(header, encoding="utf-8")
    installed = compiler()
    assert installed is not None
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{tmp_path}"]
    installed.run([*flags, str(HARNESS)])
