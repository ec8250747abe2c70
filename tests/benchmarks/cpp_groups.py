"""Speed of the C++ header next to a DirectML library, and compile time."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Final

from specgate.dialects.directml.cpp.comparison import Comparison
from specgate.dialects.directml.cpp.compilers import compilers
from specgate.dialects.directml.cpp.header import write_header
from specgate.dialects.directml.native.marshal import image
from specgate.errors import Error, InputError
from specgate.spec.tables import dialect
from tests.benchmarks.timing import Contender, Group, ended_time
from tests.drawing import shown_descriptors

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from specgate.dialects.directml.cpp.comparison import Times
    from specgate.dialects.directml.cpp.compilers import Compiler
    from specgate.dialects.directml.native.marshal import Image

__all__ = ["cpp_groups"]

LEVEL: Final = "6.2"
CHANGES: Final = 4  # per example of an operator, in addition to the examples and counterexamples
OPERATORS: Final[Sequence[str] | None] = None  # None: all operators of the level
#: Compiler options of the timed program, and the file whose compilation is timed.
ASKED: Final = "-O2"
COMPILED: Final = "-O1"
_ROUNDS: Final = 3
_USING: Final = """#include "specgate_dml.h"
int main(int count, char**) {
  const specgate::abi::OperatorDesc none{uint32_t(count), nullptr};
  return int(specgate::check(none, uint32_t(count)).text().size());
}
"""
_EMPTY: Final = "#include <string>\n#include <vector>\nint main() {}\n"


def cpp_groups() -> Iterator[Group]:
    """Yield the groups: checks, compile time and header size.

    Checks are timed next to CreateOperator on the same descriptions.
    """
    with tempfile.TemporaryDirectory(prefix="specgate-bench-") as folder:
        yield _checking(Path(folder))
        yield _compiling(Path(folder))


class _Runs:
    """Times of the descriptions of every operator, measured again on every use."""

    def __init__(self, folder: Path) -> None:
        self.comparison = Comparison(folder, LEVEL, operators=OPERATORS, flags=[ASKED])
        self.images: list[tuple[str, Image]] = list(_images())
        self.last: Mapping[str, list[Times]] = {}
        self.asked: set[str] = set()

    def median(self, member: str) -> float:
        """Return the median of the operators' medians, in seconds."""
        if member in self.asked or not self.last:
            self.asked = set()
            self.last = self._run()
        self.asked.add(member)
        return median(_typical(times, member) for times in self.last.values() if _convert(times, member)) * 1e-9

    def _run(self) -> Mapping[str, list[Times]]:
        times_by_name: dict[str, list[Times]] = defaultdict(list)
        times = self.comparison.times([result for _, result in self.images], _ROUNDS)
        for (name, _), measured in zip(self.images, times, strict=True):
            times_by_name[name].append(measured)
        return {name: measured for name, measured in times_by_name.items() if _convert(measured, "creating")}

    def remarks(self) -> list[tuple[str, str]]:
        """Return ratios to CreateOperator, per operator and per description."""
        messages = []
        for title, member in (
            ("accepted", "checking"),
            ("refused, with text,", "telling"),
            ("refused, with text and proposals,", "proposing"),
        ):
            typical, single = [], []
            for name, times in self.last.items():
                if _convert(times, member):
                    create = _typical(times, "creating")
                    typical.append((_typical(times, member) / create, name))
                    single += [
                        (getattr(item, member) / (item.creating or create), name)
                        for item in times
                        if getattr(item, member)
                    ]
            middle = median(ratio for ratio, _ in typical)
            worst = " and ".join(f"{ratio:.2f} ({name})" for ratio, name in (max(typical), max(single)))
            messages.append(
                (
                    f"a check that is {title} to CreateOperator of the same operator",
                    f"{middle:.2f}; at worst, of an operator and of one description: {worst}",
                )
            )
        return messages


def _convert(times: Sequence[Times], member: str) -> bool:
    return any(getattr(item, member) for item in times)


def _typical(times: Sequence[Times], member: str) -> float:
    numbers: list[float] = [getattr(item, member) for item in times if getattr(item, member)]
    return median(numbers)


def _images() -> Iterator[tuple[str, Image]]:
    table = dialect("directml")
    for name in OPERATORS or table.operators:
        spec = table.operator(name)
        for descriptor in shown_descriptors(spec, LEVEL, CHANGES) if LEVEL in spec.levels else ():
            try:
                yield name, image(descriptor)
            except Error:  # the structures cannot represent it
                continue


def _checking(folder: Path) -> Group:
    names = {
        "accepting": "specgate::accepts, accepted",
        "checking": "specgate::check, accepted",
        "telling": "specgate::check and its text, refused",
        "proposing": "the same with changes that are searched for",
        "creating": f"CreateOperator of DirectML {LEVEL}, and Release",
    }
    title = f"one description in C++, the median of all operators, {ASKED}"
    try:
        runs = _Runs(folder)
    except InputError as error:
        missing = str(error)
        return Group(title, [Contender(name, None, missing=missing) for name in names.values()])
    contenders: list[Contender] = []
    for member, name in names.items():
        call = partial(runs.median, member)
        contenders.append(Contender(name, call, own=member != "creating", reports=True))
    return Group(f"{title}, {len(runs.images)} descriptions", contenders, remarks=runs.remarks)


def _compiling(folder: Path) -> Group:
    header = folder / "specgate_dml.h"
    header.write_text(write_header(OPERATORS), encoding="utf-8")
    compiler = next(compilers(), None)
    sources = {"a file that asks the header": _USING, "a file that includes <string> and <vector>": _EMPTY}
    contenders = []
    for number, (name, text) in enumerate(sources.items()):
        source = folder / f"compiled{number}.cpp"
        source.write_text(text, encoding="utf-8")
        call: Any = None if compiler is None else partial(_compile, compiler, source)
        contenders.append(Contender(name, call, own=number == 0, missing="no C++ compiler is installed"))
    size = header.stat().st_size
    title = f"compiling with {compiler.name if compiler else 'a C++ compiler'}, {COMPILED}"
    messages = [("the header", f"{size / 1e6:.2f} MB")]
    return Group(title, contenders, 0.0, clock=ended_time, remarks=lambda: messages)


def _compile(compiler: Compiler, source: Path) -> None:
    flags = ["-std=c++17", COMPILED, f"-I{source.parent}"]
    compiler.run([*flags, "-c", str(source), "-o", str(source.with_suffix(".o"))])
