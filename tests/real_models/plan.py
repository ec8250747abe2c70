"""Which models are made and how; reads no torch, so that tests have the names where it is missing."""

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
    "executed",
    "files",
    "missing",
    "names",
    "sources",
]

#: What making the models takes besides the test extra.
NEEDED: Final = ("torch", "onnxscript", "onnxruntime", "onnx", "numpy")

#: The opsets that each exporter of torch is asked for: "trace" is the older one, "dynamo" the one on torch.export. The
#: first cannot trace torch.cond, the second knows no loop whose number of turns depends on data.
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

#: What is made from each of them, see `derive`; a way to another opset is there where onnx has it.
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

#: ONNX Runtime opens the first two not at all, and runs the third not, see `test_execution`.
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

#: What torch writes although it is no ONNX, and what lint says of it: Loop carries sequences from opset 13 on only,
#: Upsample takes no scale below 1, and Unsqueeze no negative axes before opset 11 (runtimes do).
REFUSED: Final[dict[str, dict[tuple[str, str], int]]] = {
    "smoothing-trace-11": {("onnx/Loop/v_initial.type", "error"): 1},
    "vision-trace-9": {("onnx/Upsample/scales-not-smaller", "error"): 1},
    "detector-trace-10": {("onnx/Unsqueeze/axes-range", "error"): 4},
}

#: OpenVINO IRs that are made of the models, and of the networks themselves ("torch"); see `irs`.
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


def _executed() -> dict[str, tuple[str, ...]]:
    made = dict(_QUANTIZED)
    for source, ways in (*DERIVED.items(), *_QUANTIZED.items()):
        # of "qoperator" with INT8 the optimizer writes a QuantizeLinear that is none, and refuses it
        wide = [way for way in ways if way.startswith(("qdq", "qoperator-", "dynamic"))]
        made.update({f"{source}-{way}": ("extended",) for way in wide})
    fused = {"encoder": ("bert",), "decoder": ("gpt2",), "decoder_in_parts": ("gpt2",)}
    for name in sources():
        if name not in _NOT_OPENED:
            made[name] = (*made.get(name, ()), "extended", *fused.get(name.partition("-")[0], ()))
    return made


#: Models that are executed and not linted, made of those above: quantized in more ways, fused by ONNX Runtime at its
#: extended level, and by onnxruntime.transformers as one of its kinds of models, both with operators of its own.
EXECUTED: Final = _executed()


def files() -> list[str]:
    """Return the names of all models; each lies in a file of that name."""
    return sources() + [f"{source}-{way}" for source, ways in DERIVED.items() for way in ways]


def executed() -> list[str]:
    """Return the names of all models that are executed."""
    return files() + [f"{source}-{way}" for source, ways in EXECUTED.items() for way in ways]


def names() -> list[str]:
    """Return the names of all models that are sound."""
    return [name for name in files() if name not in REFUSED]


def missing() -> list[str]:
    """Return which of the packages that make models are not installed."""
    return [name for name in NEEDED if find_spec(name) is None]


def cache_folder() -> Path:
    """Return where the models of these packages and this plan lie, made or not: in the user's cache."""
    root = os.environ.get("XDG_CACHE_HOME")
    base = Path(root) / "specgate" if root else Path(platformdirs.user_cache_dir("specgate", appauthor=False))
    mark = sha256(" ".join(f"{name} {version(name)}" for name in NEEDED).encode())
    for path in sorted(Path(__file__).parent.glob("*.py")):
        if not path.name.startswith(("test_", "conftest", "nodewise")):
            mark.update(path.read_bytes())
    return base / "real_models" / mark.hexdigest()[:16]
