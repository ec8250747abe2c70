"""Strategies for descriptors.

Valid, near-valid, and arbitrary descriptors, and descriptors with unknown sizes.
"""

from __future__ import annotations

import difflib
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from hypothesis import reject
from hypothesis import strategies as st

from specgate.descriptors.core import RECORDS, Descriptor, Symbol, TensorDesc, whole_numbers
from specgate.errors import InputError
from specgate.generate.domains import SIZES, WILD, base_type, number_limits, objects
from specgate.generate.near_misses import broken_descriptors
from specgate.generate.seeds import find_operator, named_level
from specgate.generate.walk import valid_descriptors
from specgate.rules.language import NUMBER, NUMBERS
from specgate.spec.tables import dialect as tables
from specgate.verdict import expect_basis

if TYPE_CHECKING:
    from collections.abc import Callable

    from specgate.generate.near_misses import NearMiss
    from specgate.spec.fields import FieldInfo
    from specgate.spec.operator_spec import OperatorSpec
    from specgate.verdict import Basis

__all__ = ["any_descriptors", "descriptors", "finding_ids", "near_valid", "with_unknown_sizes"]

_SYMBOLS: Final = ("N", "batch", "seq_len")


def _picks(draw: st.DrawFn) -> Callable[[int, int], int]:
    return lambda low, high: low if low == high else draw(st.integers(low, high))


def descriptors(
    dialect: str, operator: str, level: str | float, *, basis: Basis = "documented"
) -> st.SearchStrategy[Descriptor]:
    """Return a strategy for descriptors that `operator` accepts.

    It covers every type, rank, size, attribute value, memory layout, constant and choice of optional fields that the
    table allows at `level`. Tensors stay small (at most 256 elements for an input, 4096 for an output). Descriptors
    shrink toward the table's first example. basis: accepted according to the documentation ("documented"), the builds
    ("observed") or both.

    Raises InputError or NoTable immediately for an unknown dialect, operator, level or basis. When drawn from, raises
    InputError with the rules that reject most if no accepted descriptor is found.
    """
    level = named_level(dialect, operator, level)
    spec = find_operator(dialect, operator, level)
    expect_basis(basis)

    @st.composite
    def valid(draw: st.DrawFn) -> Descriptor:
        return valid_descriptors(spec, level, basis).draw(_picks(draw))

    return valid()


def near_valid(
    dialect: str, operator: str, level: str | float, *, breaks: str | None = None
) -> st.SearchStrategy[NearMiss]:
    """Return a strategy for descriptors with exactly one error.

    The documentation defines errors. breaks: the id of the finding, such as ``directml/ONE_HOT/axis-range``,
    ``directml/tensor/total-size`` or ``onnx/OneHot/indices.type``; by default any of `finding_ids`.

    Raises InputError or NoTable immediately for an unknown dialect, operator or level, and for a finding that does not
    exist or cannot occur alone at that level.
    """
    level = named_level(dialect, operator, level)
    spec = find_operator(dialect, operator, level)
    if breaks is not None:
        _check_breaks(spec, level, breaks)

    @st.composite
    def broken(draw: st.DrawFn) -> NearMiss:
        source = broken_descriptors(spec, level)
        miss = source.draw(breaks or draw(st.sampled_from(source.ids)), _picks(draw))
        return reject() if miss is None else miss

    return broken()


def finding_ids(dialect: str, operator: str, level: str | float) -> list[str]:
    """Return the ids of the findings that `near_valid` can trigger."""
    level = named_level(dialect, operator, level)
    return broken_descriptors(find_operator(dialect, operator, level), level).ids


def _check_breaks(spec: OperatorSpec, level: str, breaks: str) -> None:
    source = broken_descriptors(spec, level)
    if breaks not in source.aims:
        near = difflib.get_close_matches(breaks, source.aims, 3)
        hint = f"did you mean {' or '.join(near)}?" if near else f"expected one of {', '.join(source.aims)}"
        raise InputError(f"{spec.name} has no finding {breaks!r:.80} at {level}; {hint}")
    if not source.reachable(breaks):
        raise InputError(f"no descriptor of {spec.name} was found at {level} that has {breaks} and nothing else wrong")


def any_descriptors(dialect: str, operator: str) -> st.SearchStrategy[Descriptor]:
    """Return a strategy for arbitrary descriptors, mostly invalid.

    Raises InputError or NoTable immediately for an unknown dialect or operator.
    """
    spec = tables(dialect).operator(operator)
    fields = {
        info.name: st.none() | (st.lists(_value(spec, info), max_size=3) if info.type.endswith("[]") else strategy)
        for info in spec.fields.values()
        for strategy in [_value(spec, info)]
    }
    drawn = st.fixed_dictionaries(fields)
    return drawn.map(lambda entries: Descriptor(dialect, operator, {k: v for k, v in entries.items() if v is not None}))


def _value(spec: OperatorSpec, info: FieldInfo) -> st.SearchStrategy[Any]:
    base = base_type(info)
    if base == "tensor":
        return _tensors(spec)
    if base == "bool":
        return st.booleans()
    if base == "float":
        return st.floats(allow_nan=False)
    if base == "scalar":
        return st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False)
    if values := objects(spec.dialect, base):
        return st.sampled_from(values)
    if base in RECORDS:
        part = st.integers(0, 2**32 - 1) if whole_numbers(RECORDS[base]) else st.floats(allow_nan=False)
        return st.builds(RECORDS[base], part, part)
    if base == "operator":
        return st.sampled_from(list(spec.dialect.operators)).map(lambda name: Descriptor(spec.dialect.name, name, {}))
    if base in {"uint", "int", "uint64", "int64"}:
        low, high = number_limits(spec, info.name)
        return st.integers(max(low, -9), 9) | st.integers(low, high)
    return st.sampled_from(list(info.words)) | st.text(max_size=5) if info.words else st.text(max_size=5)


def _tensors(spec: OperatorSpec) -> st.SearchStrategy[TensorDesc]:
    read = {key for form in spec.dialect.tensor_rules for key in form.require.needs}
    numbers = st.sampled_from([0, 1, 2, 3, 4, 16, 48, 2**31, 2**32 - 1])
    strategies_by_name = {NUMBER: numbers, NUMBERS: st.lists(numbers, max_size=9).map(tuple)}
    attributes = spec.dialect.vocabulary.attributes.items()
    slots: dict[str, st.SearchStrategy[Any]] = dict.fromkeys(TensorDesc._field_defaults, st.none())
    slots |= {
        each.slot: st.none() | strategies_by_name[each.kind] for name, each in attributes if f"tensor.{name}" in read
    }
    sizes = st.lists(st.sampled_from((*SIZES, *WILD)) | st.sampled_from(SIZES), max_size=9)
    has_value = any(f"{name}.value" in form.require.needs for form in spec.rule_forms for name in spec.fields)
    values = st.lists(st.integers(-3, 9) | st.sampled_from([0.5, -1.5]), max_size=2).map(tuple)
    if has_value:
        slots["value"] = st.none() | values
    return st.builds(TensorDesc, st.sampled_from(list(spec.dialect.types)), sizes.map(tuple), **slots)


def with_unknown_sizes(descriptor: Descriptor) -> st.SearchStrategy[Descriptor]:
    """Return a strategy for a descriptor with sizes or shapes unknown.

    Sizes may become unknown or symbolic. At least one tensor changes, if there is one with a dimension. If the shape of
    a constant is unknown, so are its elements.
    """
    names = [n for n, value in descriptor.fields.items() if isinstance(value, TensorDesc)]

    @st.composite
    def vague(draw: st.DrawFn) -> Descriptor:
        chosen = draw(st.lists(st.sampled_from(names), min_size=1, unique=True)) if names else []
        fields = dict(descriptor.fields)
        for name in chosen:
            fields[name] = draw(_vague(fields[name]))
        return replace(descriptor, fields=fields, plain=False)

    return vague()


def _vague(tensor: TensorDesc) -> st.SearchStrategy[TensorDesc]:
    if tensor.sizes is None:
        return st.just(tensor)
    bare = tensor._replace(value=None)
    whole = st.just(bare._replace(sizes=None))
    if not tensor.sizes:
        return whole
    unknown = st.none() | st.sampled_from(_SYMBOLS).map(Symbol)
    positions = st.sets(st.integers(0, len(tensor.sizes) - 1), min_size=1)

    @st.composite
    def some(draw: st.DrawFn) -> TensorDesc:
        hidden = draw(positions)
        sizes = tuple(draw(unknown) if d in hidden else size for d, size in enumerate(tensor.sizes or ()))
        return bare._replace(sizes=sizes)

    return some() | some() | whole
