"""Load-time checks of nodes of the runtime's own operators.

The dialect's table of such an operator describes the newest release, and its rules apply at run time. Every release
checks the schema (arity, attributes, types). loading.yaml lists the rules that it checks before a run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from specgate.descriptors.positional import positional
from specgate.runtimes.onnxruntime.registrations import minor_release
from specgate.runtimes.onnxruntime.schemas import own_schema
from specgate.spec.tables import dialect
from specgate.validate.check import check_at
from specgate.validate.looking import aspect
from specgate.verdict import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from specgate.descriptors.core import Descriptor
    from specgate.runtimes.onnxruntime.load_checks import Loading
    from specgate.runtimes.onnxruntime.schemas import OwnSchema

__all__ = ["own_refusals"]

#: Rule groups that a schema states.
_SCHEMA: Final = ("structure", "type")


def own_refusals(descriptor: Descriptor, known: Loading, release: str, *, on_cpu: bool) -> Iterator[Finding]:
    """Yield why a release rejects a node of one of the contrib operators.

    known: the operator's entry of loading.yaml in the release. on_cpu: whether the checks of the CPU kernel apply.
    """
    domain, _, operator = descriptor.operator.rpartition(".")
    version = int(descriptor.version or 0)
    own, newest = (own_schema(domain, operator, version, each) for each in (release, None))
    if own is None or newest is None:
        return
    newer = _newer(descriptor, own, newest)
    if newer:
        yield Finding(
            f"onnxruntime/{descriptor.operator}/newer", "error", f"{minor_release(release)} does not have {newer}"
        )
        return
    if _form(own) != _form(newest):
        return  # the table describes another version
    verdict = check_at(descriptor, str(version), "documented")
    if verdict.accepted is not False:
        return
    names = known.checks_of(version, on_cpu=on_cpu)
    for finding in verdict.findings:
        if aspect(finding.id) in _SCHEMA or finding.id.rpartition("/")[2] in names:
            yield finding


def _form(schema: OwnSchema) -> list[tuple[tuple[str, bool, bool], ...]]:
    """Return the constraints of inputs and outputs, ignoring their names."""
    ends = schema.inputs, schema.outputs
    return [tuple((each.limited, each.optional, each.several) for each in end) for end in ends]


def _newer(descriptor: Descriptor, own: OwnSchema, newest: OwnSchema) -> str:
    """Return the first part of a node that only the newest schema defines.

    An empty text stands for none.
    """
    layout = dialect(descriptor.dialect).operator(descriptor.operator).layout(descriptor.version or "")
    ends = (("input", own.inputs, layout.inputs), ("output", own.outputs, layout.outputs))
    for end, places, fields in ends:
        tensors = positional(descriptor.fields, fields)
        last = max((at for at, tensor in enumerate(tensors, 1) if tensor is not None), default=0)
        if last > len(places) and not (places and places[-1].several):
            return f"{end} {last - 1}, which is {fields[last - 1].vendor_name}"
    later = sorted((newest.attributes.keys() - own.attributes.keys()) & descriptor.fields.keys())
    if later:
        return f"attribute {later[0]}"
    defaults = (
        name
        for name, (_, default) in newest.attributes.items()
        if default is not None and own.attributes.get(name, (None, default))[1] is None
    )
    missing = sorted(set(defaults) - descriptor.fields.keys())
    return f"default of {missing[0]}" if missing else ""
