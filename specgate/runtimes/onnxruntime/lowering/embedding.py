"""EmbedLayerNormalization and RotaryEmbedding: table rows by index."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, NamedTuple

from specgate.dialects.directml.vocabulary import ScaleBias
from specgate.runtimes.onnxruntime.lowering.state import ProviderRefusal
from specgate.runtimes.onnxruntime.lowering.tensor_builder import (
    bare,
    broadcast_tensor,
    operator,
    optional_tensor,
    provider_tensor,
    tensor_of,
    tensor_shape,
)
from specgate.runtimes.onnxruntime.lowering.tensors import as_uint

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from specgate.descriptors.core import Descriptor, TensorDesc
    from specgate.runtimes.onnxruntime.lowering.state import State


def _sequence(word: str, sizes: Sequence[int], start: float, delta: float) -> Descriptor:
    return operator(
        "FILL_VALUE_SEQUENCE",
        OutputTensor=bare(word, sizes),
        ValueDataType=word,
        ValueStart=start,
        ValueDelta=delta,
    )


def _gather_rows(
    table: TensorDesc, indices: TensorDesc, batch: int, length: int, width: int | None = None
) -> Descriptor:
    """Return a gather of rows of a 2-D table, described with four dimensions.

    width: row size of the output, None for the table's.
    """
    return operator(
        "GATHER",
        InputTensor=table,
        IndicesTensor=indices,
        OutputTensor=bare(str(table.type), (1, batch, length, tensor_shape(table)[-1] if width is None else width)),
        Axis=2,
        IndexDimensions=2,
    )


def embedding(state: State) -> Iterator[Descriptor]:
    """Yield the operators of an EmbedLayerNormalization."""
    ids, words = tensor_of(state, "input_ids"), tensor_of(state, "word_embedding")
    if len(tensor_shape(ids)) != 2:
        raise ProviderRefusal("input-rank", "the indices must have two dimensions")
    batch, length = tensor_shape(ids)
    mask, positions, segments = (optional_tensor(state, name) for name in ("mask", "position_ids", "segment_ids"))
    for table in (words, tensor_of(state, "position_embedding"), optional_tensor(state, "segment_embedding")):
        if table is not None and len(tensor_shape(table)) != 2:
            raise ProviderRefusal("table-rank", "a table must have two dimensions")
    word = state.dml_type(words)
    output_tensor = bare(word, (1, batch, length, tensor_shape(words)[-1]))
    if mask is None:
        yield _constant(0)
    position_indices = broadcast_tensor("INT32", (1, 1, batch, length), (length,))
    if positions is None:
        yield _sequence("INT32", (1, 1, 1, length), 0, 1)
    elif tensor_shape(positions)[0] != 1:
        position_indices = provider_tensor(state, positions)
    yield _gather_rows(provider_tensor(state, words), provider_tensor(state, ids), batch, length)
    yield _gather_rows(provider_tensor(state, tensor_of(state, "position_embedding")), position_indices, batch, length)
    sum_operator = operator(
        "ELEMENT_WISE_ADD", ATensor=output_tensor, BTensor=output_tensor, OutputTensor=output_tensor
    )
    if segments is not None:
        table = provider_tensor(state, tensor_of(state, "segment_embedding"))
        yield _gather_rows(table, provider_tensor(state, segments), batch, length)
        yield sum_operator
    yield sum_operator
    yield operator(
        "MEAN_VARIANCE_NORMALIZATION1",
        InputTensor=output_tensor,
        ScaleTensor=provider_tensor(state, tensor_of(state, "gamma")),
        BiasTensor=provider_tensor(state, tensor_of(state, "beta")),
        OutputTensor=output_tensor,
        Axes=[3],
        NormalizeVariance=True,
        Epsilon=float(state.get("epsilon")),
    )
    if mask is not None:
        yield _constant(1)
        yield from _count_mask(batch, length)


def _constant(value: int) -> Descriptor:
    tensor = bare("INT32", (1, 1, 1, 1))
    return operator("FILL_VALUE_CONSTANT", OutputTensor=tensor, ValueDataType="INT32", Value=value)


def _count_mask(batch: int, length: int) -> Iterator[Descriptor]:
    sizes = (1, 1, batch, length)
    yield operator(
        "ELEMENT_WISE_LOGICAL_EQUALS",
        ATensor=bare("INT32", sizes),
        BTensor=broadcast_tensor("INT32", sizes, ()),
        OutputTensor=bare("UINT32", sizes),
    )
    yield operator(
        "REDUCE",
        Function="SUM",
        InputTensor=bare("INT32", sizes),
        OutputTensor=bare("INT32", (1, 1, batch, 1)),
        Axes=[3],
    )


class _Rotation(NamedTuple):
    """The sizes of a RotaryEmbedding.

    part: number of rotated elements per head. swapped: heads come before positions.
    """

    word: str
    batch: int
    length: int
    heads: int
    head: int
    part: int
    swapped: bool
    interleaved: bool

    @property
    def whole(self) -> tuple[int, ...]:
        return self.batch, self.length, self.heads, self.part

    @property
    def pairs(self) -> tuple[int, ...]:
        half = self.part // 2
        return self.whole[:3] + ((half, 2) if self.interleaved else (2, half))

    def rotated_tensor(self) -> TensorDesc:
        """Return the rotated part with the dimensions of the node's tensor."""
        strides = (self.heads * self.length * self.part, self.part, self.length * self.part, 1)
        return bare(self.word, self.whole, strides if self.swapped else None)


def _rotation_sizes(state: State, *, has_position_ids: bool) -> _Rotation:
    """Return the sizes of a rotation.

    has_position_ids: from the node's attributes, else from its table of cosines alone.
    """
    data, cosines = tensor_of(state, "input"), tensor_of(state, "cos_cache")
    sizes, table = tensor_shape(data), tensor_shape(cosines)
    swapped = len(sizes) == 4
    if len(sizes) > 4:
        raise ProviderRefusal("input-rank", "the input must have at most four dimensions")
    if len(table) != 2:
        raise ProviderRefusal("table-rank", "the cosines must have two dimensions")
    if 0 in sizes or 0 in table:
        raise ProviderRefusal("no-elements", "neither the input nor the cosines may be empty")
    batch, length = (sizes[0] if len(sizes) > 2 else 1), (sizes[-2] if len(sizes) > 1 else 1)
    hidden = prod(sizes) // (batch * length)
    heads, head, part = _stated_heads(state, sizes, hidden) if has_position_ids else (0, 0, 0)
    head = head or 2 * table[-1]
    if not has_position_ids and sizes[-1] % head:
        raise ProviderRefusal("heads", "the elements per position must be a multiple of the head size")
    heads = heads or hidden // head
    if not heads:
        raise ProviderRefusal("heads", "each position must have at least as many elements as one head")
    interleaved = bool(state.get("interleaved"))
    return _Rotation(state.dml_type(data), batch, length, heads, head, part or head, swapped, interleaved)


def _stated_heads(state: State, sizes: Sequence[int], hidden: int) -> tuple[int, int, int]:
    """Return the stated number of heads, head size and rotated size.

    A value is 0 if it is not stated.
    """
    heads, part = (as_uint(state.get(name)) for name in ("num_heads", "rotary_embedding_dim"))
    if part and not heads:
        raise ProviderRefusal("heads", "rotary_embedding_dim requires num_heads")
    if len(sizes) == 4 and heads not in {0, sizes[1]}:
        raise ProviderRefusal("heads", "num_heads must be the second size of an input with four dimensions")
    if heads > hidden:
        raise ProviderRefusal("heads", "the number of heads must not exceed the elements per position")
    return heads, hidden // heads if heads else 0, part


def rotation(state: State) -> Iterator[Descriptor]:
    """Yield the operators of a RotaryEmbedding with its heads as attributes."""
    return _rotate_part(state, _rotation_sizes(state, has_position_ids=True))


def whole_rotation(state: State) -> Iterator[Descriptor]:
    """Yield the operators of a RotaryEmbedding that rotates whole heads.

    A head is twice as large as a row of cosines.
    """
    return _rotate_part(state, _rotation_sizes(state, has_position_ids=False))


def _rotate_part(state: State, turn: _Rotation) -> Iterator[Descriptor]:
    word, half, pairs = turn.word, turn.part // 2, turn.pairs
    full_tensor, paired = bare(word, turn.whole), bare(word, pairs)
    axis = 4 if turn.interleaved else 3
    column = bare(word, (*pairs[:axis], 1, *pairs[axis + 1 :]))
    position_ids = tensor_of(state, "position_ids")
    is_offset = len(tensor_shape(position_ids)) == 1
    positions = bare("INT64", (1, 1, turn.batch, turn.length)) if is_offset else provider_tensor(state, position_ids)
    identity = ScaleBias(1.0, 0.0)
    yield operator(
        "ELEMENT_WISE_IDENTITY", InputTensor=turn.rotated_tensor(), OutputTensor=full_tensor, ScaleBias=identity
    )
    yield operator("SPLIT", InputTensor=paired, OutputTensors=[column, column], Axis=axis)
    for name in ("cos_cache", "sin_cache"):
        yield _gather_rows(provider_tensor(state, tensor_of(state, name)), positions, turn.batch, turn.length, half)
    yield _sequence(word, (2,), -1.0, 2.0)
    yield operator("JOIN", InputTensors=[column, column], OutputTensor=paired, Axis=axis)
    angles = (turn.batch, turn.length, 1, half, 1) if turn.interleaved else (turn.batch, turn.length, 1, 1, half)
    signs = (1, 1, 1, 1, 2) if turn.interleaved else (1, 1, 1, 2, 1)
    for numbers in (angles, angles, signs):
        other = broadcast_tensor(word, pairs, numbers)
        yield operator("ELEMENT_WISE_MULTIPLY", ATensor=paired, BTensor=other, OutputTensor=paired)
    yield operator("ELEMENT_WISE_ADD", ATensor=full_tensor, BTensor=full_tensor, OutputTensor=turn.rotated_tensor())
    if is_offset:
        yield from _positions(turn, positions, tensor_shape(provider_tensor(state, position_ids)))
    if turn.part != turn.head:
        yield from _split_rest(turn)


def _split_rest(turn: _Rotation) -> Iterator[Descriptor]:
    """Yield operators that split off and rejoin the part not rotated.

    The node's memory order is kept.
    """
    batch, length, heads = turn.whole[:3]
    front = (batch, heads, length) if turn.swapped else (batch, length, heads)
    full_tensor = bare(turn.word, (*front, turn.head))
    parts = [bare(turn.word, (*front, turn.part)), bare(turn.word, (*front, as_uint(turn.head - turn.part)))]
    yield operator("SPLIT", InputTensor=full_tensor, OutputTensors=parts, Axis=3)
    yield operator("JOIN", InputTensors=parts, OutputTensor=full_tensor, Axis=3)


def _positions(turn: _Rotation, positions: TensorDesc, numbers: Sequence[int]) -> Iterator[Descriptor]:
    """Yield positions that count up from the given start positions.

    There is usually one start position.
    """
    yield _sequence("INT64", (1, 1, 1, turn.length), 0, 1)
    sizes = tensor_shape(positions)
    position_tensor = positions if turn.batch == 1 else broadcast_tensor("INT64", sizes, (turn.length,))
    first = positions if numbers == sizes else broadcast_tensor("INT64", sizes, numbers)
    yield operator("ELEMENT_WISE_ADD", ATensor=position_tensor, BTensor=first, OutputTensor=positions)
