"""Hostile spec files are rejected or built in bounded time and memory."""

from __future__ import annotations

import tracemalloc

import pytest

from specgate.spec.build import MAX_FILE, SpecErrors, build_dialect
from tests.spec.conftest import OPERATOR

pytestmark = pytest.mark.timeout(240)  # what is hostile must not hang

BOMB = "define:\n  d0: rank(Input)\n" + "".join(f"  d{i}: d{i - 1} + d{i - 1}\n" for i in range(1, 64))
LADDER = "define:\n  d0: rank(Input)\n" + "".join(f"  d{i}: abs(abs(abs(d{i - 1})))\n" for i in range(1, 400))
ROW = '  "1.0":\n'
HOSTILE = {
    "doubling defines": (OPERATOR.replace("define:\n", BOMB), "with every define expanded"),
    "deepening defines": (OPERATOR.replace("define:\n", LADDER), "nested parts"),
    "define of itself": (OPERATOR.replace("rank(Input)", "dimensions + 1"), "unknown name 'dimensions'"),
    "long rule": (OPERATOR.replace("Axis < dimensions", " and ".join(["Axis < 4"] * 40_000)), "at most 2000 characters"),
    "deep rule": (OPERATOR.replace("Axis < dimensions", "(" * 900 + "Axis" + ")" * 900), "expected one expression"),
    "endless rule": (OPERATOR.replace("Axis < dimensions", "9**9**9**9 > Axis"), "expected + - * // or %"),
    "many wrong rules": (OPERATOR.replace("rules:\n", "rules:\n" + "".join(f"  r{i}: x{i} == 1\n" for i in range(9000))), "x8999"),
    "many rules": (OPERATOR.replace("rules:\n", "rules:\n" + "".join(f"  r{i}: rank(Input) == {i}\n" for i in range(5000))), None),
    "many fields": (OPERATOR.replace("fields:\n", "fields:\n" + "".join(f"  F{i}: {{kind: input}}\n" for i in range(9000))), None),
    "many types": (OPERATOR.replace(ROW, f"{ROW}    type_sets: {{T: [{'INT8, ' * 100_000}INT8]}}\n"), None),
    "huge rank": (OPERATOR.replace("ranks: 4, types: [INT8]}\n    Out", f"ranks: {'9' * 300}}}\n    Out"), None),
    "huge range": (OPERATOR.replace("ranks: 4, types: [INT8]}\n    Out", f'ranks: "1..{"9" * 5000}"}}\n    Out'), "expected a rank"),
    "too many keys": (OPERATOR + "".join(f"k{i}: 1\n" for i in range(90_000)), "and more problems"),
    "too deep": (OPERATOR + "x: " + "[" * 50_000, "levels of nesting"),
    "too large": (OPERATOR + "#" * (MAX_FILE + 1), "expected a file of at most"),
    "long key": (OPERATOR + "k" * 900_000 + ": 1\n", "not valid YAML"),
    "long quoted key": (OPERATOR + '"' + "k\\n" * 300_000 + '": 1\n', "not valid YAML"),
    "long level": (OPERATOR.replace('"1.0"', '"' + "1" * 900 + '"'), "String should have at most 20 characters"),
    "not a mapping": ("[" + "1," * 400_000 + "1]", "expected a mapping"),
    "one word": ("x" * 900_000, "expected a mapping"),
    "many rows": (OPERATOR.replace(ROW, "".join(f'  "{i}": {{}}\n' for i in range(20_000)) + ROW), "unknown level"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("text", "message"), HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_files(folder, text: str, message: str | None) -> None:
    root = folder(operators__COPY_yaml=text)
    try:
        build_dialect(root)
    except SpecErrors as error:
        assert message is not None
        assert any(message in problem for problem in error.problems)
        assert all(len(problem) < 6000 and problem.isprintable() for problem in error.problems)
    else:
        assert message is None


@pytest.mark.slow
def test_memory_stays_small(folder) -> None:
    root = folder(operators__COPY_yaml=OPERATOR + "x: [" + "[1,2]," * 30_000 + "1]\n")
    tracemalloc.start()
    with pytest.raises(SpecErrors):
        build_dialect(root)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 80 * 2**20
