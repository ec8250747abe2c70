"""RNN, GRU and LSTM: activations by name and direction, and tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import Descriptor, TensorDesc
from specgate.runtimes.onnxruntime.lowering.state import ProviderRefusal
from specgate.runtimes.onnxruntime.lowering.tensor_builder import operator, optional_tensor, provider_tensor

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from specgate.runtimes.onnxruntime.lowering.state import State

_DIRECTIONS: Final = {"forward": "FORWARD", "reverse": "BACKWARD", "bidirectional": "BIDIRECTIONAL"}
#: Default activations per operator; DirectML's have the same names.
_DEFAULT_ACTIVATIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "RNN": ("Tanh",),
    "GRU": ("Sigmoid", "Tanh"),
    "LSTM": ("Sigmoid", "Tanh", "Tanh"),
}
#: DirectML's activation for each ONNX activation that the kernel supports, with the defaults of the fields for alpha
#: and beta. Affine is not supported.
_ACTIVATIONS: Final[Mapping[str, tuple[str, Mapping[str, float]]]] = {
    "relu": ("ACTIVATION_RELU", {}),
    "tanh": ("ACTIVATION_TANH", {}),
    "sigmoid": ("ACTIVATION_SIGMOID", {}),
    "softsign": ("ACTIVATION_SOFTSIGN", {}),
    "softplus": ("ACTIVATION_SOFTPLUS", {}),  # the provider does not set its steepness, which stays 0
    "leakyrelu": ("ACTIVATION_LEAKY_RELU", {"Alpha": 0.01}),
    "thresholdedrelu": ("ACTIVATION_THRESHOLDED_RELU", {"Alpha": 1.0}),
    "scaledtanh": ("ACTIVATION_SCALED_TANH", {"Alpha": 1.0, "Beta": 1.0}),
    "hardsigmoid": ("ACTIVATION_HARD_SIGMOID", {"Alpha": 0.2, "Beta": 0.5}),
    "elu": ("ACTIVATION_ELU", {"Alpha": 1.0}),
}


def recurrent(state: State) -> Iterator[Descriptor]:
    """Yield the operator of a recurrent network."""
    name, default_names = state.operator, _DEFAULT_ACTIVATIONS[state.operator]
    direction = _DIRECTIONS[state.get("direction") or "forward"]
    direction_count = 2 if direction == "BIDIRECTIONAL" else 1
    fields: dict[str, Any] = {
        "InputTensor": _tensor(state, "X"),
        "WeightTensor": _tensor(state, "W"),
        "RecurrenceTensor": _tensor(state, "R"),
        "BiasTensor": _tensor(state, "B"),
        "HiddenInitTensor": _tensor(state, "initial_h"),
        "SequenceLengthsTensor": _lengths(state),
        "OutputSequenceTensor": _tensor(state, "Y"),
        "OutputSingleTensor": _tensor(state, "Y_h"),
        "ActivationDescs": _activations(state, default_names * direction_count),
        "Direction": direction,
    }
    if name == "LSTM":
        clip = state.get("clip")
        fields |= {
            "CellMemInitTensor": _tensor(state, "initial_c"),
            "PeepholeTensor": _tensor(state, "P"),
            "OutputCellSingleTensor": _tensor(state, "Y_c"),
            "ClipThreshold": float(clip or 0.0),
            "UseClipThreshold": bool(clip),
            "CoupleInputForget": bool(state.get("input_forget")),
        }
    if name == "GRU":
        fields["LinearBeforeReset"] = bool(state.get("linear_before_reset"))
    yield operator(name, **fields)


def _tensor(state: State, name: str) -> TensorDesc | None:
    tensor = optional_tensor(state, name)
    return None if tensor is None else provider_tensor(state, tensor)


def _lengths(state: State) -> TensorDesc | None:
    tensor = _tensor(state, "sequence_lens")
    return None if tensor is None else tensor._replace(type="UINT32")


def _activations(state: State, default_names: Sequence[str]) -> list[Descriptor]:
    """Return the activations of all directions.

    The values of alpha and beta go in order to the activations that use one.
    """
    names = (state.get("activations") or list(default_names))[: len(default_names)]
    if len(names) < len(default_names):
        raise ProviderRefusal("activations-count", f"expected {len(default_names)} activations, found {len(names)}")
    given_numbers = {key: list(state.get(f"activation_{key.lower()}") or ()) for key in ("Alpha", "Beta")}
    descriptors = []
    for name in names:
        word, numbers = _ACTIVATIONS.get(name.lower(), ("", {}))
        if not word:
            raise ProviderRefusal("activation", f"the kernel does not support the activation {name}")
        fields: dict[str, float] = {}
        for key, default in numbers.items():
            fields[key] = float(given_numbers[key].pop(0)) if given_numbers[key] else default
        if word == "ACTIVATION_SOFTPLUS":
            fields["Steepness"] = 0.0
        descriptors.append(Descriptor("directml", word, fields))
    return descriptors
