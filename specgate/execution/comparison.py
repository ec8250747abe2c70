"""Execution of models, and comparison of nodes with another implementation."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError, NoKernel, NoTable
from specgate.execution.containers import arrays_in
from specgate.execution.kernels import PRODUCT_SUM_KERNELS
from specgate.execution.memory import count_bytes
from specgate.execution.observed import find_differences, tolerance_of
from specgate.execution.plan import fill_descriptor
from specgate.spec.tables import dialect
from specgate.workers.child import Child

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from specgate.descriptors.core import Descriptor
    from specgate.execution.memory import Budget
    from specgate.spec.fields import FieldInfo
    from specgate.verdict import Basis


def arrays_by_name(infos: Sequence[FieldInfo], arrays: Sequence[NDArray[Any] | None]) -> dict[str, Any]:
    """Return a node's arrays by the operator's input names.

    The last input may be a list of all remaining arrays.
    """
    entries: dict[str, Any] = {i.name: a for i, a in zip(infos, arrays, strict=False) if a is not None}
    if infos and infos[-1].type == "tensor[]":
        entries[infos[-1].name] = [array for array in arrays[len(infos) - 1 :] if array is not None]
    return entries


@contextmanager
def at_node(label: str, path: str) -> Iterator[None]:
    """Add a node of the file at `path` to errors raised here."""
    try:
        yield
    except InputError as error:
        place = label if error.place is None else f"{label}: {error.place}"
        raise InputError(error.message, file=error.file or path, place=place) from None
    except (NoTable, NoKernel) as error:
        raise type(error)(f"{label}: {error}") from None


@contextmanager
def at_place(place: str) -> Iterator[None]:
    """Add the place of an input, output or body to errors raised here."""
    try:
        yield
    except (NoTable, NoKernel) as error:
        raise type(error)(f"{place}: {error}") from None
    except InputError as error:
        raise InputError(
            error.message, file=error.file, place=f"{place}: {error.place}" if error.place else place
        ) from None


@contextmanager
def in_file(path: str) -> Iterator[None]:
    """Add the file to errors raised here without one."""
    try:
        yield
    except InputError as error:
        raise InputError(error.message, file=error.file or path, place=error.place) from None


@dataclass(frozen=True, slots=True)
class ValueDifference:
    """A value that differs.

    node: path of its node; value: its name; text: the difference.
    """

    node: str
    operator: str
    value: str
    text: str


@dataclass(frozen=True, slots=True)
class ModelComparison:
    """Result of comparing a model with one version of an implementation.

    outputs: specgate's, by name. count: number of values compared; missing: number of values that the implementation
    does not provide. differences: the differing values, in node order.
    """

    implementation: str
    version: str
    outputs: Mapping[str, Any]
    count: int
    missing: int
    differences: Sequence[ValueDifference]

    def lines(self) -> list[str]:
        """Return a summary line, then one line per differing value in node order."""
        rest = f", {self.missing} values are missing" if self.missing else ""
        count = f"{len(self.differences)} differ" if self.differences else "no differences"
        first = f"{self.implementation} {self.version}: of {self.count} values, {count}{rest}"
        return [
            first,
            *(
                f"{difference.node} ({difference.operator}), {difference.value}: {difference.text}"
                for difference in self.differences
            ),
        ]


@dataclass(slots=True)
class ValueComparison:
    """Comparison with the other implementation's values, node by node.

    basis, by: of the values that are compared. count: number of values compared; missing: number of values that the
    other implementation does not provide.
    """

    basis: Basis = "both"
    by: str | None = None
    count: int = 0
    missing: int = 0
    differences: list[ValueDifference] = field(default_factory=list)
    _tolerance: float = 0.0
    _sums: list[Callable[[], Any]] = field(default_factory=list)

    def record_tolerance(
        self,
        descriptor: Descriptor,
        arrays: Mapping[str, Any],
        outputs: Mapping[str, Any],
        execute: Callable[[Descriptor, Mapping[str, Any]], Mapping[str, Any]],
    ) -> None:
        """Record the tolerance of a node's values.

        Nodes of a body count for the enclosing node. execute: computes the node from other arrays.
        """
        filled_descriptor = fill_descriptor(descriptor, arrays, outputs)
        self._sums.append(partial(_absolute_sums, descriptor, arrays, execute))
        self._tolerance = max(
            self._tolerance, tolerance_of(filled_descriptor, str(descriptor.version), basis=self.basis, by=self.by)
        )

    def next_node(self) -> None:
        """Forget the tolerances of a finished node."""
        self._tolerance = 0.0
        self._sums.clear()

    def settle(self, place: str, operator: str, name: str, value: Any, other: Any) -> Any:
        """Return the value that later nodes read.

        It is the other implementation's value where its type and shape match. place, operator: of the node. other: None
        where the implementation does not provide the value.
        """
        if other is None:
            self.missing += 1
            return value
        self.count += 1
        our_arrays, other_arrays = arrays_in(value), arrays_in(other)
        if len(our_arrays) != len(other_arrays) or any(
            _layouts_differ(*pair) for pair in zip(our_arrays, other_arrays, strict=True)
        ):
            our_text, their_text = (
                ", ".join(f"{a.dtype} {list(a.shape)}" for a in arrays) or "nothing"
                for arrays in (our_arrays, other_arrays)
            )
            self.differences.append(ValueDifference(place, operator, name, f"{our_text} here and {their_text} there"))
            return value
        pairs = list(zip(our_arrays, other_arrays, strict=True))
        text = next((text for pair in pairs if (text := _difference(*pair, self._tolerance))), "")
        if text and len(pairs) == len(self._sums) == 1 and (sums := self._sums[0]()) is not None:
            text = _difference(*pairs[0], self._tolerance, sums)
        if text:
            self.differences.append(ValueDifference(place, operator, name, text))
        return other if isinstance(value, np.ndarray | list) else value


def values_of(module: str, question: Any, implementation: str, path: str, budget: Budget) -> tuple[str, dict[Any, Any]]:
    """Return an implementation's version and its values of a model.

    path: of the model. / module: its ``answerer`` answers `question` in a subprocess with ("values", those) or
    ("error", text). The run counts toward `budget`. Raises InputError for an error, and after the timeout.
    """
    budget.check_time()
    child = Child(module, "answerer", timeout=max(1.0, budget.seconds))
    try:
        answer = child.ask(question)
    finally:
        child.close()
    if not isinstance(answer, tuple):
        raise InputError(f"{implementation} {answer} over the model", file=path)
    kind, result = answer
    if kind == "error":
        raise InputError(f"{implementation} does not run the model: {result}", file=path)
    version, values = result
    budget.check(count_bytes(values), f"the values of {implementation}")
    return version, values


def _absolute_sums(
    descriptor: Descriptor,
    arrays: Mapping[str, Any],
    execute: Callable[[Descriptor, Mapping[str, Any]], Mapping[str, Any]],
) -> Any:
    """Return the sums of the absolute products that a node added.

    None for nodes that compute something else.
    """
    recipe = dialect(descriptor.dialect).operator(descriptor.operator).table.recipe
    if recipe is None or recipe["kernel"] not in PRODUCT_SUM_KERNELS:
        return None
    try:
        outputs = execute(descriptor, {name: _absolute(array) for name, array in arrays.items()})
    except InputError:  # for example, beyond the budget
        return None
    first = next(iter(outputs.values()))
    return np.abs(first.astype(np.float64)) if len(outputs) == 1 and isinstance(first, np.ndarray) else None


def _absolute(array: Any) -> Any:
    if isinstance(array, list):
        return [_absolute(item) for item in array]
    return array if array.dtype.kind in "biuOUS" else np.abs(array)


def _difference(our_value: Any, other_value: Any, tolerance: float, sums: Any = None) -> str:
    mismatches = find_differences(
        our_value, other_value, tolerance, sums if sums is None or sums.shape == our_value.shape else None
    )
    if not mismatches.any():
        return ""
    position = tuple(int(part) for part in np.argwhere(mismatches)[0])
    place = f" at {list(position)}" if position else ""
    first = f"{our_value[position]!s} here and {other_value[position]!s} there"
    return f"{int(mismatches.sum())} of {mismatches.size} elements, first {first}{place}"


def _layouts_differ(our_array: NDArray[Any], other_array: NDArray[Any]) -> bool:
    return our_array.shape != other_array.shape or our_array.dtype != other_array.dtype
