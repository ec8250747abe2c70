"""A fake runtime with few registrations, for cases that no release decides."""

from __future__ import annotations

from collections import defaultdict

from specgate.runtimes.onnxruntime.node_assignment import Assigner
from specgate.runtimes.onnxruntime.provider_choice import Lookup
from specgate.runtimes.onnxruntime.registrations import Registration, Registry
from specgate.runtimes.release import Runtime

FIRST, CPU = "Fast", "CPU"
FLOATS = {"T": frozenset({"FLOAT"})}
RUNTIME = Runtime("fake", "1.24.4", (FIRST, CPU), (FIRST, CPU))


def row(operator, version, *, provider=FIRST, types=None, until=None, domain="ai.onnx", **more):
    return Registration(provider, domain, operator, version, until, types or {}, **more)


class FakeRegistry(Registry):
    """Return a registry with the given rows."""

    def __init__(self, rows):
        self.rows, self.lookups = defaultdict(list), {}
        for item in rows:
            self.rows[item.domain, item.operator].append(item)

    def of(self, domain, operator):
        return tuple(self.rows[domain or "ai.onnx", operator])


def assigner(fast, cpu=()):
    """Return a node assignment for these registrations.

    Without those of the CPU, it has what the tests' models use.
    """
    onnx_model = object.__new__(Assigner)
    onnx_model.runtime, onnx_model.device = RUNTIME, None
    cpu = list(cpu) or [
        row(operator, 1, provider=CPU, until=99)
        for operator in (
            "Relu",
            "Shape",
            "Gather",
            "Concat",
            "Reshape",
            "Add",
            "Det",
            "Abs",
            "Cast",
            "Unsqueeze",
            "Mul",
        )
    ]
    onnx_model.lookups = {FIRST: Lookup(FakeRegistry(fast), FIRST), CPU: Lookup(FakeRegistry(cpu), CPU)}
    return onnx_model
