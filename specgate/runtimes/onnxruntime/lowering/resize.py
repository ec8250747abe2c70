"""Resize and Upsample: scales and pixel offsets of ONNX's modes.

Source: microsoft/onnxruntime, onnxruntime/core/providers/dml/DmlExecutionProvider/src/Operators/DmlOperatorResize.cpp
at 59e75cf60cc8f9275121a5999334fb784c72784d.
"""

from __future__ import annotations

from struct import pack, unpack
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from specgate.runtimes.onnxruntime.lowering.data_movement import without_ones
from specgate.runtimes.onnxruntime.lowering.state import ProviderRefusal, UnknownValue
from specgate.runtimes.onnxruntime.lowering.tensor_builder import (
    constant,
    operator,
    optional_tensor,
    provider_tensor,
    tensor_of,
    tensor_shape,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from specgate.descriptors.core import Descriptor
    from specgate.runtimes.onnxruntime.lowering.state import State

_MAX_FLOAT32: Final = 3.4028234663852886e38
_MODES: Final = {"nearest": "NEAREST_NEIGHBOR", "linear": "LINEAR", "bilinear": "LINEAR"}
#: For NEAREST_NEIGHBOR, the rounding direction and the offset in the input, per `nearest_mode`.
_NEAREST_MODES: Final = {
    "round_prefer_floor": ("INCREASING", 0.5),
    "round_prefer_ceil": ("DECREASING", -0.5),
    "floor": ("DECREASING", 0.0),
    "ceil": ("INCREASING", 0.0),
}


class _Dimension(NamedTuple):
    """One dimension: sizes, scale, and region of interest."""

    size: int
    target: int
    scale: float
    start: float
    end: float


class _Places(NamedTuple):
    """A coordinate's scale, and the offsets added before and after scaling."""

    scale: float
    before: float
    after: float


def _symmetric(d: _Dimension) -> _Places:
    return _Places(d.scale, 0.5 - d.size / 2.0 * (1.0 - d.target / (d.scale * d.size)), -0.5)


def _pytorch(d: _Dimension) -> _Places:
    return _Places(_MAX_FLOAT32, 0.0, 0.0) if d.size <= 1 else _Places(d.scale, 0.5, -0.5)


def _corners(d: _Dimension) -> _Places:
    scale = _MAX_FLOAT32 if d.size <= 1 or d.target <= 1 else (d.target - 1) / (d.size - 1)
    return _Places(scale, 0.0, 0.0)


def _crop_and_resize(d: _Dimension) -> _Places:
    if d.size <= 1:
        return _Places(1.0, -0.5 * (d.start + d.end) * (d.size - 1), 0.0)
    scale = (d.target - 1) / max((d.end - d.start) * (d.size - 1), 1.0)
    return _Places(scale, -(d.start * (d.size - 1)), 0.0)


_TRANSFORMATIONS: Final[Mapping[str, Callable[[_Dimension], _Places]]] = {
    "half_pixel": lambda d: _Places(d.scale, 0.5, -0.5),
    "half_pixel_symmetric": _symmetric,
    "pytorch_half_pixel": _pytorch,
    "align_corners": _corners,
    "asymmetric": lambda d: _Places(d.scale, 0.0, 0.0),
    "tf_half_pixel_for_nn": lambda d: _Places(d.scale, 0.0, -0.5),
    "tf_crop_and_resize": _crop_and_resize,
}


def resampled(state: State) -> Iterator[Descriptor]:
    """Yield the operator of a Resize of any version or of an Upsample."""
    yield operator("RESAMPLE3", **_fields(state), Antialiased=bool(state.get("antialias")))


def resampled_plainly(state: State) -> Iterator[Descriptor]:
    """Yield the same for releases whose provider lacks antialiasing."""
    yield operator("RESAMPLE2", **_fields(state))


def _fields(state: State) -> dict[str, Any]:
    """Return the fields common to both operators; raise Open or Refused."""
    data, output = tensor_of(state, "input0"), tensor_of(state, "output0")
    sizes, target = tensor_shape(data), tensor_shape(output)
    mode = _MODES.get(str(state.get("mode") or "nearest").lower())
    if mode is None:
        raise ProviderRefusal("mode", f"the kernel does not support the mode {state.get('mode')}")
    places = _places(state, sizes, target)
    useless = [
        1 if input_size == output_size == 1 else 2 for input_size, output_size in zip(sizes, target, strict=True)
    ]
    input_sizes, output_sizes, kept_places = without_ones(useless, sizes, target, places)
    kept_places = [_Places(1.0, 0.5, -0.5)] * (max(state.least, len(output_sizes)) - len(output_sizes)) + kept_places
    direction, shift = "DECREASING", 0.0
    if mode == "NEAREST_NEIGHBOR":
        rounding = state.get("nearest_mode") or "round_prefer_floor"
        direction, shift = _NEAREST_MODES.get(rounding, ("DECREASING", 0.5))
    return {
        "InputTensor": provider_tensor(state, data, input_sizes),
        "OutputTensor": provider_tensor(state, output, output_sizes),
        "InterpolationMode": mode,
        "RoundingDirection": direction,
        "Scales": [_to_float32(place.scale) for place in kept_places],
        "InputPixelOffsets": [_to_float32(place.before + shift) for place in kept_places],
        "OutputPixelOffsets": [_to_float32(place.after) for place in kept_places],
    }


def _to_float32(number: float) -> float:
    """Return the FLOAT32 nearest to a number."""
    matching_number: float = unpack("f", pack("f", number))[0]
    return matching_number


def _places(state: State, sizes: Sequence[int], target: Sequence[int]) -> list[_Places]:
    mode = state.get("coordinate_transformation_mode") or "half_pixel"
    if mode not in _TRANSFORMATIONS:
        raise ProviderRefusal("transformation", f"the kernel does not support the transformation {mode}")
    scales = _scales(state, sizes, target)
    crop = (
        constant(state, "roi") if optional_tensor(state, "roi") is not None and mode == "tf_crop_and_resize" else None
    )
    if mode == "tf_crop_and_resize" and not crop:
        raise ProviderRefusal("region", "tf_crop_and_resize requires roi")
    region = _region(state, crop, len(sizes))
    transformed = _TRANSFORMATIONS[mode]
    parts = zip(sizes, target, scales, region, strict=True)
    return [transformed(_Dimension(size, number, scale, *ends)) for size, number, scale, ends in parts]


def _region(state: State, crop: Sequence[float] | None, rank: int) -> list[tuple[float, float]]:
    axes = [axis % rank for axis in state.get("axes") or range(rank)] if rank else []
    numbers = [(0.0, 1.0)] * rank
    if crop and len(crop) != 2 * len(axes):
        raise ProviderRefusal("region", "roi must have two numbers per dimension")
    for index, axis in enumerate(axes):
        if crop:
            numbers[axis] = float(crop[index]), float(crop[index + len(axes)])
    return numbers


def _scales(state: State, sizes: Sequence[int], target: Sequence[int]) -> list[float]:
    """Return the scale of each dimension, given or computed from the sizes."""
    rank = len(sizes)
    if len(target) != rank:
        raise ProviderRefusal("rank-changed", "input and output must have as many dimensions")
    scale_values = (
        constant(state, "scales") if optional_tensor(state, "scales") is not None else state.get("scales_attribute")
    )
    if not scale_values and state.get("scales_attribute"):
        scale_values = state.get("scales_attribute")
    if optional_tensor(state, "sizes") is not None and not scale_values:
        if 0 in sizes:
            raise UnknownValue("a size of 0 does not have a scale")
        return [output_size / input_size for output_size, input_size in zip(target, sizes, strict=True)]
    if not scale_values:
        raise ProviderRefusal("scales", "scales or sizes are required")
    axes = [axis % rank for axis in state.get("axes") or range(rank)] if rank else []
    if len(axes) != len(scale_values):
        raise ProviderRefusal("scales", "each dimension must have a scale")
    numbers = [1.0] * rank
    for axis, scale in zip(axes, scale_values, strict=True):
        numbers[axis] = float(scale)
    return numbers
