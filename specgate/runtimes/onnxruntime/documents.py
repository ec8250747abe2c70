"""What placed nodes become, as files of the dialect below: one document for each node that lowers."""

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

__all__ = ["Written", "write_documents"]

#: How long the part of a file's name may be that comes from a node: systems take 255 bytes, most of them.
_LONGEST: Final = 120
#: With how many names a wrong one is compared.
_COMPARED: Final = 5000
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class Written:
    """What was written. files: their names in the folder, by the order of nodes. left: why the others were not."""

    folder: str
    files: tuple[str, ...]
    left: tuple[tuple[str, int], ...]

    def __str__(self) -> str:
        count = f"{len(self.files)} {'file' if len(self.files) == 1 else 'files'} written to {clean(self.folder)}"
        rest = ", ".join(f"{number} {why}" for why, number in self.left)
        return f"{count}; of the other nodes {rest}" if rest else count


def write_documents(placement: Placement, below: str, folder: str, names: Sequence[str] = ()) -> Written:
    """Write the descriptors of each node that has some into a file of its own, in the order in which they are made.

    below: the dialect of the descriptors. folder: it is made where it does not exist. names: of nodes, in the file or
    by their whole path; without any all nodes. Raises InputError, before anything is written, for a name that no node
    has, and for a folder or file that is something else.
    """
    nodes = _named(placement, names) if names else placement.nodes
    files = dict(_files(one for node in nodes for one in (node, *node.unlike) if one.lowered))
    _prepare(folder, files)
    owner = capability(below, Documents)
    left = Counter(_left(node, placement) for node in nodes if not node.lowered)
    written = []
    for file, node in files.items():
        try:
            document = owner.document_of(node.lowered or ())
        except InputError:  # sizes that the kernel passes on and that no buffer can have
            left["with tensors that no buffer holds"] += 1
            continue
        write_text(os.path.join(folder, file), _text(node, placement, document))  # noqa: PTH118
        written.append(file)
    return Written(folder, tuple(written), tuple(left.items()))


def _named(placement: Placement, names: Sequence[str]) -> list[PlacedNode]:
    """Return the nodes of these names, in their order; several nodes may have one."""
    placeds: list[PlacedNode] = []
    for name in names:
        own = [node for node in placement.nodes if node.node == name or node.node.partition("/")[2] == name]
        if not own:
            paths = [node.node for node in placement.nodes[:_COMPARED]]
            known = paths if "/" in name else [path.rpartition("/")[2] for path in paths]
            near = difflib.get_close_matches(name, known, 3, 0.5)
            hint = f"; did you mean {' or '.join(map(clean, near))}?" if near else ""
            raise InputError(f"the model has no node {name!r:.80} where it is placed{hint}", file=placement.file)
        placeds += (node for node in own if node not in placeds)
    return placeds


def _files(nodes: Iterator[PlacedNode]) -> Iterator[tuple[str, PlacedNode]]:
    """Yield each node with the name of its file: what is safe of its path, and a number where that was taken."""
    names: set[str] = set()
    numbers: Counter[str] = Counter()
    for node in nodes:
        name = _UNSAFE.sub("_", node.node).strip("._")[:_LONGEST] or "node"
        file = name
        while file.lower() in names:  # some systems do not tell capitals apart
            numbers[name.lower()] += 1
            file = f"{name}-{numbers[name.lower()] + 1}"
        names.add(file.lower())
        yield f"{file}.json", node


def _prepare(folder: str, files: dict[str, PlacedNode]) -> None:
    """Make the folder; refuse what is none, and files in it that are a folder, a pipe or a device."""
    try:
        os.makedirs(folder, exist_ok=True)  # noqa: PTH103
    except (OSError, ValueError) as error:
        is_file = isinstance(error, FileExistsError | NotADirectoryError)
        reason = "it is no folder" if is_file else getattr(error, "strerror", None) or error
        raise InputError(f"expected a folder to write to: {reason}", file=folder) from None
    for file in files:
        path = os.path.join(folder, file)  # noqa: PTH118
        if os.path.exists(path) and not os.path.isfile(path):  # noqa: PTH110, PTH113
            raise InputError("expected a regular file to replace, found something else", file=path)


def _text(node: PlacedNode, placement: Placement, document: dict[str, Any]) -> str:
    """Return the document with comments that say where it comes from: names may hold anything but a line break."""
    version = "" if node.version is None else f"-{node.version}"
    lines = [f"{node.node} ({node.operator}{version}) as {placement.target} makes it."]
    if node.creation == "fails":
        lines.append(f"Its kernel fails: {node.created_by}")
    if node.duplicates:
        lines.append(f"The runtime makes it {node.times} times: nodes that read it have one each.")
    lines.append("The descriptors come in the order in which they are made; each has buffers of its own, with zeros.")
    return "".join(f"// {clean(line, 500)}\n" for line in lines) + dumps(document)


def _left(node: PlacedNode, placement: Placement) -> str:
    """Why a node has no file."""
    if node.provider is None:
        return "without a kernel"
    if node.provider != placement.providers[0]:
        return f"on {node.provider}"
    if node.lowered is not None:
        return "without an operator"
    return {"deferred": "made at the first run", "fails": "refused by their kernels"}.get(node.creation, "not known")
