"""Fields of operators, from ONNX's tables or a lowering table."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from specgate.caching import cached_property
from specgate.descriptors.core import Descriptor, TensorDesc
from specgate.descriptors.positional import build, positional
from specgate.dialects.onnx.reader import NAME, attribute_value
from specgate.rules.language import NUMBER, NUMBERS, TENSOR, TENSORS, Attribute, Scope, Vocabulary
from specgate.spec.fields import FieldInfo, Layout
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specgate.spec.dialect_spec import Dialect
    from specgate.spec.operator_spec import OperatorSpec

#: Maximum number of tensors with a positional name in expressions: input0, output0 and so on.
MAX_NAMED: Final = 12
_POSITIONS: Final = tuple(f"{end}{i}" for end in ("input", "output") for i in range(MAX_NAMED))
_VOCABULARY: Final = Vocabulary(attributes={"value": Attribute(NUMBERS, "value")})


class Schema(NamedTuple):
    """The fields of one operator over all versions.

    spec: its ONNX table, None if missing.
    """

    operator: str
    fields: Mapping[str, FieldInfo]
    spec: OperatorSpec | None

    @property
    def scope(self) -> Scope:
        """Return the names that expressions of a lowering table may use.

        They are fields, tensors by position, and a loop's `i`. ``present(X.value)`` is whether the elements of a tensor
        are known.
        """
        optional = {
            name
            for name, f in self.fields.items()
            if (f.optional and f.default is None) or f.kind != "attribute" or f.since or f.until or f.forms
        }
        kinds = {name: info.rule_kind for name, info in self.fields.items()}
        by_position = {**dict.fromkeys(_POSITIONS, TENSOR), "inputs": TENSORS, "outputs": TENSORS}
        words = self.spec.words if self.spec else dialect(NAME).words
        fields = {**by_position, **kinds, "i": NUMBER}

        def stretch(since: str | None, until_level: str | None) -> Scope:
            texts_by_name = self.spec.scope.scope_between(since, until_level).fields if self.spec else {}
            return replace(scope, fields={**fields, **texts_by_name})

        scope = Scope(fields, frozenset({*optional, *_POSITIONS}), words=words, stretch=stretch, vocabulary=_VOCABULARY)
        return scope

    def layout(self, version: int) -> Layout:
        if self.spec is not None:
            return self.spec.layout(str(version))
        return Layout.make(self.fields, self.fields)

    def node(
        self,
        inputs: Sequence[TensorDesc | None],
        outputs: Sequence[TensorDesc | None],
        attributes: Mapping[str, Any],
        version: int,
    ) -> Descriptor:
        """Return the descriptor of a node.

        Parts that its operator does not define are recorded as oddities.
        """
        spec: Any = self.spec if self.spec is not None else _TableSubstitute(self)
        return build(spec, inputs, outputs, attributes, version=str(version), convert=attribute_value)

    def values(self, descriptor: Descriptor, version: int) -> dict[str, Any]:
        """Return the values of the names in `scope`, None for omitted parts."""
        layout = self.layout(version)
        infos_by_name = self.spec.fields_at(str(version)) if self.spec is not None else self.fields
        stated_entries = descriptor.fields
        entries: dict[str, Any] = dict.fromkeys(self.fields)
        entries |= {
            name: stated_entries.get(name, infos_by_name[name].default if name in infos_by_name else None)
            for name in self.fields
        }
        for end, infos in (("input", layout.inputs), ("output", layout.outputs)):
            tensors = [tensor if _is_given(tensor) else None for tensor in positional(stated_entries, infos)]
            entries[f"{end}s"] = entries.get(f"{end}s") or tensors
            entries |= {f"{end}{i}": tensors[i] if i < len(tensors) else None for i in range(MAX_NAMED)}
        return entries


def _is_given(tensor: Any) -> bool:
    return isinstance(tensor, TensorDesc) and (tensor.type is not None or tensor.sizes is not None)


class _TableSubstitute:
    """A substitute for an operator's table in `build`.

    Its operators are the same at all versions.
    """

    varies = False

    def __init__(self, schema: Schema) -> None:
        self.name = schema.operator
        self.fields = schema.fields
        self._layout = schema.layout(0)

    @cached_property
    def counted_outputs(self) -> frozenset[str]:
        return frozenset(self.fields)

    @property
    def dialect(self) -> Dialect:
        return dialect(NAME)

    @property
    def table(self) -> Any:
        return _UncheckedSpec

    def layout(self, _version: str | None) -> Layout:
        return self._layout


class _UncheckedSpec:
    unchecked_attributes = False


def needs_fields(operator: str) -> bool:
    """Return whether a lowering table must define an operator's fields.

    This is the case if ONNX's tables lack the operator, or describe its newest version only. The runtime's own
    operators differ from release to release.
    """
    table = dialect(NAME)
    return operator not in table.operators or operator.rpartition(".")[0] in table.tables.foreign


def schema_from(operator: str, fields: Mapping[str, Any] | None) -> Schema | None:
    """Return an operator's schema, None if it is unknown.

    It comes from ONNX's tables, or else from the `fields` of a lowering table.
    """
    table = dialect(NAME)
    if operator in table.operators and (fields is None or not needs_fields(operator)):
        spec = table.operator(operator)
        return Schema(operator, spec.fields, spec)
    if fields is None:
        return None
    return Schema(operator, {name: FieldInfo.make(name, raw) for name, raw in fields.items()}, None)
