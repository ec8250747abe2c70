"""Descriptor documents of lowered nodes, one file per node."""

from __future__ import annotations

import difflib
import os
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from specgate.dialects import capability
from specgate.dialects.protocols import Documents
from specgate.errors import InputError
from specgate.files import write_text
from specgate.report.clean import clean
from specgate.report.jsonreport import dumps

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from specgate.runtimes.onnxruntime.placement import PlacedNode, Placement

#: Maximum length of the node's part of a file name; most systems allow 255 bytes in total.
_MAX_NAME: Final = 120
#: Maximum number of names that are compared with an unknown one.
_COMPARED: Final = 5000
_UNSAFE_CHARACTERS: Final = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class WrittenDocuments:
    """The result of writing documents.

    files: names in the folder, in the order of nodes. left: why the other nodes have no file.
    """

    folder: str
    files: tuple[str, ...]
    left: tuple[tuple[str, int], ...]

    def __str__(self) -> str:
        count = f"{len(self.files)} {'file' if len(self.files) == 1 else 'files'} written to {clean(self.folder)}"
        rest = ", ".join(f"{number} {reason}" for reason, number in self.left)
        return f"{count}; of the other nodes {rest}" if rest else count


def write_documents(
    placement: Placement, dialect_name: str, folder: str, names: Sequence[str] = ()
) -> WrittenDocuments:
    """Write the descriptors of each lowered node to a file.

    The descriptors in a file are in order of creation. dialect_name: their dialect. folder: created if missing. names:
    node names in the file or whole paths; empty for all nodes. Raises InputError, before it writes anything, for an
    unknown name, and if the folder or a file has another type.
    """
    nodes = _nodes_by_name(placement, names) if names else placement.nodes
    files = dict(_files(duplicate for node in nodes for duplicate in (node, *node.unlike) if duplicate.lowered))
    _prepare(folder, files)
    owner = capability(dialect_name, Documents)
    left = Counter(_missing_reason(node, placement) for node in nodes if not node.lowered)
    file_names = []
    for file, node in files.items():
        try:
            document = owner.document_of(node.lowered or ())
        except InputError:  # the kernel passes on sizes that no buffer can have
            left["with tensors that do not fit into a buffer"] += 1
            continue
        write_text(os.path.join(folder, file), _text(node, placement, document))  # noqa: PTH118
        file_names.append(file)
    return WrittenDocuments(folder, tuple(file_names), tuple(left.items()))


def _nodes_by_name(placement: Placement, names: Sequence[str]) -> list[PlacedNode]:
    """Return the nodes with these names in model order; names may repeat."""
    matching_nodes: list[PlacedNode] = []
    for name in names:
        named_nodes = [node for node in placement.nodes if node.node == name or node.node.partition("/")[2] == name]
        if not named_nodes:
            paths = [node.node for node in placement.nodes[:_COMPARED]]
            candidates = paths if "/" in name else [path.rpartition("/")[2] for path in paths]
            similar = difflib.get_close_matches(name, candidates, 3, 0.5)
            hint = f"; did you mean {' or '.join(map(clean, similar))}?" if similar else ""
            raise InputError(f"the model has no node {name!r:.80} among those placed{hint}", file=placement.file)
        matching_nodes += (node for node in named_nodes if node not in matching_nodes)
    return matching_nodes


def _files(nodes: Iterator[PlacedNode]) -> Iterator[tuple[str, PlacedNode]]:
    """Yield each node with its file name, numbered if the name is taken."""
    names: set[str] = set()
    numbers: Counter[str] = Counter()
    for node in nodes:
        name = _UNSAFE_CHARACTERS.sub("_", node.node).strip("._")[:_MAX_NAME] or "node"
        file = name
        while file.lower() in names:  # some file systems ignore case
            numbers[name.lower()] += 1
            file = f"{name}-{numbers[name.lower()] + 1}"
        names.add(file.lower())
        yield f"{file}.json", node


def _prepare(folder: str, files: dict[str, PlacedNode]) -> None:
    """Create the folder; raise InputError if it is not one, or a file in it is a link, directory, pipe or device."""
    try:
        os.makedirs(folder, exist_ok=True)  # noqa: PTH103
    except (OSError, ValueError) as error:
        is_file = isinstance(error, FileExistsError | NotADirectoryError)
        reason = "it is not a folder" if is_file else getattr(error, "strerror", None) or error
        raise InputError(f"expected a folder to write to: {reason}", file=folder) from None
    for file in files:
        path = os.path.join(folder, file)  # noqa: PTH118
        if os.path.lexists(path) and (os.path.islink(path) or not os.path.isfile(path)):  # noqa: PTH113, PTH114
            raise InputError("expected a regular file to replace, found something else", file=path)


def _text(node: PlacedNode, placement: Placement, document: dict[str, Any]) -> str:
    """Return the document with comments that name its origin.

    Names may contain anything but line breaks.
    """
    version = "" if node.version is None else f"-{node.version}"
    lines = [f"{node.node} ({node.operator}{version}) as created by {placement.target}."]
    if node.creation == "fails":
        lines.append(f"Its kernel fails: {node.created_by}")
    if node.duplicates:
        lines.append(f"The runtime creates {node.times} copies of it, one per consumer.")
    lines.append("The descriptors are in creation order; each has separate buffers, filled with zeros.")
    return "".join(f"// {clean(line, 500)}\n" for line in lines) + dumps(document)


def _missing_reason(node: PlacedNode, placement: Placement) -> str:
    """Return why a node has no file."""
    if node.provider is None:
        return "without a kernel"
    if node.provider != placement.providers[0]:
        return f"on {node.provider}"
    if node.lowered is not None:
        return "without an operator"
    return {"deferred": "compiled at the first run", "fails": "rejected by their kernels"}.get(node.creation, "unknown")
