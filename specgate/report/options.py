"""How a report is to be shown."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from specgate.slotted import field, slotted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["RenderOptions", "below"]


@slotted(frozen=True)
class RenderOptions:
    """What the caller decides about the output; a format ignores what does not concern it.

    color: ANSI colours in text. width: terminal columns for text, at least 30 are used.
    verbose: text also lists the undecided nodes. rules: text also prints the expressions of rules that do not hold,
    and where each rule is described.
    max_per_rule: text shows three examples and a count of a file's equal findings (same id, severity, target and shape
    of message) once there are more than this. statistics: text counts the findings of each rule and lists none of them;
    JSON has the counts beside the findings.
    queries: the targets that were asked for in one word, by this; text and page show once what is the same for them.
    root: directory that fingerprints start from, and the paths in SARIF and GitHub annotations unless a file is below
    checkout, the directory into which a CI server has put the repository.
    """

    color: bool = False
    width: int = 80
    verbose: bool = False
    rules: bool = False
    max_per_rule: int = 20
    statistics: bool = False
    queries: Mapping[str, Sequence[str]] = field(default_factory=dict)
    root: str | os.PathLike[str] = "."
    checkout: str | os.PathLike[str] | None = None

    def inside(self, file: str) -> str | None:
        """Return the path of `file` below checkout or root with forward slashes, None if it is below neither."""
        found = below(file, self.checkout) if self.checkout is not None else None
        return below(file, self.root) if found is None else found


def below(file: str, root: str | os.PathLike[str]) -> str | None:
    """Return the path of `file` below root with forward slashes, None if it is not below root."""
    try:
        path = os.path.relpath(file, root)
    except ValueError:  # another drive on Windows, or a path that no file can have
        return None
    outside = path == os.pardir or path.startswith(os.pardir + os.sep)
    return None if outside else path.replace(os.sep, "/")
