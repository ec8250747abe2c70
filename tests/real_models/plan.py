"""The models to build and how; does not import torch."""

from __future__ import annotations

import os
from hashlib import sha256
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import platformdirs

__all__ = [
    "DERIVED",
    "EXECUTED",
    "EXPORTS",
    "IRS",
    "NEEDED",
    "REFUSED",
    "cache_folder",
    "execute_all",
    "files",
    "missing",
    "names",
    "sources",
]

#: Packages that build the models, in addition to the test extra.
NEEDED: Final = ("torch", "onnxscript", "onnxruntime", "onnx", "numpy")

#: The opsets for each exporter of torch: "trace" is the older one, "dynamo" uses torch.export. The
#: first cannot trace torch.cond, the second does not support loops with a data-dependent number of turns.
EXPORTS: Final[dict[str, dict[str, tuple[int, ...]]]] = {
    "resnet": {"trace": (9, 11, 13, 17, 20), "dynamo": (18, 21, 26)},
    "vision": {"trace": (9, 11, 13, 17, 20), "dynamo": (18, 21, 26)},
    "encoder": {"trace": (14, 17, 20), "dynamo": (18, 21, 23)},
    "decoder": {"trace": (14, 17, 20), "dynamo": (18, 21, 24)},
    "decoder_in_parts": {"trace": (9, 11, 13, 17), "dynamo": (20,)},
    "recurrent": {"trace": (9, 11, 13, 17, 20), "dynamo": (18, 22)},
    "detector": {"trace": (10, 11, 13, 17, 20), "dynamo": (18, 21, 25)},
    "smoothing": {"trace": (11, 13, 17, 20)},
    "branching": {"dynamo": (18, 21, 23)},
}

#: Derived models, see `derive`; conversions to other opsets exist if onnx has them.
DERIVED: Final[dict[str, tuple[str, ...]]] = {
    "resnet-trace-9": ("to-7", "to-8", "to-13", "to-17", "to-21", "to-28"),
    "resnet-trace-13": ("qdq", "qdq-by-channel", "basic", "to-18"),
    "resnet-trace-17": ("qdq", "basic", "to-22"),
    "resnet-dynamo-18": ("qdq", "qoperator", "basic", "to-28"),
    "resnet-dynamo-21": ("qdq", "qdq-16", "qdq-by-channel", "basic", "to-18", "to-25"),
    "vision-trace-13": ("qdq", "qoperator", "basic", "to-18"),
    "vision-dynamo-18": ("basic", "to-21", "to-26"),
    "encoder-trace-17": ("dynamic", "basic", "to-21"),
    "encoder-dynamo-21": ("dynamic", "basic", "to-20", "to-26"),
    "decoder-trace-17": ("basic", "to-20", "to-28"),
    "decoder-dynamo-24": ("basic", "to-25", "to-28"),
    "decoder_in_parts-trace-9": ("basic", "to-13", "to-17"),
    "recurrent-trace-9": ("basic", "to-14", "to-22"),
    "recurrent-dynamo-18": ("basic", "to-17", "to-22", "to-28"),
    "detector-trace-11": ("qdq", "basic", "to-13", "to-18"),
    "detector-dynamo-21": ("qdq", "basic", "to-20", "to-26"),
    "smoothing-trace-13": ("basic", "to-17", "to-21", "to-28"),
    "branching-dynamo-18": ("basic", "to-17", "to-28"),
}

#: ONNX Runtime does not open the first two, and does not run the third, see `test_execution`.
_NOT_OPENED: Final = ("smoothing-trace-11", "vision-trace-9", "encoder-dynamo-23")
_QUANTIZED: Final[dict[str, tuple[str, ...]]] = {
    "resnet-trace-20": ("qdq", "dynamic"),
    "resnet-dynamo-26": ("qdq", "qoperator", "qoperator-by-channel"),
    "vision-trace-11": ("qdq",),
    "vision-dynamo-21": ("qdq", "qoperator-by-channel", "dynamic"),
    "vision-dynamo-26": ("qdq", "dynamic-by-channel"),
    "encoder-trace-20": ("dynamic-by-channel",),
    "decoder-trace-17": ("dynamic",),
    "decoder-dynamo-21": ("dynamic", "dynamic-by-channel"),
    "decoder_in_parts-dynamo-20": ("dynamic", "dynamic-by-channel"),
    "recurrent-trace-20": ("qdq", "qoperator"),
    "recurrent-dynamo-22": ("qdq", "qoperator-by-channel"),
    "detector-trace-20": ("qdq", "dynamic"),
    "detector-dynamo-25": ("qdq", "qoperator", "dynamic-by-channel"),
    "smoothing-trace-20": ("dynamic",),
    "branching-dynamo-23": ("qdq", "qoperator"),
}

#: Invalid ONNX that torch writes, and lint's findings: Loop carries sequences from opset 13 on only,
#: Upsample rejects scales below 1, and Unsqueeze negative axes before opset 11 (runtimes accept them).
REFUSED: Final[dict[str, dict[tuple[str, str], int]]] = {
    "smoothing-trace-11": {("onnx/Loop/v_initial.type", "error"): 1},
    "vision-trace-9": {("onnx/Upsample/scales-not-smaller", "error"): 1},
    "detector-trace-10": {("onnx/Unsqueeze/axes-range", "error"): 4},
}

#: OpenVINO IRs of the models, and of the networks themselves ("torch"); see `irs`.
IRS: Final[dict[str, tuple[str, ...]]] = {
    **{
        f"{network}-{exporter}-{opset}": ("ir",)
        for network, exporters in EXPORTS.items()
        for exporter, opsets in exporters.items()
        for opset in opsets
    },
    **dict.fromkeys(
        ("resnet", "vision", "encoder", "decoder", "decoder_in_parts", "recurrent", "branching"), ("torch",)
    ),
    **{f"{source}-{way}": ("ir",) for source, ways in DERIVED.items() for way in ways if "qdq" in way},
    "resnet-trace-17": ("ir", "half", "static", "nncf", "int8"),
    "vision-trace-17": ("ir", "half", "nncf"),
    "encoder-trace-17": ("ir", "half", "static", "nncf", "int8", "int4"),
    "decoder-trace-17": ("ir", "half", "static", "int8", "int4", "stateful"),
    "recurrent-trace-17": ("ir", "half", "static"),
    "detector-trace-17": ("ir", "half", "nncf"),
}


def sources() -> list[str]:
    """Return the names of the exported models: network, exporter and opset."""
    return [
        f"{network}-{exporter}-{opset}"
        for network, exporters in EXPORTS.items()
        for exporter, opsets in exporters.items()
        for opset in opsets
    ]


def _execute_all() -> dict[str, tuple[str, ...]]:
    texts_by_name = dict(_QUANTIZED)
    for source, ways in (*DERIVED.items(), *_QUANTIZED.items()):
        # with "qoperator" and INT8 the optimizer writes an invalid QuantizeLinear, and rejects it
        wide = [way for way in ways if way.startswith(("qdq", "qoperator-", "dynamic"))]
        texts_by_name.update({f"{source}-{way}": ("extended",) for way in wide})
    fused = {"encoder": ("bert",), "decoder": ("gpt2",), "decoder_in_parts": ("gpt2",)}
    for name in sources():
        if name not in _NOT_OPENED:
            texts_by_name[name] = (*texts_by_name.get(name, ()), "extended", *fused.get(name.partition("-")[0], ()))
    return texts_by_name


#: Models that are executed but not linted, derived from those above: quantized in more ways, fused by ONNX Runtime at
#: its extended level, and by onnxruntime.transformers as one of its model types, both with contrib operators.
EXECUTED: Final = _execute_all()


def files() -> list[str]:
    """Return the names of all models, which are also their file names."""
    return sources() + [f"{source}-{way}" for source, ways in DERIVED.items() for way in ways]


def execute_all() -> list[str]:
    """Return the names of all models that are executed."""
    return files() + [f"{source}-{way}" for source, ways in EXECUTED.items() for way in ways]


def names() -> list[str]:
    """Return the names of all valid models."""
    return [name for name in files() if name not in REFUSED]


def missing() -> list[str]:
    """Return the missing packages for building models."""
    return [name for name in NEEDED if find_spec(name) is None]


def cache_folder() -> Path:
    """Return the folder of the models for these packages and this plan.

    It is in the user's cache and may not exist.
    """
    root = os.environ.get("XDG_CACHE_HOME")
    base = Path(root) / "specgate" if root else Path(platformdirs.user_cache_dir("specgate", appauthor=False))
    mark = sha256(" ".join(f"{name} {version(name)}" for name in NEEDED).encode())
    for path in sorted(Path(__file__).parent.glob("*.py")):
        if not path.name.startswith(("test_", "conftest", "nodewise")):
            mark.update(path.read_bytes())
    return base / "real_models" / mark.hexdigest()[:16]
