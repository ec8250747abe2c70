"""Cast fixes limited to types that a provider of the runtime registers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specgate.errors import Error
from specgate.runtimes.onnxruntime.registrations import registrations
from specgate.slotted import replace
from specgate.spec.tables import dialect
from specgate.validate.fixes import cast_fix
from specgate.validate.message import later_fix

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from specgate.descriptors.core import Descriptor
    from specgate.runtimes.release import Runtime
    from specgate.spec.operator_spec import OperatorSpec
    from specgate.verdict import Finding

__all__ = ["registered_fix"]


def registered_fix(finding: Finding, descriptor: Descriptor, runtime: Runtime) -> Finding:
    """Return a type finding whose cast fix names a registered type only."""
    spec = dialect(descriptor.dialect).operator(descriptor.operator)
    name, _, aspect = finding.id.rpartition("/")[2].rpartition(".")
    level = str(descriptor.version)
    resolved = spec.resolve(level) if level in spec.levels else None
    if aspect != "type" or not finding.values or resolved is None or name not in resolved.fields:
        return finding
    allowed = next((row.cells[name].types for row in resolved.alternatives if name in row.cells), None)
    if allowed is None or resolved.fields[name].kind != "input":
        return finding
    cell = next(row.cells[name] for row in resolved.alternatives if name in row.cells)
    kernels = list(_rows(spec, level, runtime))
    names = {kind for types in kernels for kind in _types(types, name, cell.variable, allowed)}
    possible = [kind for kind in allowed if kind in names]
    if not kernels or len(possible) == len(allowed):
        return finding
    cast = cast_fix(finding.where, str(next(iter(finding.values.values()))), possible, spec) if possible else None
    later = later_fix(level, finding.levels, spec.dialect)
    return replace(finding, fix=" or ".join(part for part in (cast, later) if part) or None)


def _rows(spec: OperatorSpec, level: str, runtime: Runtime) -> Iterable[Mapping[str, frozenset[str]]]:
    """Yield the types that each provider kernel supports.

    The keys are type variables or fields.
    """
    since = int(spec.row_held(level) or level)
    domain, _, op_type = spec.name.rpartition(".")
    for provider in runtime.registered:
        try:
            registry = registrations(provider, runtime.release)
        except Error:
            continue
        yield from (row.types for row in registry.of(domain, op_type) if row.holds(since))


def _types(
    types: Mapping[str, frozenset[str]], name: str, variable: str | None, allowed: Iterable[str]
) -> Iterable[str]:
    """Return the types that a kernel supports for a field.

    All types are supported if the kernel does not constrain the field.
    """
    return types.get(variable or name) or types.get(name) or allowed
