"""Forms that a lowering table may contain for a field of an operator.

A form is a number, a Boolean or an expression of the rule language; a list of them; ``{each: …, count: …}``, a list
whose elements are computed with `i` from 0 on; ``{ratio: [a, b]}``, a quotient; ``{type_of: X}``, DirectML's name of
X's element type; an operator or a record by its fields; or a tensor as in `tensors`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import RECORDS, Descriptor, whole_numbers
from specgate.runtimes.onnxruntime.lowering.expressions import (
    FormError,
    identity,
    list_form,
    locate_form_errors,
    number_form,
    numbers_form,
    rule_of,
)
from specgate.runtimes.onnxruntime.lowering.tensors import FieldReference, TensorForm, as_uint
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from specgate.rules.language import Scope
    from specgate.runtimes.onnxruntime.lowering.state import State
    from specgate.spec.fields import FieldInfo
    from specgate.spec.operator_spec import OperatorSpec

    Form = Callable[[State, int], Any]


_KINDS: Final[Mapping[str, Callable[[Any], Any]]] = {"float": float, "bool": bool, "scalar": identity, "uint": as_uint}


def fields_form(spec: OperatorSpec, raw: Mapping[str, Any], scope: Scope) -> Callable[[State, int], Descriptor | None]:
    """Return a function that builds a descriptor of `spec` from a node.

    Raises FormError for an invalid entry. Count fields are filled in. An optional field is omitted if the node lacks
    what it reads.
    """
    for name in raw:
        if name not in spec.fields:
            raise FormError(f"unknown field of {spec.name}; known: {', '.join(spec.fields)}", name)
    functions_by_name: dict[str, Form] = {}
    counts: dict[str, str] = {}
    for name, info in spec.fields.items():
        if name in raw:
            functions_by_name[name] = locate_form_errors(form_of, (info, raw[name], scope), name)
        elif info.counts:
            counts[name] = info.counts[0]
        elif not info.optional and info.default is None:
            raise FormError(f"expected the field {name} of {spec.name}")
    order = list(spec.fields)

    def value(state: State, i: int) -> Descriptor:
        entries = {name: form(state, i) for name, form in functions_by_name.items()}
        entries |= {name: len(entries[array] or ()) for name, array in counts.items()}
        fields = {name: entries[name] for name in order if entries.get(name) is not None}
        return Descriptor(spec.dialect.name, spec.name, fields)

    return value


def form_of(info: FieldInfo, raw: Any, scope: Scope) -> Form:
    """Return the form of one field of a DirectML operator."""
    base = info.type.removesuffix("[]")
    if info.type.endswith("[]") and base in {"tensor", "operator"}:
        return list_form(lambda entry: _scalar_form(info, base, entry, scope), raw, scope)
    if info.type.endswith("[]"):
        return numbers_form(raw, scope, _KINDS.get(base, int))
    return _scalar_form(info, base, raw, scope)


def _scalar_form(info: FieldInfo, base: str, raw: Any, scope: Scope) -> Form:
    if base == "tensor":
        return TensorForm.make(raw, scope)
    if base == "operator":
        return _operator(info, raw, scope)
    if base in RECORDS:
        return _record(base, raw, scope)
    if base.startswith("enum:"):
        return _word(info, raw, scope)
    return number_form(raw, scope, _KINDS.get(base, int))


def _operator(info: FieldInfo, raw: Any, scope: Scope) -> Form:
    if not isinstance(raw, dict) or not isinstance(raw.get("operator"), str):
        raise FormError(f"expected {info.name} as an operator with its fields")
    table = dialect("directml")
    if raw["operator"] not in table.operators:
        raise FormError(f"unknown operator of DirectML {raw['operator']!r:.60}", "operator")
    spec = table.operator(raw["operator"])
    attributes = {info.name: raw.get(info.name) for info in spec.attributes if info.name in raw}
    functions_by_name = {
        name: locate_form_errors(form_of, (spec.fields[name], entry, scope), name) for name, entry in attributes.items()
    }
    return lambda state, i: Descriptor(
        spec.dialect.name, spec.name, {n: form(state, i) for n, form in functions_by_name.items()}
    )


def _record(base: str, raw: Any, scope: Scope) -> Form:
    record = RECORDS[base]
    kind: Callable[[Any], Any] = int if whole_numbers(record) else float
    names: tuple[str, ...] = record._fields  # of a NamedTuple
    if not isinstance(raw, dict) or set(raw) != set(names):
        raise FormError(f"expected {' and '.join(names)}")
    parts = [locate_form_errors(number_form, (raw[name], scope, kind), name) for name in names]
    return lambda state, i: record(*(part(state, i) for part in parts))


def _word(info: FieldInfo, raw: Any, scope: Scope) -> Form:
    """Return the form of an enum value or of an expression for one.

    The expression may use the enum values without quotes.
    """
    if isinstance(raw, dict) and set(raw) == {"type_of"}:
        selector = FieldReference.make(raw["type_of"], scope)
        return lambda state, i: None if (tensor := selector.tensor(state, i)) is None else state.dml_type(tensor)
    words = frozenset(info.words or ()) or _enum_words(info)
    if not isinstance(raw, str):
        raise FormError(f"expected one of {', '.join(sorted(words))}")
    if raw in words:
        return lambda _state, _i: raw
    rule = rule_of(raw, replace(scope, words=scope.words | words), "word")
    return lambda state, i: state.value(rule, i)


def _enum_words(info: FieldInfo) -> frozenset[str]:
    return frozenset(dialect("directml").numbers(info.type.removeprefix("enum:")))
