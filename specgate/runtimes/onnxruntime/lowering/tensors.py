"""Tensor descriptions of the DirectML provider.

Sizes are padded with leading ones to four dimensions, and broadcast dimensions have stride 0. Source:
microsoft/onnxruntime, onnxruntime/core/providers/dml/DmlExecutionProvider/src/TensorDesc.cpp at
a30ebf1f3fb5405094e7174aa300bfda41807c7a.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from specgate.descriptors.core import UNKNOWN, Symbol, TensorDesc
from specgate.rules.language import TENSOR, TENSORS
from specgate.runtimes.onnxruntime.lowering.expressions import FormError, numbers_form, rule_of
from specgate.runtimes.onnxruntime.lowering.state import TENSOR_NAME, ProviderRefusal, UnknownValue
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from specgate.rules.language import Rule, Scope
    from specgate.runtimes.onnxruntime.lowering.state import State

Sizes = tuple[int, ...]


def pad_sizes(sizes: Sequence[int], least: int, alignment: str = "right") -> Sizes:
    """Return sizes padded with ones to `least` dimensions.

    alignment: where the ones go, a key of `ALIGNMENTS`.
    """
    return ALIGNMENTS[alignment](tuple(sizes), max(0, least - len(sizes)))


def _spatial(sizes: Sizes, ones_count: int) -> Sizes:
    return sizes[:2] + (1,) * ones_count + sizes[2:]


def _align_at(place: int) -> Callable[[Sizes, int], Sizes]:
    """Return a function that pads so that the first size is at a position.

    It adds leading ones only up to the rank.
    """

    def align(sizes: Sizes, ones_count: int) -> Sizes:
        before = min(place, ones_count)
        return (1,) * before + sizes + (1,) * (ones_count - before)

    return align


#: Ones go before all sizes; after all; between batch, channel and the rest; or so that the first size is the channel
#: dimension or the one after it.
ALIGNMENTS: Final[Mapping[str, Callable[[Sizes, int], Sizes]]] = {
    "right": lambda sizes, ones_count: (1,) * ones_count + sizes,
    "left": lambda sizes, ones_count: sizes + (1,) * ones_count,
    "spatial": _spatial,
    "channel": _align_at(1),
    "height": _align_at(2),
}


def as_uint(number: float) -> int:
    """Return a number as an unsigned 32-bit integer.

    The provider passes on negative numbers without a check.
    """
    return int(number) & 0xFFFFFFFF


def packed_strides(sizes: Sequence[int]) -> Sizes:
    """Return the strides of a tensor without gaps."""
    strides, stride = [], 1
    for size in reversed(sizes):
        strides.append(stride)
        stride *= size
    return tuple(reversed(strides))


def broadcast_strides(numbers: Sequence[int], rank: int) -> Sizes:
    """Return the strides that broadcast `numbers` to `rank` dimensions.

    A size that is 1 or missing has stride 0. Raises Refused for more sizes than dimensions.
    """
    if len(numbers) > rank:
        raise ProviderRefusal("broadcast", f"cannot broadcast a tensor of {len(numbers)} dimensions to {rank}")
    strides, stride = [0] * rank, 1
    for position_from_end, size in enumerate(reversed(numbers), 1):
        if size != 1:
            strides[rank - position_from_end] = stride
            stride *= size
    return tuple(strides)


_KEYS: Final = ("of", "as", "sizes", "over", "permute", "strides", "align", "at_least")
_UNSIGNED: Final = {"INT64": "UINT64", "INT32": "UINT32", "INT16": "UINT16", "INT8": "UINT8"}

#: Sizes of a partially known node, None for an unknown size.
OpenSizes = tuple[Any, ...]


class FieldReference(NamedTuple):
    """A reference to a field, or to an element of an array of tensors."""

    name: str
    at: Rule | None

    @classmethod
    def make(cls, text: Any, scope: Scope) -> FieldReference:
        """Parse ``X`` or ``inputs[i]``; raise FormError."""
        match = TENSOR_NAME.fullmatch(text) if isinstance(text, str) else None
        if match is None or scope.fields.get(match[1]) != (TENSOR if match[2] is None else TENSORS):
            raise FormError(f"expected the name of a tensor, found {text!r:.60}")
        return cls(match[1], None if match[2] is None else rule_of(match[2], scope, "number"))

    def tensor(self, state: State, i: int) -> TensorDesc | None:
        """Return the tensor, None if the node omits it."""
        result = state.get(self.name)
        if self.at is not None and result is not None:
            index = state.value(self.at, i)
            if index is UNKNOWN:
                raise UnknownValue(f"the index into {self.name} is unknown before the first run")
            if not 0 <= index < len(result):
                raise ProviderRefusal("unusable", f"{self.name}[{index}] does not exist")
            result = result[index]
            if isinstance(result, TensorDesc) and result.type is None and result.sizes is None:
                raise UnknownValue(f"{self.name}[{index}] has no type and sizes")
        return result if isinstance(result, TensorDesc) else None


def _sizes_of(state: State, tensor: TensorDesc, name: str) -> OpenSizes:
    sizes = tensor.sizes
    if state.partial and sizes is not None:
        return _open_sizes(sizes)
    if sizes is None or not all(isinstance(size, int) for size in sizes):
        raise UnknownValue(f"the sizes of {name} are unknown before the first run")
    return tuple(int(size) for size in sizes if isinstance(size, int))


def _open_sizes(sizes: Sequence[Any]) -> OpenSizes:
    return tuple([None if size is UNKNOWN or isinstance(size, Symbol) else size for size in sizes])


def describe_tensor(
    state: State,
    word: str,
    sizes: OpenSizes,
    strides: OpenSizes | None,
    *,
    alignment: str = "right",
    least: int | None = None,
) -> TensorDesc:
    """Return a DirectML tensor padded to `least` dimensions.

    The default of None is the provider's minimum. Raises Refused.
    """
    if len(sizes) > state.most:
        raise ProviderRefusal(
            "rank", f"a tensor has {len(sizes)} dimensions, but the provider supports at most {state.most}"
        )
    least = state.least if least is None else least
    numbers = pad_sizes(sizes, least, alignment)
    if strides is not None and len(strides) < len(numbers):
        missing_count = len(numbers) - len(strides)
        strides = (0,) * missing_count + strides if alignment == "right" else strides + (0,) * missing_count
    return TensorDesc(word, numbers, strides)


class TensorForm:
    """A tensor of a table.

    A call with a node returns the tensor, None if the node lacks it.
    """

    def __init__(self, raw: dict[str, Any], scope: Scope) -> None:
        for key in raw:
            if key not in _KEYS:
                raise FormError(f"unknown key; known: {', '.join(_KEYS)}", key)
        if "of" not in raw and not {"as", "sizes"} <= set(raw):
            raise FormError("expected either `of`, or `as` and `sizes`")
        if raw.get("align", "right") not in ALIGNMENTS:
            raise FormError(f"expected one of {', '.join(ALIGNMENTS)}", "align")

        def sizes(key: str) -> Callable[[State, int], Any] | None:
            if key not in raw:
                return None
            return _sizes_form(raw[key], scope) if key in {"over", "sizes"} else numbers_form(raw[key], scope, int)

        self.of = FieldReference.make(raw["of"], scope) if "of" in raw else None
        self.type = _type_form(raw.get("as"), scope)
        self.sizes, self.over = sizes("sizes"), sizes("over")
        self.permute, self.strides = sizes("permute"), sizes("strides")
        self.align: str = raw.get("align", "right")
        least = raw.get("at_least")
        self.least = rule_of(str(least), scope, "number") if least is not None else None

    @classmethod
    def make(cls, raw: Any, scope: Scope) -> TensorForm:
        """Parse a table's entry; raise FormError."""
        entry = {"of": raw} if isinstance(raw, str) else raw
        if not isinstance(entry, dict):
            raise FormError("expected a tensor")
        return cls(entry, scope)

    def __call__(self, state: State, i: int) -> TensorDesc | None:
        tensor = None
        if self.of is not None:
            tensor = self.of.tensor(state, i)
            if tensor is None:
                return None
        word = self.type(state, i, tensor) if self.type else state.dml_type(tensor)  # type: ignore[arg-type]
        if word is None:
            return None
        sizes = _evaluate_sizes(self.sizes, state, i)
        if sizes is None:
            if tensor is None or self.sizes is not None:
                return None
            sizes = _sizes_of(state, tensor, self.of.name)  # type: ignore[union-attr]
        strides = _evaluate_sizes(self.strides, state, i)
        least = state.value(self.least, i) if self.least is not None else None
        if least is UNKNOWN:
            raise UnknownValue("the rank of a tensor is unknown before the first run")
        if self.over is not None:
            items = _evaluate_sizes(self.over, state, i)
            if items is not None and items != sizes:
                rank = max(len(items), state.least if least is None else least)
                strides, sizes = _broadcast(sizes, rank), items
        if self.permute is not None and (order := _evaluate_sizes(self.permute, state, i)) is not None:
            sizes, strides = _permute_dimensions(sizes, strides, order)
        new_tensor = describe_tensor(state, word, sizes, strides, alignment=self.align, least=least)
        if tensor is not None:
            state.origins.append((new_tensor, tensor))
        return new_tensor


def _sizes_form(entry: Any, scope: Scope) -> Callable[[State, int], Any]:
    """Return a function that gives sizes, from a tensor or a list."""
    if isinstance(entry, str) and _names_tensor(entry, scope):
        selector = FieldReference.make(entry, scope)
        return lambda state, i: None if (t := selector.tensor(state, i)) is None else _sizes_of(state, t, selector.name)
    return numbers_form(entry, scope, int)


def output_sizes(name: str, entry: Any, scope: Scope) -> Callable[[State, int], Any]:
    """Return a function that gives an output's sizes; raise FormError.

    The provider computes these sizes.
    """
    FieldReference.make(name, scope)
    return _sizes_form(entry, scope)


def _broadcast(sizes: OpenSizes, rank: int) -> OpenSizes:
    if None in sizes and len(sizes) <= rank:
        return (0,) * (rank - len(sizes)) + (None,) * len(sizes)
    return broadcast_strides(sizes, rank)


def _permute_dimensions(sizes: OpenSizes, strides: OpenSizes | None, order: OpenSizes) -> tuple[OpenSizes, OpenSizes]:
    if sorted(order) != list(range(len(sizes))):
        raise ProviderRefusal("unusable", f"{list(order)} is not a permutation of {len(sizes)} dimensions")
    steps = strides or ((None,) * len(sizes) if None in sizes else packed_strides(sizes))
    return tuple(sizes[index] for index in order), tuple(steps[index] for index in order)


def _evaluate_sizes(form: Callable[[State, int], Any] | None, state: State, i: int) -> OpenSizes | None:
    result = None if form is None else form(state, i)
    return None if result is None else _open_sizes(result)


def _names_tensor(text: str, scope: Scope) -> bool:
    match = TENSOR_NAME.fullmatch(text)
    return match is not None and scope.fields.get(match[1]) == (TENSOR if match[2] is None else TENSORS)


def _type_form(raw: Any, scope: Scope) -> Callable[[State, int, TensorDesc | None], str | None] | None:
    if raw is None:
        return None
    if raw == "unsigned":
        return lambda state, _i, tensor: _unsigned_type(state.dml_type(tensor)) if tensor is not None else None
    if raw in dialect("directml").types:
        return lambda _state, _i, _tensor: raw
    if not _names_tensor(str(raw), scope):
        rule = rule_of(str(raw), scope, "word")
        return lambda state, i, _tensor: None if (word := state.value(rule, i)) is None else str(word)
    selector = FieldReference.make(raw, scope)
    return lambda state, i, _tensor: None if (other := selector.tensor(state, i)) is None else state.dml_type(other)


def _unsigned_type(word: str) -> str:
    if word not in _UNSIGNED and word not in _UNSIGNED.values():
        raise ProviderRefusal("type", f"{word} is not an integer type")
    return _UNSIGNED.get(word, word)
