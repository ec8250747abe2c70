"""A runtime's answer about a model: session, node placement, operators."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["NOT_RUN", "Answer", "Created", "Placed", "placed_nodes"]

#: Prefix of the answer if a requested run is not possible.
NOT_RUN: Final = "not run"
#: The runtime's names of its providers, and specgate's.
_PROVIDERS: Final = {"CPUExecutionProvider": "CPU", "DmlExecutionProvider": "DirectML"}
_GROUP: Final = re.compile(r"\s*(?:All nodes|Node\(s\)) placed on \[(\w*)\]\. Number of nodes: (\d+)\s*")
_NODE: Final = re.compile(r"\s*([^\s(]+) \((.*)\)\s*", re.DOTALL)
#: Source location of an error, which depends on the build and the process but not on the model.
_SOURCE: Final = re.compile(
    r"\S*[\\/]\S+\.(?:cc|cpp|h)[:(]\d+\)?\s?"
    r"|\S*\.dll![0-9A-F]+: (?:\(caller: [0-9A-F]+\) )?(?:Exception\(\d+\) )?(?:tid\([0-9a-f]+\) )?"
)


class Placed(NamedTuple):
    """A node of the runtime's graph, which includes its own insertions.

    The runtime inlines functions and inserts casts and copies. provider: ``CPU`` or ``DirectML``.
    """

    name: str
    op_type: str
    provider: str


class Created(NamedTuple):
    """A created DirectML operator.

    It has the descriptor in DxDispatch's format, and CreateOperator's HRESULT.
    hresult: None if the process ended during the call. kernel: equal for operators of one kernel or of one graph of
    kernels. deferred: created during the run, not with the session.
    """

    descriptor: Mapping[str, Any]
    hresult: int | None
    kernel: int
    deferred: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """The outcome for a model.

    word: how the creation of the session ended. error: the runtime's text if it ``fails``; code: the OrtErrorCode (9 is
    NOT_IMPLEMENTED, a node without a kernel), else 0. nodes: placed nodes as far as the runtime came, grouped by
    provider, in graph order. operators: in order of creation. run: how a requested run ended: ``ran``, ``crashed``,
    ``timeout``, ``not run`` with the reason, or the text of its error. seconds: total duration.
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
        """Session outcome: ``created``, ``crashed``, ``timeout`` or error text."""
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
    """Return an error's text on one line, without source locations."""
    return " ".join(_SOURCE.sub("", text).split())


def placed_nodes(lines: Iterable[str]) -> tuple[Placed, ...]:
    """Return the placed nodes from the runtime's log lines.

    If all nodes are on one provider, the log omits the nodes.
    """
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
