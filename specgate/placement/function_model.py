"""What the file of a runtime's own functions may say: pydantic models. Imported only to (re)build the tables."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from specgate.placement.model import OperatorName, ReleaseRange, Word  # noqa: TC001 (pydantic reads them)
from specgate.spec.model import Source  # noqa: TC001 (pydantic reads it)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Problem = tuple[tuple[str | int, ...], str]

__all__ = ["FunctionsFile", "function_problems", "node_parts"]

_NODE: Final = re.compile(r"(\w+) = (\w+)\((\w+(?:, \w+)*)\)")


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class FunctionNode(_File):
    """A node of a function, which may be there only with an input of the function, or without it."""

    node: Annotated[str, StringConstraints(pattern=rf"^{_NODE.pattern}$", max_length=200)]
    given: Word | None = None
    without: Word | None = None


class RuntimeFunction(_File):
    """What one of the runtime's own operators is made of."""

    opset: int = Field(ge=1, description="of ai.onnx, whose operators the nodes are")
    inputs: list[Word] = Field(min_length=1)
    outputs: list[Word] = Field(min_length=1)
    constants: dict[Word, float | Word] = Field(default={}, description="of the first input's type; or an attribute")
    nodes: list[FunctionNode] = Field(min_length=1)
    releases: ReleaseRange | None = None


class FunctionsFile(_File):
    """Functions among the runtime's own operators."""

    sources: list[Source] = Field(min_length=1)
    unknowns: list[str] = []
    functions: dict[OperatorName, RuntimeFunction]


def node_parts(text: str) -> tuple[str, str, list[str]]:
    """Return the result of a node, its operator and its inputs."""
    found = _NODE.fullmatch(text)
    assert found is not None  # noqa: S101  # the model asks for it
    return found[1], found[2], found[3].split(", ")


def function_problems(content: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield which nodes are of no operator, which read what nothing makes, and which outputs nothing makes."""
    from specgate.spec.tables import dialect

    known = dialect("onnx").tables.operators
    for name, function in content.get("functions", {}).items():
        place = ("functions", name)
        made = {*function["inputs"], *function.get("constants", ())}
        for index, entry in enumerate(function["nodes"]):
            result, operator, inputs = node_parts(entry["node"])
            at = (*place, "nodes", index)
            if operator not in known:
                yield at, f"unknown operator {operator!r:.60}"
            yield from ((at, f"nothing makes {one!r:.60}") for one in inputs if one not in made)
            made.add(result)
        yield from ((place, f"nothing makes the output {one!r:.60}") for one in function["outputs"] if one not in made)
