"""Values of a graph or function body during execution, and shared state."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from specgate.dialects.onnx.lint.units import function_key, subgraphs
from specgate.dialects.onnx.run.weights import Weights
from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.engine import execute_at
from specgate.execution.models import at_place
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from specgate.descriptors.core import Descriptor
    from specgate.dialects.onnx.file.structure import OnnxAttribute, OnnxFunction, OnnxModel, OnnxNode, OnnxTensor
    from specgate.verdict import Basis

__all__ = ["Run", "Scope"]

#: Maximum nesting of bodies and calls.
_MOST_NESTED: Final = 60


def _read(node: OnnxNode) -> Iterator[str]:
    """Yield the names that a node and its subgraphs read."""
    yield from node.inputs
    for _, graph in subgraphs(node):
        for inner in graph.nodes:
            yield from _read(inner)
        yield from (info.name for info in graph.outputs)


class Run:
    """State of one execution of a model, shared by all its bodies.

    evaluate: computes a node from its descriptor, the arrays by input name, and its path in the model. watch: receives
    each value of the main graph by name, and returns the value for later nodes. step: receives the number of finished
    nodes. basis, by: documented or observed values, and by which implementation. notes: differences between builds,
    with the number of nodes.
    """

    basis: Basis = "documented"
    by: str | None = None

    def __init__(
        self,
        model: OnnxModel,
        path: str,
        budget: memory.Budget,
        *,
        evaluate: Callable[[Run, Descriptor, Mapping[str, Any], str], dict[str, Any]] | None = None,
        watch: Callable[[str, Any], Any] | None = None,
        step: Callable[[int], object] | None = None,
    ) -> None:
        self.path, self.model, self.budget = path, model, budget
        self.tables = dialect("onnx")
        self.weights = Weights(path, budget.left)
        self.functions: dict[tuple[str, str, str], OnnxFunction] = {
            function_key(function): function for function in model.functions
        }
        self.live_bytes = 0
        self.notes: Counter[str] = Counter()
        self.watch, self.step = watch, step
        self._evaluate = evaluate or _evaluated
        self._last_use: dict[int, dict[str, int]] = {}
        self._kept: dict[int, Any] = {}

    def evaluate(self, descriptor: Descriptor, arrays: Mapping[str, Any], place: str) -> dict[str, Any]:
        """Return a node's outputs by field name; `place` is its path."""
        return self._evaluate(self, descriptor, arrays, place)

    def execute(self, descriptor: Descriptor, arrays: Mapping[str, Any]) -> dict[str, Any]:
        """Return a node's outputs as its kernel computes them."""
        newest = self.tables.operator(descriptor.operator).dialect.levels[-1]
        results = execute_at(descriptor, arrays, newest, budget=self.left(), basis=self.basis, by=self.by)
        self.notes.update(results.notes)
        return results

    def left(self) -> memory.Budget:
        """Return the budget that live values leave."""
        return self.budget.less(self.live_bytes)

    def constant(self, tensor: OnnxTensor, *, keep: bool) -> Any:
        """Return a tensor's elements; `keep` caches them, for loop bodies."""
        if id(tensor) in self._kept:
            return self._kept[id(tensor)]
        array = self.weights.array(tensor)
        if keep:
            self._kept[id(tensor)] = array
            self.live_bytes += memory.held_bytes(array)
        return array

    def last_use(self, nodes: Sequence[OnnxNode]) -> Mapping[str, int]:
        """Return the index of the last node that reads each name."""
        known = self._last_use.get(id(nodes))
        if known is None:
            known = {name: index for index, node in enumerate(nodes) for name in _read(node)}
            self._last_use[id(nodes)] = known
        return known


def _evaluated(run: Run, descriptor: Descriptor, arrays: Mapping[str, Any], _place: str) -> dict[str, Any]:
    return run.execute(descriptor, arrays)


class Scope:
    """The values of one body by name.

    place: the path of the body, including calls. outer: the scope around a subgraph, None for the main graph and for
    functions. attributes: those of the call, for a function's body. calls: the functions on the call stack. tensors: of
    the file, read on first use.
    """

    def __init__(
        self,
        run: Run,
        nodes: Sequence[OnnxNode],
        imports: Mapping[str, int],
        place: str,
        *,
        outer: Scope | None = None,
        attributes: Mapping[str, OnnxAttribute] | None = None,
        kept: Iterable[str] = (),
        calls: tuple[tuple[str, str, str], ...] = (),
        depth: int = 0,
    ) -> None:
        if depth > _MOST_NESTED:
            raise InputError(f"subgraphs and calls are nested more than {_MOST_NESTED} deep")
        self.run, self.nodes, self.imports, self.place, self.outer = run, nodes, imports, place, outer
        self.attributes, self.calls, self.depth = attributes, calls, depth
        self.kept = frozenset(kept)
        self.tensors: dict[str, OnnxTensor] = {}
        self.last_use = run.last_use(nodes)
        self.values: dict[str, Any] = {}
        self._bytes: dict[str, int] = {}

    def read(self, name: str) -> Any:
        """Return a value by name, from this scope or an outer one."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.values:
                return scope.values[name]
            if name in scope.tensors:
                with at_place(f"initializer {name[:60]!r}"):
                    scope.give(name, self.run.constant(scope.tensors[name], keep=scope.depth > 0))
                return scope.values[name]
            scope = scope.outer
        raise InputError(f"reads {name!r:.60}, which is not an input, initializer or output of an earlier node")

    def give(self, name: str, value: Any) -> None:
        """Set the value of a name; InputError if it is already set."""
        if name in self.values:
            raise InputError(f"computes {name!r:.60}, which already exists")
        if self.depth == 0 and self.run.watch is not None:
            value = self.run.watch(name, value)
        self.values[name] = value
        self._bytes[name] = number = memory.held_bytes(value)
        self.run.live_bytes += number

    def drop(self, index: int, names: Iterable[str]) -> None:
        """Drop named values without a reader after node `index`.

        Then check memory and time against the budget.
        """
        for name in names:
            if self.last_use.get(name, -1) <= index and name not in self.kept and name in self.values:
                del self.values[name]
                self.run.live_bytes -= self._bytes.pop(name)
        self.run.budget.hold(self.run.live_bytes, "the set of live values")
        self.run.budget.hold_time()

    def close(self) -> None:
        """Drop all values."""
        self.run.live_bytes -= sum(self._bytes.values())
        self.values.clear()
        self._bytes.clear()
