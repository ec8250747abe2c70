"""Strategies for descriptors and for arrays that execute them."""

from __future__ import annotations

import difflib
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
from hypothesis import reject
from hypothesis import strategies as st

from specgate.descriptors.core import RECORDS, Descriptor, Symbol, TensorDesc, integer_limits, whole_numbers
from specgate.errors import InputError
from specgate.execution.containers import is_container, make_container
from specgate.execution.types import as_array, numpy_type
from specgate.generate.domains import SIZES, WILD, base_type, element_kind, number_limits, objects
from specgate.generate.near_misses import broken_descriptors
from specgate.generate.repair import consistent_constants
from specgate.generate.seeds import find_operator, named_level
from specgate.generate.walk import valid_descriptors
from specgate.rules.language import NUMBER, NUMBERS
from specgate.spec.tables import dialect as tables
from specgate.verdict import expect_basis

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from numpy.typing import NDArray

    from specgate.generate.near_misses import NearMiss
    from specgate.spec.dialect_spec import Dialect
    from specgate.spec.fields import FieldInfo
    from specgate.spec.operator_spec import OperatorSpec
    from specgate.verdict import Basis

#: Maximum number of elements of an input.
MAX_INPUT: Final = 2**20
_PALETTE: Final = 6
_FLOATS: Final = (0.0, 1.0, -1.0, 2.0, 3.0, -0.0, 0.5, -1.5, 100.0, float("nan"), float("inf"), float("-inf"), 1e30)
_TEXTS: Final = ("", "off", "on", "a b", "\u00e9\u4e2d", "\x00")


def arrays(descriptor: Descriptor, level: str | float) -> st.SearchStrategy[dict[str, NDArray[Any]]]:
    """Return a strategy for the input arrays of `descriptor` by name.

    Any value of the type may occur. Small integers are the most frequent; indices may be negative, out of range or
    huge, and floats may be nan, infinite or -0.0. A constant is omitted or has the descriptor's value. An input whose
    elements a rule reads (such as a depth) gets elements that are consistent with the rest of the descriptor. If none
    are found, its elements break only rules that are not structural, or are small. An array contains at most six
    different values.

    Raises InputError for an unknown size or type or an input of more than 2**20 elements, NoKernel for a type that
    numpy cannot represent.
    """
    level = named_level(descriptor.dialect, descriptor.operator, level)
    spec = find_operator(descriptor.dialect, descriptor.operator, descriptor.version or level)
    plan: dict[str, list[tuple[TensorDesc, np.dtype[Any] | None]]] = {}
    for info in spec.inputs:
        value = descriptor.fields.get(info.name)
        tensors = value if isinstance(value, list | tuple) and not isinstance(value, TensorDesc) else [value]
        plan[info.name] = [(t, _numpy_type(spec.dialect, t, info.name)) for t in tensors if t is not None]
    list_names = {info.name for info in spec.inputs if info.type == "tensor[]"}

    @st.composite
    def draw_arrays(draw: st.DrawFn) -> dict[str, Any]:
        fixed = consistent_constants(descriptor, level, lambda low, high: draw(st.integers(low, high)))
        entries: dict[str, Any] = {}
        for name, tensors in plan.items():
            if len(tensors) == 1 and tensors[0][0].value is not None and draw(st.booleans()):
                continue
            filled_arrays = [
                draw(
                    _draw_container(spec.dialect, tensor)
                    if dtype is None
                    else _draw_array(spec.dialect, tensor, dtype, fixed.get(name))
                )
                for tensor, dtype in tensors
            ]
            if filled_arrays and all(array is not None for array in filled_arrays):
                entries[name] = filled_arrays if name in list_names else filled_arrays[0]
        return entries

    return draw_arrays()


def _numpy_type(dialect: Dialect, tensor: TensorDesc, name: str) -> np.dtype[Any] | None:
    """Return the numpy type of a tensor's elements.

    None for sequences, optionals and maps.
    """
    if is_container(dialect, tensor.type):
        return None
    if not tensor.concrete or tensor.type not in dialect.types:
        raise InputError("expected a known type and sizes, to draw arrays for it", place=name)
    if prod(size for size in tensor.sizes or () if isinstance(size, int) and size) > MAX_INPUT:
        raise InputError(f"expected at most {MAX_INPUT} elements, to draw arrays for it", place=name)
    return numpy_type(dialect, tensor.type)


@st.composite
def _draw_container(draw: st.DrawFn, dialect: Dialect, tensor: TensorDesc) -> Any:
    """Draw a sequence, optional or map of up to two arrays of one shape."""

    def array(word: str) -> Any:
        return draw(_draw_array(dialect, TensorDesc(word, (2, 3)), numpy_type(dialect, word), None))

    return make_container(str(tensor.type), dialect, array, draw(st.integers(0, 2)))


@st.composite
def _draw_array(
    draw: st.DrawFn, dialect: Dialect, tensor: TensorDesc, dtype: np.dtype[Any], fixed: tuple[Any, ...] | None
) -> NDArray[Any] | None:
    """Draw one array.

    None for a constant with too many elements or with elements that do not fit its type.
    """
    shape = tuple(size for size in tensor.sizes or () if isinstance(size, int))
    if fixed is not None:
        try:
            return as_array(list(fixed), dtype, (prod(shape),), "a constant").reshape(shape)
        except InputError:
            return None
    count = prod(shape)
    result: NDArray[Any] = np.empty(count, dtype)
    kind, bits = element_kind(dialect, tensor.type)
    element = _elements(kind, bits)
    palette = [draw(element) for _ in range(min(count, draw(st.integers(1, _PALETTE))))]
    with np.errstate(over="ignore"):
        colours = np.array(palette, dtype=dtype)
    if count <= _PALETTE:
        chosen_indices = [draw(st.integers(0, len(palette) - 1)) for _ in range(count)]
    else:
        chosen_indices = list(np.random.default_rng(draw(st.integers(0, 2**32 - 1))).integers(0, len(palette), count))
    result[:] = colours[np.array(chosen_indices, dtype=np.intp)] if count else result
    return result.reshape(shape)


def _elements(kind: str, bits: int) -> st.SearchStrategy[Any]:
    """Return a strategy for elements of a type; small ones are frequent."""
    if kind in "iu":
        low, high = integer_limits(bits, signed=kind != "u")
        small = st.integers(max(low, -9), min(high, 16))
        return small | small | st.integers(low, high) | st.sampled_from([high, low, high // 2])
    if kind == "O":
        return st.sampled_from(_TEXTS) | st.text(max_size=3)
    if kind == "b":
        return st.booleans()
    width: Literal[16, 32, 64] = 64 if (kind, bits) in {("f", 64), ("c", 128)} else 32 if bits >= 32 else 16
    numbers = st.sampled_from(_FLOATS) | st.integers(-9, 16).map(float) | st.floats(width=width)
    return st.builds(complex, numbers, numbers) if kind == "c" else numbers


_SYMBOLS: Final = ("N", "batch", "seq_len")


def _make_pick(draw: st.DrawFn) -> Callable[[int, int], int]:
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
        return valid_descriptors(spec, level, basis).draw(_make_pick(draw))

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
    def draw_near_miss(draw: st.DrawFn) -> NearMiss:
        source = broken_descriptors(spec, level)
        miss = source.draw(breaks or draw(st.sampled_from(source.ids)), _make_pick(draw))
        return reject() if miss is None else miss

    return draw_near_miss()


def finding_ids(dialect: str, operator: str, level: str | float) -> list[str]:
    """Return the ids of the findings that `near_valid` can trigger."""
    level = named_level(dialect, operator, level)
    return broken_descriptors(find_operator(dialect, operator, level), level).ids


def _check_breaks(spec: OperatorSpec, level: str, breaks: str) -> None:
    source = broken_descriptors(spec, level)
    if breaks not in source.aims:
        similar = difflib.get_close_matches(breaks, source.aims, 3)
        hint = f"did you mean {' or '.join(similar)}?" if similar else f"expected one of {', '.join(source.aims)}"
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
    fields_strategy = st.fixed_dictionaries(fields)
    return fields_strategy.map(
        lambda entries: Descriptor(dialect, operator, {k: v for k, v in entries.items() if v is not None})
    )


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
    read_paths = {key for form in spec.dialect.tensor_rules for key in form.require.needs}
    numbers = st.sampled_from([0, 1, 2, 3, 4, 16, 48, 2**31, 2**32 - 1])
    strategies_by_name = {NUMBER: numbers, NUMBERS: st.lists(numbers, max_size=9).map(tuple)}
    attributes = spec.dialect.vocabulary.attributes.items()
    slots: dict[str, st.SearchStrategy[Any]] = dict.fromkeys(TensorDesc._field_defaults, st.none())
    slots |= {
        attribute.slot: st.none() | strategies_by_name[attribute.kind]
        for name, attribute in attributes
        if f"tensor.{name}" in read_paths
    }
    sizes = st.lists(st.sampled_from((*SIZES, *WILD)) | st.sampled_from(SIZES), max_size=9)
    optional_has_element = any(
        f"{name}.value" in form.require.needs for form in spec.rule_forms for name in spec.fields
    )
    values = st.lists(st.integers(-3, 9) | st.sampled_from([0.5, -1.5]), max_size=2).map(tuple)
    if optional_has_element:
        slots["value"] = st.none() | values
    return st.builds(TensorDesc, st.sampled_from(list(spec.dialect.types)), sizes.map(tuple), **slots)


def with_unknown_sizes(descriptor: Descriptor) -> st.SearchStrategy[Descriptor]:
    """Return a strategy for a descriptor with sizes or shapes unknown.

    Sizes may become unknown or symbolic. Two sizes with one name are stated to be equal, so only equal sizes get the
    same name, and names in the descriptor are not given again. At least one tensor changes, if there is one with a
    dimension. If the shape of a constant is unknown, so are its elements.
    """
    names = [n for n, value in descriptor.fields.items() if isinstance(value, TensorDesc)]

    @st.composite
    def vague(draw: st.DrawFn) -> Descriptor:
        chosen_names = draw(st.lists(st.sampled_from(names), min_size=1, unique=True)) if names else []
        fields = dict(descriptor.fields)
        used_symbols = {size for name in names for size in fields[name].sizes or () if isinstance(size, Symbol)}
        for name in chosen_names:
            fields[name] = draw(_vague_tensor(fields[name], used_symbols))
        return replace(descriptor, fields=fields, plain=False)

    return vague()


def _vague_tensor(tensor: TensorDesc, used_symbols: Collection[Symbol]) -> st.SearchStrategy[TensorDesc]:
    if tensor.sizes is None:
        return st.just(tensor)
    bare_tensor = tensor._replace(value=None)
    unranked = st.just(bare_tensor._replace(sizes=None))
    if not tensor.sizes:
        return unranked
    positions = st.sets(st.integers(0, len(tensor.sizes) - 1), min_size=1)

    @st.composite
    def draw_tensor(draw: st.DrawFn) -> TensorDesc:
        hidden = draw(positions)
        sizes = tuple(
            draw(_vague_size(size, used_symbols)) if d in hidden else size for d, size in enumerate(tensor.sizes or ())
        )
        return bare_tensor._replace(sizes=sizes)

    return draw_tensor() | draw_tensor() | unranked


def _vague_size(size: int | Symbol | None, used_symbols: Collection[Symbol]) -> st.SearchStrategy[Symbol | None]:
    if size is None or isinstance(size, Symbol):
        return st.sampled_from([size, None])
    symbols = [Symbol(f"{name}{size}") for name in _SYMBOLS]
    return st.sampled_from([None, *[symbol for symbol in symbols if symbol not in used_symbols]])
