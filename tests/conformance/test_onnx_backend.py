"""The onnx package's backend suite: node tests, simple models, PyTorch models."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import warnings
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from specgate.dialects.onnx.run.model import run_model
from specgate.errors import Error
from specgate.execution.containers import arrays_in
from specgate.execution.observed import find_differences

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif(
        importlib.util.find_spec("onnx") is None,
        reason="THE BACKEND TESTS ARE NOT RUN: pip install 'specgate-ml[onnx]'",
    ),
]

#: The suite runs in this many parts, so that processes share it.
PARTS = 16
#: Cases that are not computed, or computed differently than in the suite, with the reason.
KNOWN: dict[str, str] = dict.fromkeys(
    ("test_gradient_of_add", "test_gradient_of_add_and_mul"),
    "the operator Gradient takes apart the graph around it, and has no kernel",
)
#: Outputs that depend on a random generator: only their types and sizes are compared.
RANDOM = frozenset(
    f"test_bernoulli{rest}" for rest in ("", "_double", "_double_expanded", "_expanded", "_seed", "_seed_expanded")
)


@cache
def cases() -> list[Any]:
    package = importlib.import_module("onnx.backend.test.case.node")
    with warnings.catch_warnings(action="ignore"):  # expected overflows while collecting the cases
        for module in pkgutil.iter_modules(package.__path__):
            importlib.import_module(f"{package.__name__}.{module.name}")
    return sorted([*package._NodeTestCases, *load_stored()], key=lambda case: case.name)


def load_stored() -> list[Any]:
    """Return the cases that the package has as files."""
    import onnx
    from onnx.backend.test.loader import load_model_tests

    namespaces = []
    for kind in ("simple", "pytorch-converted", "pytorch-operator"):
        for case in load_model_tests(kind=kind):
            folder = Path(str(case.model_dir))
            model = onnx.load(folder / "model.onnx")
            sets = [
                tuple(
                    [
                        _load_stored(path, info.type)
                        for path, info in zip(_number_parts(data, which), infos, strict=False)
                    ]
                    for which, infos in (("input", model.graph.input), ("output", model.graph.output))
                )
                for data in sorted(folder.glob("test_data_set_*"))
            ]
            namespaces.append(
                SimpleNamespace(name=case.name, model=model, data_sets=sets, rtol=case.rtol, atol=case.atol)
            )
    return namespaces


def _number_parts(folder: Path, which: str) -> list[Path]:
    return sorted(folder.glob(f"{which}_*.pb"), key=lambda path: int(path.stem.partition("_")[2]))


def _load_stored(path: Path, kind: Any) -> Any:
    import onnx

    cls_by_name = {
        "tensor_type": onnx.TensorProto,
        "sequence_type": onnx.SequenceProto,
        "optional_type": onnx.OptionalProto,
    }
    value = cls_by_name[kind.WhichOneof("value")]()
    value.ParseFromString(path.read_bytes())
    return value


def convert(value: Any) -> Any:
    """Convert a test's data: texts to objects, optionals and sequences to lists."""
    if value is None:
        return None
    if hasattr(value, "data_type"):
        value = importlib.import_module("onnx.numpy_helper").to_array(value)
    elif hasattr(value, "elem_type"):
        helpers = importlib.import_module("onnx.numpy_helper")
        value = (
            helpers.to_list(value)
            if hasattr(value, "tensor_values") and not hasattr(value, "optional_get_element")
            else helpers.to_optional(value)
        )
    if isinstance(value, list | tuple):
        return [convert(each) for each in value]
    if isinstance(value, dict):
        return value
    array = np.asarray(value)
    return array.astype(object) if array.dtype.kind in "US" else array


def difference(case: Any, path: str) -> str:
    """Return how specgate's outputs of a case differ, "" within its tolerance."""
    for inputs, outputs in case.data_sets:
        names = [info.name for info in case.model.graph.input]
        arrays = {name: convert(value) for name, value in zip(names, inputs, strict=False)}
        result = run_model(path, arrays)
        for (name, mine), theirs in zip(result.items(), map(convert, outputs), strict=True):
            if isinstance(theirs, list) and theirs and isinstance(theirs[0], dict):
                if mine != theirs:
                    return f"{name}: {mine} for {theirs}"
                continue
            ours, expected = arrays_in(mine), arrays_in(theirs)
            if len(ours) != len(expected):
                return f"{name}: {len(ours)} arrays for {len(expected)}"
            for array, other in zip(ours, expected, strict=True):
                if (array.dtype, array.shape) != (other.dtype, other.shape):
                    return f"{name}: {array.dtype} {array.shape} for {other.dtype} {other.shape}"
                least = 2**-7 if array.dtype.name == "bfloat16" else 0.0  # a step of it
                least = 2.0 if "image_decoder" in case.name else least  # of 255, as codecs differ
                if case.name not in RANDOM and find_differences(other, array, max(case.rtol, case.atol, least)).any():
                    return f"{name}: other values"
    return ""


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_backend_suite(part, tmp_path):
    import onnx

    failed = {}
    for case in cases()[part::PARTS]:
        path = str(tmp_path / "model.onnx")
        onnx.save(case.model, path)
        try:
            text = difference(case, path)
        except Error as error:
            text = str(error)
        if text:
            failed[case.name] = text
    facts = {case.name for case in cases()[part::PARTS]} & set(KNOWN)
    assert set(failed) == facts, {name: text for name, text in failed.items() if name not in facts}
