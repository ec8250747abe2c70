"""create_operator and a DirectML library in one process; `ring.py` covers all operators."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from specgate.dialects.directml.cpp.comparison import Comparison
from specgate.dialects.directml.cpp.compilers import compilers
from specgate.dialects.directml.native.marshal import image
from specgate.dialects.directml.oracle.install import install_command, status
from specgate.generate.seeds import examples_at, make_concrete
from specgate.spec.tables import dialect
from tests.export.cpp.ring import Ring, questions

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.oracle, pytest.mark.slow]
#: Operators that crash the library on errors, and some whose arrays it reads.
OPERATORS = (
    "MULTIHEAD_ATTENTION",
    "SCATTER_ND",
    "GATHER",
    "JOIN",
    "CONVOLUTION",
    "REDUCE",
    "ONE_HOT",
    "ELEMENT_WISE_ADD1",
)
INSTALLED = [row.build.level for row in status() if row.installed and row.build.system == "linux"]


@pytest.fixture(scope="module")
def level() -> str:
    if next(compilers(), None) is None:
        pytest.skip("NO C++ COMPILER is installed: the header is not held against a library")
    if not INSTALLED:
        pytest.skip(f"NO DIRECTML BUILD IS TESTED: none is installed; {install_command(['6.2'])} fetches 25 MB")
    return INSTALLED[-1]


def test_library_replies_match_without_crashes(level: str, tmp_path: Path) -> None:
    ring = Ring(tmp_path, level, OPERATORS, ["-O0"])
    for name in OPERATORS:
        ring.ask(list(questions(dialect("directml").operator(name), level, 12)))
    ring.close()
    assert ring.wrong == []
    assert ring.tally["accepted", "asked"] > 20
    assert ring.tally["rejected", "asked"] > 20
    assert ring.tally["crashed", "not asked"] > 20


def test_times_are_measured_in_a_single_process(level: str, tmp_path: Path) -> None:
    spec = dialect("directml").operator("ONE_HOT")
    (descriptor, *_) = map(make_concrete, examples_at(spec, level))
    neighbour = Comparison(tmp_path, level, operators=["ONE_HOT"], flags=["-O0"])
    (times,) = neighbour.times([image(descriptor)], 1)
    assert min(times.accepting, times.checking, times.creating) > 0
    assert times.telling == 0
