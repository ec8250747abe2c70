"""What a campaign asks: models of one node, drawn from the tables of the models' dialect, and files of a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from specgate.conform.draw import draw_cases
from specgate.dialects.onnx.oracle.models import NotExpressible, runtime_model
from specgate.dialects.onnx.oracle.question import make_question
from specgate.errors import InputError
from specgate.generate.cases import cases_of
from specgate.linting.files import read_whole
from specgate.placement.scopes import MODELS
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from specgate.descriptors.core import Descriptor

__all__ = ["NODE", "Case", "CaseKind", "file_cases", "levels", "node_cases", "one_node"]

CaseKind = Literal["node", "graph", "file"]
#: The name of the node that a model of one node is about.
NODE: Final = "node"
#: The most that a protobuf message may have.
_MOST_BYTES: Final = 2**31 - 1


class Case(NamedTuple):
    """One model.

    id: names it again, with the same seed: ``Relu/14/3``, ``graph/7`` or ``file/NAME``. operator: of a model of one
    node, else "". opset: of ai.onnx that it imports, "" for files. model: serialised. drawn: how its
    descriptor was; of a file its path. level: the opset that a descriptor was drawn at.
    """

    id: str
    kind: CaseKind
    operator: str
    opset: str
    model: bytes
    drawn: str = ""
    descriptor: Descriptor | None = None
    level: str = ""


def node_cases(operator: str, count: int, seed: str, newest: int | None = None) -> Iterator[Case]:
    """Yield models of one node: about `count` at each opset that changes the operator, none above `newest`.

    What no model expresses is left out, and counts all the same, so that a case has the same id for any `count`.
    """
    spec = dialect(MODELS).operator(operator)
    for level in levels(operator, newest):
        try:
            for index, drawn in enumerate(draw_cases(spec, level, count, f"{seed}/{operator}/{level}")):
                made = one_node(drawn.descriptor, level, newest)
                if made is not None:
                    name = f"{operator}/{level}/{index}"
                    yield Case(name, "node", operator, made[0], made[1], drawn.origin, drawn.descriptor, level)
        except InputError:  # nothing valid is drawn there
            continue


def levels(operator: str, newest: int | None) -> list[str]:
    """Return the opsets at which an operator changes, and the highest one."""
    found = [case.level for case in cases_of(MODELS, operator)]
    if newest is None:
        return found
    below = [level for level in found if int(level) <= newest]
    return below + [str(newest)] * (bool(below) and str(newest) not in below)


def one_node(descriptor: Descriptor, level: str, newest: int | None = None) -> tuple[str, bytes] | None:
    """Return the opset and the model of a descriptor, None where there is none.

    newest: the opset beside an operator of another domain.
    """
    question = make_question(descriptor, level, newest)
    if isinstance(question, str):
        return None
    try:
        model = runtime_model(question)
    except NotExpressible:
        return None
    model.graph.node[0].name = NODE
    return str(question.opset), model.SerializeToString()


def file_cases(folder: Path) -> Iterator[Case]:
    """Yield the models in a folder and those below it, by name; raise InputError where there are none."""
    paths = sorted(folder.rglob("*.onnx")) if folder.is_dir() else []
    if not paths:
        raise InputError("expected a folder with .onnx files", file=str(folder))
    for path in paths:
        name = path.relative_to(folder).as_posix()
        yield Case(f"file/{name}", "file", "", "", read_whole(path, _MOST_BYTES, name=str(path)), str(path))
