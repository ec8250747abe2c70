"""What a runtime answers to a model: how creating its session ends, where its nodes are, what was created for them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["NOT_RUN", "Answer", "Created", "Placed", "placed_nodes"]

#: How the answer to a run begins that was asked for and cannot be had.
NOT_RUN: Final = "not run"
#: The runtime's names of its providers, and ours.
_PROVIDERS: Final = {"CPUExecutionProvider": "CPU", "DmlExecutionProvider": "DirectML"}
_GROUP: Final = re.compile(r"\s*(?:All nodes|Node\(s\)) placed on \[(\w*)\]\. Number of nodes: (\d+)\s*")
_NODE: Final = re.compile(r"\s*([^\s(]+) \((.*)\)\s*", re.DOTALL)
#: Where in the runtime an error was raised says nothing of the model, and changes with the build and the process.
_SOURCE: Final = re.compile(
    r"\S*[\\/]\S+\.(?:cc|cpp|h)[:(]\d+\)?\s?"
    r"|\S*\.dll![0-9A-F]+: (?:\(caller: [0-9A-F]+\) )?(?:Exception\(\d+\) )?(?:tid\([0-9a-f]+\) )?"
)


class Placed(NamedTuple):
    """A node of the runtime's own graph: inlined functions, inserted casts and copies are nodes of it.

    provider: ``CPU`` or ``DirectML``.
    """

    name: str
    op_type: str
    provider: str


class Created(NamedTuple):
    """A DirectML operator that was created: its descriptor in DxDispatch's words, and CreateOperator's HRESULT.

    hresult: None where the process ended in it. kernel: operators of one kernel, or of one graph of kernels, have the
    same number. deferred: it was created when the session ran, not with it.
    """

    descriptor: Mapping[str, Any]
    hresult: int | None
    kernel: int
    deferred: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of a model.

    word: how creating the session ended. error: the runtime's own text where it ``fails``; code: its number, one of
    OrtErrorCode (9 is NOT_IMPLEMENTED: a node without a kernel), else 0. nodes: with their places, as far as the
    runtime came; grouped by provider, in the order of the graph. operators: in the order of their creation. run: how a
    run of the session ended, if it was asked for: ``ran``, ``crashed``, ``timeout``, ``not run`` with the reason, or
    the text of its error. seconds: how long it all took.
    """

    word: Literal["created", "fails", "crashed", "timeout"]
    error: str = ""
    code: int = 0
    nodes: tuple[Placed, ...] = ()
    operators: tuple[Created, ...] = ()
    run: str = ""
    seconds: float = 0.0

    @property
    def session(self) -> str:
        """``created``, ``crashed`` or ``timeout``, else the text of the error."""
        return self.error if self.word == "fails" else self.word

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "session": self.word,
            "error": self.error,
            "code": self.code,
            "nodes": [node._asdict() for node in self.nodes],
            "operators": [
                each._asdict() | {"hresult": None if each.hresult is None else f"0x{each.hresult:08X}"}
                for each in self.operators
            ],
            "run": self.run,
            "seconds": round(self.seconds, 4),
        }


def error_text(text: str) -> str:
    """Return an error's text on one line, without the places in the runtime's source."""
    return " ".join(_SOURCE.sub("", text).split())


def placed_nodes(lines: Iterable[str]) -> tuple[Placed, ...]:
    """Return the nodes of the runtime's log lines about places; one provider alone is logged without its nodes."""
    provider = ""
    nodes = []
    for line in lines:
        group = _GROUP.fullmatch(line)
        node = _NODE.fullmatch(line)
        if group:
            provider = _PROVIDERS.get(group[1], group[1])
        elif node and provider:
            nodes.append(Placed(node[2], node[1], provider))
    return tuple(nodes)
