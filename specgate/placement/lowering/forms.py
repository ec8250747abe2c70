"""What a lowering table may write for a field of a DirectML operator, and the value that a node gives it.

A number, a truth value or an expression of the rule language; a list of them; ``{each: …, count: …}``, a list whose
elements are computed with `i` from 0 on; ``{ratio: [a, b]}``, a quotient; ``{type_of: X}``, DirectML's word for X's
element type; an operator or a record by its fields; a tensor as `tensors` describes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import RECORDS, Descriptor, whole_numbers
from specgate.placement.lowering.shape import as_uint
from specgate.placement.lowering.state import ABSENT
from specgate.placement.lowering.tensors import TensorForm, Which
from specgate.rules.language import RuleError
from specgate.rules.parse import parse

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from specgate.placement.lowering.state import State
    from specgate.rules.language import Rule, Scope
    from specgate.spec.fields import FieldInfo
    from specgate.spec.operator_spec import OperatorSpec

    Form = Callable[[State, int], Any]

__all__ = ["FormError", "fields_form", "form_of", "numbers_form", "rule_of"]


class FormError(ValueError):
    """A form that cannot be used; `path`: where in the entry."""

    def __init__(self, message: str, *path: str | int) -> None:
        super().__init__(message)
        self.path = path


def rule_of(text: str, scope: Scope, expect: str | None = None) -> Rule:
    """Return a parsed expression; raise FormError."""
    try:
        return parse(text, scope, expect=expect)
    except RuleError as error:
        raise FormError(error.line) from None


def fields_form(
    spec: OperatorSpec, raw: Mapping[str, Any], scope: Scope
) -> Callable[[State, int], Descriptor | None]:
    """Return what makes a descriptor of the DirectML operator `spec` of a node; raise FormError for a wrong entry.

    Fields that only count others are filled in. What an optional field reads and the node lacks leaves it out.
    """
    for name in raw:
        if name not in spec.fields:
            raise FormError(f"unknown field of {spec.name}; known: {', '.join(spec.fields)}", name)
    made: dict[str, Form] = {}
    counts: dict[str, str] = {}
    for name, info in spec.fields.items():
        if name in raw:
            made[name] = _placed(form_of, (info, raw[name], scope), name)
        elif info.counts:
            counts[name] = info.counts[0]
        elif not info.optional and info.default is None:
            raise FormError(f"expected the field {name} of {spec.name}")
    order = list(spec.fields)

    def value(state: State, i: int) -> Descriptor:
        found = {name: form(state, i) for name, form in made.items()}
        found |= {name: len(found[array] or ()) for name, array in counts.items()}
        fields = {name: found[name] for name in order if found.get(name) is not None}
        return Descriptor(spec.dialect.name, spec.name, fields)

    return value


def _placed(make: Callable[..., Form], arguments: tuple[Any, ...], *path: str | int) -> Form:
    try:
        return make(*arguments)
    except FormError as error:
        raise FormError(str(error), *path, *error.path) from None


def form_of(info: FieldInfo, raw: Any, scope: Scope) -> Form:
    """Return the form of one field of a DirectML operator."""
    base = info.type.removesuffix("[]")
    if info.type.endswith("[]") and base in {"tensor", "operator"}:
        return _list(lambda entry: _single(info, base, entry, scope), raw, scope)
    if info.type.endswith("[]"):
        return numbers_form(raw, scope, _KINDS.get(base, int))
    return _single(info, base, raw, scope)


def _single(info: FieldInfo, base: str, raw: Any, scope: Scope) -> Form:
    if base == "tensor":
        return TensorForm.make(raw, scope)
    if base == "operator":
        return _operator(info, raw, scope)
    if base in RECORDS:
        return _record(base, raw, scope)
    if base.startswith("enum:"):
        return _word(info, raw, scope)
    return _number(raw, scope, _KINDS.get(base, int))


def _same(value: Any) -> Any:
    return value


_KINDS: Final[Mapping[str, Callable[[Any], Any]]] = {"float": float, "bool": bool, "scalar": _same, "uint": as_uint}


def _operator(info: FieldInfo, raw: Any, scope: Scope) -> Form:
    from specgate.spec.tables import dialect

    if not isinstance(raw, dict) or not isinstance(raw.get("operator"), str):
        raise FormError(f"expected {info.name} as an operator with its fields")
    table = dialect("directml")
    if raw["operator"] not in table.operators:
        raise FormError(f"unknown operator of DirectML {raw['operator']!r:.60}", "operator")
    spec = table.operator(raw["operator"])
    attributes = {info.name: raw.get(info.name) for info in spec.attributes if info.name in raw}
    made = {name: _placed(form_of, (spec.fields[name], entry, scope), name) for name, entry in attributes.items()}
    return lambda state, i: Descriptor(spec.dialect.name, spec.name, {n: form(state, i) for n, form in made.items()})


def _record(base: str, raw: Any, scope: Scope) -> Form:
    record = RECORDS[base]
    kind: Callable[[Any], Any] = int if whole_numbers(record) else float
    names: tuple[str, ...] = record._fields  # type: ignore[attr-defined]  # a NamedTuple
    if not isinstance(raw, dict) or set(raw) != set(names):
        raise FormError(f"expected {' and '.join(names)}")
    parts = [_placed(_number, (raw[name], scope, kind), name) for name in names]
    return lambda state, i: record(*(part(state, i) for part in parts))


def _word(info: FieldInfo, raw: Any, scope: Scope) -> Form:
    """A word of the field's enum, alone or by an expression, which may use the words without quotes."""
    from dataclasses import replace

    if isinstance(raw, dict) and set(raw) == {"type_of"}:
        which = Which.make(raw["type_of"], scope)
        return lambda state, i: None if (tensor := which.tensor(state, i)) is None else state.dml_type(tensor)
    words = frozenset(info.words or ()) or _enum_words(info)
    if not isinstance(raw, str):
        raise FormError(f"expected a word, one of {', '.join(sorted(words))}")
    if raw in words:
        return lambda _state, _i: raw
    rule = rule_of(raw, replace(scope, words=scope.words | words), "word")
    return lambda state, i: state.value(rule, i)


def _enum_words(info: FieldInfo) -> frozenset[str]:
    from specgate.spec.tables import dialect

    return frozenset(dialect("directml").numbers(info.type.removeprefix("enum:")))


def _number(raw: Any, scope: Scope, kind: Callable[[Any], Any]) -> Form:
    if isinstance(raw, bool | int | float):
        constant = kind(raw)
        return lambda _state, _i: constant
    if isinstance(raw, dict) and set(raw) == {"ratio"}:
        first, second = (_placed(_number, (part, scope, _same), "ratio", at) for at, part in enumerate(raw["ratio"]))
        return lambda state, i: kind(first(state, i) / second(state, i))
    if not isinstance(raw, str):
        raise FormError("expected a number or an expression")
    rule = rule_of(raw, scope)

    def value(state: State, i: int) -> Any:
        found = state.value(rule, i)
        return ABSENT if found is ABSENT else kind(found)

    return value


def numbers_form(raw: Any, scope: Scope, kind: Callable[[Any], Any]) -> Form:
    """Return the form of a list of numbers, which an expression may give as a whole too."""
    if not isinstance(raw, str):
        return _list(lambda entry: _number(entry, scope, kind), raw, scope)
    rule = rule_of(raw, scope, "numbers")

    def value(state: State, i: int) -> Any:
        found = state.value(rule, i)
        return ABSENT if found is ABSENT else [kind(item) for item in found]

    return value


def _list(make: Callable[[Any], Form], raw: Any, scope: Scope) -> Form:
    """A list of forms, or one form for each turn of a loop."""
    if isinstance(raw, list):
        parts = [_placed(make, (entry,), at) for at, entry in enumerate(raw)]
        return lambda state, i: [part(state, i) for part in parts]
    if not isinstance(raw, dict) or set(raw) != {"each", "count"}:
        raise FormError("expected a list, or each and count")
    each = _placed(make, (raw["each"],), "each")
    count = _placed(_number, (raw["count"], scope, int), "count")
    return lambda state, _i: [each(state, turn) for turn in range(count(state, 0))]
