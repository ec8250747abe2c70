"""Record what ONNX Runtime's CPU provider does if a rule is broken.

``python -m tests.runtimes.onnxruntime.outcomes`` draws for each operator, version and finding a few descriptors that
have only this finding, and valid ones; creates a session and runs it in several releases; and writes one JSON line per
model to DIR, a file per operator. Constant outcomes of a broken rule go to ``specs/onnxruntime/runs.yaml``; valid
descriptors that fail are conditions for ``refuses`` in ``loading.yaml``.
"""

from __future__ import annotations

import argparse
import base64
import json
import re
import sys
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from specgate.descriptors.core import TensorDesc
from specgate.descriptors.read import write_dict
from specgate.generate.near_misses import broken_descriptors
from specgate.runtimes.onnxruntime.conform.cases import fitting_feeds, levels, one_node
from specgate.runtimes.onnxruntime.oracle.cpu import CpuPlacementOracle
from specgate.runtimes.onnxruntime.registrations import minor_release, runtime_tables
from specgate.slotted import replace
from specgate.spec.tables import dialect
from specgate.validate.accepting_levels import aspect
from specgate.validate.check import accepts, check_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from specgate.descriptors.core import Descriptor
    from specgate.runtimes.onnxruntime.oracle.oracle import Answer

_TIMEOUT: Final = 3.0
_VALID: Final = "valid"
#: Findings on requirements that every implementation checks against the operator's schema.
_OF_SCHEMAS: Final = ("structure", "type")
_ATTEMPTS: Final = 3
#: Maximum elements of a tensor: more take long and show nothing else.
_MOST_ELEMENTS: Final = 2**16
#: The opset of ai.onnx next to an operator of another domain.
_BESIDE: Final = 21
#: The runtime's messages about a missing kernel for types or for a version.
_NO_KERNEL: Final = re.compile(
    r"Could not find an implementation|Failed to find kernel|MLDataType for|InsertedPrecisionFreeCast|InsertedCast"
    r"|Invalid tensor data type|invalid tensor type|is under development|is not currently registered"
)


class Drawn(NamedTuple):
    """A model of one node.

    breaks: its finding, "valid" for none; constant: inputs keep their values.
    """

    operator: str
    version: str
    breaks: str
    constant: bool
    descriptor: Descriptor
    model: bytes


def draw(operator: str, count: int, valid: int, newest: int, useful: Callable[[Drawn], bool]) -> Iterator[Drawn]:
    """Yield descriptors of each version: per possible single finding, and valid ones.

    count: per finding; one for findings of schemas. useful: whether a model is informative, because a kernel has its
    types; others are drawn again a few times.
    """
    spec = dialect("onnx").operator(operator)
    for level in (text for text in levels(operator, None) if int(text) <= newest):
        source = broken_descriptors(spec, level)
        pick = Random(f"{operator}/{level}").randint  # repeatable on purpose
        seen: set[bytes] = set()
        if not source.valid.descriptors:
            continue
        for breaks in [*source.ids, *[_VALID] * bool(valid)]:
            expected = valid if breaks == _VALID else 1 if aspect(breaks) in _OF_SCHEMAS else count
            got = 0
            for _ in range(expected * _ATTEMPTS):
                if got >= expected:
                    break
                descriptor = (
                    source.valid.draw(pick)
                    if breaks == _VALID
                    else getattr(source.draw(breaks, pick), "descriptor", None)
                )
                if descriptor is None:
                    break
                if _is_large(descriptor):
                    continue
                for constant in (True, False):
                    item = descriptor if constant else _without_values(descriptor)
                    if item is None or (not constant and not _still(item, level, breaks)):
                        continue
                    pair = one_node(item, level, _BESIDE)
                    if pair is not None and pair[1] not in seen:
                        seen.add(pair[1])
                        drawn = Drawn(operator, level, breaks, constant, descriptor, pair[1])
                        if useful(drawn):
                            got += constant
                            yield drawn


def _is_large(descriptor: Descriptor) -> bool:
    return any(tensor.known_elements > _MOST_ELEMENTS for _, tensor in descriptor.tensors())


def _without_values(descriptor: Descriptor) -> Descriptor | None:
    """Return a descriptor without constant inputs, None if there are none."""
    inputs = {info.name for info in dialect("onnx").operator(descriptor.operator).inputs}
    fields = {
        name: value._replace(value=None) if name in inputs and isinstance(value, TensorDesc) else value
        for name, value in descriptor.fields.items()
    }
    return replace(descriptor, fields=fields, plain=False) if fields != dict(descriptor.fields) else None


def _still(descriptor: Descriptor, level: str, breaks: str) -> bool:
    verdict = check_at(descriptor, level, "documented")
    if breaks == _VALID:
        return verdict.accepted is not False
    return verdict.accepted is False and any(finding.id == breaks for finding in verdict.findings)


def ask(oracle: CpuPlacementOracle, drawn: Drawn) -> Answer:
    """Return the outcome of a model; if no run succeeds, suitable inputs are tried."""
    answer = oracle.ask([drawn.model])[0]
    if answer.word == "created" and answer.run not in {"ran", "crashed", "timeout"}:
        feeds = fitting_feeds(drawn.descriptor, drawn.version)
        if feeds:
            answer = oracle.ask([drawn.model], [feeds])[0]
    return answer


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.runtimes.onnxruntime.outcomes")
    parser.add_argument("folder", type=Path)
    parser.add_argument("operators", nargs="*", help="default: all of the ONNX tables")
    parser.add_argument("--releases", default="1.32.0,1.31.1,1.24.4,1.20.1")
    parser.add_argument("--cases", type=int, default=3, help="for each finding of each version of an operator")
    parser.add_argument("--valid", type=int, default=20, help="valid ones of each version of an operator")
    parser.add_argument("--newest", type=int, default=28, metavar="OPSET")
    parser.add_argument("--part", default="0/1", help="I/N: only every Nth operator, from the Ith on")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    part, parts = map(int, options.part.split("/"))
    names = (options.operators or list(dialect("onnx").operators))[part::parts]
    oracles = {
        release: CpuPlacementOracle(release, run=True, timeout=_TIMEOUT) for release in options.releases.split(",")
    }
    for name in names:
        path = options.folder / f"{name}.jsonl"
        if path.exists():
            continue
        records = list(measure(name, options, oracles))
        path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
        sys.stdout.write(f"{name}: {len(records)} models\n")
        sys.stdout.flush()
    for oracle in oracles.values():
        oracle.close()
    return 0


def measure(operator: str, options: argparse.Namespace, oracles: dict[str, CpuPlacementOracle]) -> Iterator[Any]:
    """Yield a record for each informative model of an operator."""
    records: list[dict[str, Any]] = []
    lost: set[tuple[str, str, str]] = set()

    def useful(drawn: Drawn) -> bool:
        entries = _record(drawn, oracles, lost)
        if entries is not None:
            records.append(entries)
        return entries is not None

    for _ in draw(operator, options.cases, options.valid, options.newest, useful):
        yield records.pop()


def _opset(release: str) -> int:
    return int(runtime_tables()["releases"][minor_release(release)]["opsets"]["ai.onnx"])


def _record(
    drawn: Drawn, oracles: dict[str, CpuPlacementOracle], lost: set[tuple[str, str, str]]
) -> dict[str, Any] | None:
    """Return the releases' outcomes, None if none has a kernel for the node.

    lost: nodes that crashed a process, which takes seconds: they are not repeated.
    """
    answers = {}
    for release, oracle in oracles.items():
        if "." not in drawn.operator and int(drawn.version) > _opset(release):
            continue
        key = (drawn.version, drawn.breaks, release)
        if key in lost:
            continue
        answer = ask(oracle, drawn)
        if {answer.word, answer.run} & {"crashed", "timeout"}:
            lost.add(key)
        answers[release] = [answer.session, answer.code, answer.run]
        if _NO_KERNEL.search(answer.error) and len(answers) == 1:
            return None
    if not answers:
        return None
    return {
        "operator": drawn.operator,
        "version": drawn.version,
        "breaks": drawn.breaks,
        "constant": drawn.constant,
        "observed": accepts(drawn.descriptor, drawn.version, "observed"),
        "answers": answers,
        "descriptor": write_dict(drawn.descriptor),
        "model": base64.b64encode(drawn.model).decode(),
    }


if __name__ == "__main__":
    sys.exit(main())
