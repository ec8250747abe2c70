"""Rules about placements: severity, requirement and reference of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from specgate.verdict import Severity

GROUP: Final = "onnxruntime/placement"

_REPOSITORY: Final = "microsoft/onnxruntime"
_REGISTRY: Final = {
    "repository": _REPOSITORY, "path": "onnxruntime/core/framework/kernel_registry.cc",
    "commit": "032935e6b58aed06d2ffb131f33d23ce65d2bbf6",
}  # fmt: skip
_PREFERRED: Final = {
    "repository": _REPOSITORY, "path": "onnxruntime/core/framework/fallback_cpu_capability.cc",
    "commit": "039e489f3ff5cc427030dc58e43af78696cf74e7",
}  # fmt: skip
_PROVIDER: Final = {
    "repository": _REPOSITORY, "path": "onnxruntime/core/providers/dml/DmlExecutionProvider/src/ExecutionProvider.cpp",
    "commit": "00708a6a34cf6e02a1906d053093ea11ed9065f3",
}  # fmt: skip
_CASTS: Final = {
    "repository": _REPOSITORY, "path": "onnxruntime/core/optimizer/insert_cast_transformer.cc",
    "commit": "05f47fa0aa39c517a7071462444d6649a9ef171d",
}  # fmt: skip
_NO_SOURCE: Final[dict[str, str]] = {}

#: Rules by the last part of their id ``onnxruntime/placement/…``. A rule without a source is advice of lint.
RULES: Final[dict[str, tuple[Severity, str, dict[str, str]]]] = {
    "cast": ("note", "some provider has a kernel for each node without inserted Casts", _CASTS),
    "newer-than-registered": (
        "note",
        "the first provider has a kernel for the operator version of each node",
        _REGISTRY,
    ),
    "no-kernel": ("error", "some provider has a kernel for each node", _REGISTRY),
    "on-cpu": ("note", "the first provider accepts each node", _PROVIDER),
    "preferred-cpu": ("note", "nodes that the first provider supports do not run on the CPU", _PREFERRED),
    "session-fails": (
        "error",
        "the session is created: the release loads the model and creates its kernels",
        _NO_SOURCE,
    ),
    "wrong-values": ("warning", "a kernel computes the values that ONNX defines", _NO_SOURCE),
    "undecided": ("note", "the placement of each node is known", _NO_SOURCE),
}
