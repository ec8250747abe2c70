"""Linear attention and causal convolution with a carried state.

ONNX CausalConvWithState, LinearAttention.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import require_shape, round_to
from specgate.execution.kernels.attention import working
from specgate.execution.kernels.elementwise import quiet, want_float

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["attend_linearly", "filter_causally"]

#: By rule: whether the state decays, and whether the value is reduced by what the state holds for the key (delta rule).
_RULES: Final = {
    "linear": (False, False), "gated": (True, False), "delta": (False, True), "gated_delta": (True, True),
}  # fmt: skip
_ACTIVATIONS: Final = ("none", "silu", "swish")


def attend_linearly(
    query: NDArray[Any],
    key: NDArray[Any],
    value: NDArray[Any],
    past: NDArray[Any] | None = None,
    decay: NDArray[Any] | None = None,
    rate: NDArray[Any] | None = None,
    *,
    rule: str,
    heads: int,
    shared_heads: int,
    scale: float = 0.0,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return linear attention, and the last state.

    query: [batch, time, heads * size], key, value: [batch, time, shared_heads * size]; each shared head serves an equal
    number of consecutive query heads. past: initial state, [batch, shared_heads, key size, value size], default zeros.
    rule: linear, gated, delta or gated_delta; gated: the state is first multiplied by exp(decay); delta: the state's
    value for the key is subtracted from the value, and the difference times `rate` is written. decay: [batch, time,
    shared_heads] or per key element; rate: [batch, time, shared_heads or 1]. scale: 0 for 1 / sqrt(size).
    """
    want_float("attention", query, key, value)
    if rule not in _RULES or {query.ndim, key.ndim, value.ndim} != {3} or min(heads, shared_heads) < 1:
        raise InputError(f"attention: expected 3 dimensions, heads and one of {', '.join(_RULES)}, found {rule!r:.40}")
    gated, delta = _RULES[rule]
    if (gated and decay is None) or (delta and rate is None) or heads % shared_heads:
        raise InputError(f"attention: {rule} lacks an input, or {heads} heads do not share {shared_heads}")
    batch, time, _ = query.shape
    kind = working(query)
    parts = [
        _by_heads(each, count, (batch, time), kind)
        for each, count in ((query, heads), (key, shared_heads), (value, shared_heads))
    ]
    array, keys, values = parts
    size, width = keys.shape[3], values.shape[3]
    if array.shape[3] != size:
        raise InputError(f"attention: queries of {array.shape[3]} do not match keys of {size}")
    state_shape = (batch, shared_heads, size, width)
    if past is not None:
        require_shape("attention", "a state", past.shape, state_shape)
    state = np.zeros(state_shape, kind) if past is None else past.astype(kind)
    drop = None if decay is None else _factors(decay, (batch, time), (shared_heads, shared_heads * size), kind)
    part = None if rate is None else _factors(rate, (batch, time), (shared_heads, 1), kind)
    result = memory.empty((batch, time, heads, width), kind)
    factor = kind.type(scale or 1 / np.sqrt(max(size, 1)))
    with quiet():
        for at in memory.in_time(range(time)):
            new, known_array = values[:, at], keys[:, at]
            if gated and drop is not None:
                state = state * np.exp(drop[:, at].reshape(batch, shared_heads, drop.shape[2] // shared_heads, 1))
            if delta and part is not None:
                new = part[:, at, :, None] * (new - (known_array[:, :, None] @ state)[:, :, 0])
            state = state + known_array[..., None] * new[..., None, :]
            grouped = array[:, at].reshape(batch, shared_heads, heads // shared_heads, size)
            result[:, at] = ((grouped @ state) * factor).reshape(batch, heads, width)
        last = round_to(state, query.dtype if past is None else past.dtype)
        return round_to(result.reshape(batch, time, heads * width), query.dtype), last


def _by_heads(array: NDArray[Any], heads: int, ahead: tuple[int, int], kind: np.dtype[Any]) -> NDArray[Any]:
    """Return [batch, time, heads, size]."""
    if array.shape[:2] != ahead or array.shape[2] % heads:
        raise InputError(f"attention: {list(array.shape)} cannot be divided into {heads} heads of {list(ahead)}")
    return array.astype(kind).reshape(*ahead, heads, array.shape[2] // heads)


def _factors(array: NDArray[Any], ahead: tuple[int, int], counts: tuple[int, int], kind: np.dtype[Any]) -> NDArray[Any]:
    if array.ndim != 3 or array.shape[:2] != ahead or array.shape[2] not in counts:
        raise InputError(f"attention: {list(array.shape)} are no factors for {list(ahead)} and {list(counts)}")
    return array.astype(kind)


def filter_causally(
    inputs: NDArray[Any],
    filters: NDArray[Any],
    bias: NDArray[Any] | None = None,
    past: NDArray[Any] | None = None,
    *,
    activation: str = "none",
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the causal depthwise convolution, and the next state.

    inputs: [batch, channels, length]. filters: [channels, 1, k]. bias: [channels]. past: inputs before the first,
    [batch, channels, k - 1], default zeros. activation: none, or silu (also called swish), x * sigmoid(x).
    """
    want_float("convolution", inputs, filters)
    if inputs.ndim != 3 or activation not in _ACTIVATIONS or filters.ndim != 3 or not filters.shape[2]:
        raise InputError(
            f"convolution: expected 3 dimensions and one of {', '.join(_ACTIVATIONS)}, found {activation!r:.40}"
        )
    batch, channels, length = inputs.shape
    window = filters.shape[2]
    require_shape("convolution", "filters", filters.shape, (channels, 1, window))
    before = np.zeros((batch, channels, window - 1), inputs.dtype) if past is None else past
    require_shape("convolution", "a past", before.shape, (batch, channels, window - 1))
    if bias is not None:
        require_shape("convolution", "a bias", bias.shape, (channels,))
    memory.hold((batch, channels, length + window - 1), np.dtype(np.float64))
    whole = np.concatenate([before, inputs], axis=2)
    kind = working(inputs)
    with quiet():
        wide, weights = whole.astype(kind), filters.astype(kind)
        total = np.zeros(inputs.shape, kind)
        for at in memory.in_time(range(window)):
            total += wide[:, :, at : at + length] * weights[:, 0, at, None]
        total = total if bias is None else total + bias.astype(kind)[:, None]
        result = total if activation == "none" else total / (1 + np.exp(-total))
        return round_to(result, inputs.dtype), np.ascontiguousarray(whole[:, :, length:])
