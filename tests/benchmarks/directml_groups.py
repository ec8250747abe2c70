"""The DirectML tables: how soon they are there, and how fast every operator is judged."""

from __future__ import annotations

import json
from functools import partial
from itertools import islice
from statistics import median
from time import process_time
from typing import TYPE_CHECKING, Any

import specgate
from specgate.conform.cases import shown_descriptors
from specgate.descriptors.core import TensorDesc
from specgate.slotted import replace
from specgate.spec.store import compiled_tables
from specgate.spec.tables import dialect
from specgate.validate.check import accepts
from tests.benchmarks.peers import fresh, onnx_check, openvino_construct, peer
from tests.benchmarks.timing import Contender, Group

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from specgate.descriptors.core import Descriptor

__all__ = ["directml_groups"]

CHANGES = 12  # of each operator's examples, beside the examples and counterexamples themselves
_LOOPS = 10  # of one accepted descriptor; the fastest of three rounds counts
_MOST_REJECTED = 200  # a rejection is explained, which takes as long as hundreds of acceptances
_EVERY = "table = dialect('directml'); [table.operator(name) for name in table.operators]"


def directml_groups() -> Iterator[Group]:
    """A fresh process' first check, loading every table, checking descriptors of every operator, and ONNX nodes."""
    compiled_tables("directml")  # so that none of the processes has to make them
    yield _first()
    yield _loading()
    yield _checking()
    yield _undecided()


def _first() -> Group:
    example = next(iter(dialect("directml").operator("ONE_HOT").table.examples.values()))["descriptor"]
    check = f"specgate.check(json.loads({json.dumps(example)!r}), 'directml:4.1')"
    return Group(
        "a fresh process: importing specgate, its first check, importing numpy",
        [
            fresh("the first specgate.check after importing it", check, "import json, specgate", own=True),
            fresh("import specgate", "import specgate", own=True),
            fresh("import numpy", "import numpy"),
        ],
    )


def _loading() -> Group:
    names = list(dialect("directml").operators)
    imports = "from specgate.spec.tables import dialect"
    every = f"{_EVERY}\nfor name in table.operators: table.operator(name).resolve(table.levels[-1])"
    return Group(
        f"a fresh process: all {len(names)} DirectML tables from their compiled form",
        [
            fresh("every operator's table", _EVERY, imports, own=True),
            fresh("every operator's table, resolved for the newest level", every, imports, own=True),
            fresh("import numpy", "import numpy"),
            fresh("import numpy, pydantic", "import numpy, pydantic"),
        ],
    )


def _checking() -> Group:
    table = dialect("directml")
    newest = table.levels[-1]
    drawn: list[Descriptor] = []
    for name in table.operators:
        drawn += shown_descriptors(table.operator(name), newest, CHANGES)
    good = [made for made in drawn if accepts(made, newest, "both")]
    bad = [made for made in drawn if accepts(made, newest, "both") is False]
    bad = bad[:: -(-len(bad) // _MOST_REJECTED) or 1]
    target = f"directml:{newest}"
    return Group(
        f"one check, the median over {len(good)} accepted and {len(bad)} other examples and changed examples of all "
        f"{len(table.operators)} operators",
        [
            _typical("specgate.check, accepted", good, lambda made: specgate.check(made, target), _LOOPS),
            _typical("accepts, the answer alone", good, lambda made: accepts(made, newest, "both"), _LOOPS),
            _typical("specgate.check, rejected", bad, lambda made: specgate.check(made, target), _LOOPS),
            _typical(
                "specgate.check, rejected, findings read", bad, lambda made: specgate.check(made, target).findings, 1
            ),
            peer("openvino opset1.one_hot, node constructed", openvino_construct),
            peer("onnx.checker.check_node", onnx_check),
        ],
    )


def _undecided() -> Group:
    """ONNX nodes, whose sizes may be unknown; DirectML's are always stated."""
    table = dialect("onnx")
    newest = table.levels[-1]
    target = f"onnx:{newest}"
    known, unknown = [], []
    for spec in map(table.operator, table.operators):
        for made in islice(shown_descriptors(spec, newest, 0), 1) if spec.level_for(newest) == newest else ():
            unsized = _unsized(made)
            if accepts(made, newest, "both") and accepts(unsized, newest, "both") is None:
                known.append(made)
                unknown.append(unsized)
    return Group(
        f"one check, the median over {len(known)} ONNX nodes, and over the same without sizes",
        [
            _typical("specgate.check, accepted", known, lambda made: specgate.check(made, target), _LOOPS),
            _typical("specgate.check, undecided", unknown, lambda made: specgate.check(made, target), _LOOPS),
            _typical(
                "specgate.check, undecided, read", unknown, lambda made: specgate.check(made, target).undecided, 1
            ),
        ],
    )


def _unsized(made: Descriptor) -> Descriptor:
    fields = {
        name: value._replace(sizes=None) if isinstance(value, TensorDesc) and value.value is None else value
        for name, value in made.fields.items()
    }
    return replace(made, fields=fields, plain=False)


def _typical(name: str, descriptors: Sequence[Descriptor], call: Callable[[Descriptor], Any], loops: int) -> Contender:
    seconds = partial(_seconds, call=call, loops=loops)
    return Contender(name, lambda: median(map(seconds, descriptors)), own=True, reports=True)


def _seconds(made: Descriptor, call: Callable[[Descriptor], Any], loops: int) -> float:
    rounds = []
    for _ in range(3):
        start = process_time()
        for _ in range(loops):
            call(made)
        rounds.append((process_time() - start) / loops)
    return min(rounds)
