"""Load time of the DirectML tables, and speed of checks per operator."""

from __future__ import annotations

import json
from functools import partial
from itertools import islice
from statistics import median
from time import process_time
from typing import TYPE_CHECKING, Any

import specgate
from specgate.descriptors.core import TensorDesc
from specgate.slotted import replace
from specgate.spec.store import compiled_tables
from specgate.spec.tables import dialect
from specgate.validate.check import accepts
from tests.benchmarks.peers import fresh, onnx_check, openvino_construct, peer
from tests.benchmarks.timing import Contender, Group
from tests.drawing import shown_descriptors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from specgate.descriptors.core import Descriptor

__all__ = ["directml_groups"]

CHANGES = 12  # per example of an operator, in addition to the examples and counterexamples
_LOOPS = 10  # per accepted descriptor; the fastest of three rounds counts
_MOST_REJECTED = 200  # a rejection is explained, which takes as long as hundreds of acceptances
_EVERY = "table = dialect('directml'); [table.operator(name) for name in table.operators]"


def directml_groups() -> Iterator[Group]:
    """Yield the groups: first check, loading of tables, checks per operator.

    ONNX nodes have a separate group.
    """
    compiled_tables("directml")  # so that no process has to build them
    yield _first()
    yield _loading()
    yield _checking()
    yield _make_undecided()


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
    good = [descriptor for descriptor in drawn if accepts(descriptor, newest, "both")]
    bad = [descriptor for descriptor in drawn if accepts(descriptor, newest, "both") is False]
    bad = bad[:: -(-len(bad) // _MOST_REJECTED) or 1]
    target = f"directml:{newest}"
    return Group(
        f"one check, the median over {len(good)} accepted and {len(bad)} other examples and changed examples of all "
        f"{len(table.operators)} operators",
        [
            _typical("specgate.check, accepted", good, lambda descriptor: specgate.check(descriptor, target), _LOOPS),
            _typical("accepts, the answer alone", good, lambda descriptor: accepts(descriptor, newest, "both"), _LOOPS),
            _typical("specgate.check, rejected", bad, lambda descriptor: specgate.check(descriptor, target), _LOOPS),
            _typical(
                "specgate.check, rejected, findings read",
                bad,
                lambda descriptor: specgate.check(descriptor, target).findings,
                1,
            ),
            peer("openvino opset1.one_hot, node constructed", openvino_construct),
            peer("onnx.checker.check_node", onnx_check),
        ],
    )


def _make_undecided() -> Group:
    """ONNX nodes, whose sizes may be unknown; DirectML's never are."""
    table = dialect("onnx")
    newest = table.levels[-1]
    target = f"onnx:{newest}"
    descriptors, unknown = [], []
    for spec in map(table.operator, table.operators):
        for descriptor in islice(shown_descriptors(spec, newest, 0), 1) if spec.level_for(newest) == newest else ():
            unsized = _remove_sizes(descriptor)
            if accepts(descriptor, newest, "both") and accepts(unsized, newest, "both") is None:
                descriptors.append(descriptor)
                unknown.append(unsized)
    return Group(
        f"one check, the median over {len(descriptors)} ONNX nodes, and over the same without sizes",
        [
            _typical(
                "specgate.check, accepted", descriptors, lambda descriptor: specgate.check(descriptor, target), _LOOPS
            ),
            _typical(
                "specgate.check, undecided", unknown, lambda descriptor: specgate.check(descriptor, target), _LOOPS
            ),
            _typical(
                "specgate.check, undecided, read",
                unknown,
                lambda descriptor: specgate.check(descriptor, target).undecided,
                1,
            ),
        ],
    )


def _remove_sizes(descriptor: Descriptor) -> Descriptor:
    fields = {
        name: value._replace(sizes=None) if isinstance(value, TensorDesc) and value.value is None else value
        for name, value in descriptor.fields.items()
    }
    return replace(descriptor, fields=fields, plain=False)


def _typical(name: str, descriptors: Sequence[Descriptor], call: Callable[[Descriptor], Any], loops: int) -> Contender:
    seconds = partial(_seconds, call=call, loops=loops)
    return Contender(name, lambda: median(map(seconds, descriptors)), own=True, reports=True)


def _seconds(descriptor: Descriptor, call: Callable[[Descriptor], Any], loops: int) -> float:
    rounds = []
    for _ in range(3):
        start = process_time()
        for _ in range(loops):
            call(descriptor)
        rounds.append((process_time() - start) / loops)
    return min(rounds)
