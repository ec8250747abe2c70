"""OpenVINO IRs of the models and networks: ``python -m tests.real_models.irs``.

An optional argument is the folder.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import openvino

from tests.real_models.build import build
from tests.real_models.plan import IRS, cache_folder

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["build_irs"]


def build_irs(folder: Path) -> None:
    """Build every IR that `folder` lacks, from the models there.

    Raises the errors of OpenVINO and nncf.
    """
    for source, ways in IRS.items():
        for way in ways:
            path = folder / f"{source}-{way}.xml"
            if not path.exists():
                print(path.stem, flush=True)
                onnx_model, half = _WAYS[way](folder, source)
                scratch = folder / "scratch.xml"
                openvino.save_model(onnx_model, scratch, compress_to_fp16=half)
                scratch.with_suffix(".bin").replace(path.with_suffix(".bin"))
                scratch.replace(path)


def samples_of(folder: Path, source: str) -> dict[str, Any]:
    """Return the sample inputs of a network by name."""
    with np.load(folder / f"{source.partition('-')[0]}.npz") as arrays:
        return {name.removeprefix("in."): arrays[name] for name in arrays.files if name.startswith("in.")}


def _plain(folder: Path, source: str) -> tuple[Any, bool]:
    return openvino.convert_model(folder / f"{source}.onnx"), False


def _half(folder: Path, source: str) -> tuple[Any, bool]:
    return _plain(folder, source)[0], True


def _static(folder: Path, source: str) -> tuple[Any, bool]:
    """With static sizes of the samples."""
    model = _plain(folder, source)[0]
    samples = samples_of(folder, source)
    model.reshape({name: list(samples[name].shape) for name in samples if any(name in i.names for i in model.inputs)})
    return model, False


def _torch(_folder: Path, source: str) -> tuple[Any, bool]:
    """Directly from the network, without ONNX."""
    import torch

    from tests.real_models import export

    case = export._case(source)  # one helper of the same folder
    return openvino.convert_model(torch.export.export(case.network, tuple(case.samples.values()))), False


def _quantize(folder: Path, source: str) -> tuple[Any, bool]:
    import nncf

    samples = samples_of(folder, source)
    dataset = nncf.Dataset([samples, {name: array / array.dtype.type(2) for name, array in samples.items()}])
    return nncf.quantize(_plain(folder, source)[0], dataset, subset_size=2), False


def _compress(mode: str) -> Callable[[Path, str], tuple[Any, bool]]:
    def make(folder: Path, source: str) -> tuple[Any, bool]:
        import nncf

        model = _plain(folder, source)[0]
        options = {"ratio": 1.0, "group_size": -1, "all_layers": True} if mode.startswith("INT4") else {}
        return nncf.compress_weights(model, mode=nncf.CompressWeightsMode[mode], **options), False

    return make


def _stateful(folder: Path, source: str) -> tuple[Any, bool]:
    """With variables for the cache: ReadValue and Assign."""
    from openvino._offline_transformations import apply_make_stateful_transformation

    model = _plain(folder, source)[0]
    pairs = {"past_keys": "keys", "past_values": "values"}
    names = {port.get_any_name() for port in [*model.inputs, *model.outputs]}
    apply_make_stateful_transformation(model, {a: b for a, b in pairs.items() if {a, b} <= names})
    return model, False


_WAYS: Final[dict[str, Any]] = {
    "ir": _plain, "half": _half, "static": _static, "torch": _torch, "nncf": _quantize,
    "int8": _compress("INT8_ASYM"), "int4": _compress("INT4_SYM"), "stateful": _stateful,
}  # fmt: skip


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    chosen = Path(sys.argv[1]) if len(sys.argv) > 1 else cache_folder()
    build(chosen)
    build_irs(chosen)
    print(chosen)
