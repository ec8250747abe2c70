"""The checks of an operator at one level, and their dispatch to engines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from specgate.spec.fields import Cell, FieldInfo
    from specgate.spec.forms import Resolved, RuleForm

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")
#: The name of an engine's method, with its arguments.
Step = tuple[str, tuple[Any, ...]]


class Engine(Protocol[T_co]):
    """An engine (evaluator, explanation, compiler, generator) for each check."""

    def presence(self, info: FieldInfo, /) -> T_co:
        """Check that a required field is present, and an array long enough."""

    def absence(self, name: str, /) -> T_co:
        """Check that a field of other levels is absent."""

    def cell(self, info: FieldInfo, cell: Cell | None, /) -> T_co:
        """Check types, ranks, values and fused operators against the row."""

    def tensors(self, info: FieldInfo, forms: tuple[RuleForm, ...], /) -> T_co:
        """Check the tensor rules on each tensor of a field."""

    def rules(self, forms: tuple[RuleForm, ...], /) -> T_co:
        """Check the rules of the operator."""


def list_steps(level: Resolved) -> tuple[Step, ...]:
    """Return the steps of a level: structure, cells, tensor rules, rules."""
    infos = level.fields.values()
    steps: list[Step] = [("presence", (info,)) for info in infos]
    steps += [("absence", (name,)) for name in level.foreign_fields]
    cells = ((info, level.cells.get(info.name)) for info in infos)
    steps += [("cell", (info, cell)) for info, cell in cells if cell is not None or info.words or info.fuses]
    for info in infos if level.tensor_rules else ():
        forms = tuple(form for form in level.tensor_rules if form.applies_to(info))
        if info.type in {"tensor", "tensor[]"} and forms:
            steps.append(("tensors", (info, forms)))
    return (*steps, ("rules", (level.rules,)))


def walk(steps: tuple[Step, ...], engine: Engine[T]) -> Iterator[T]:
    """Yield an engine's result for each step."""
    for name, arguments in steps:
        method: Callable[..., T] = getattr(engine, name)
        yield method(*arguments)
