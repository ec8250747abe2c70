"""Protocol of runtimes, whose releases run models node by node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from specgate.descriptors.core import Descriptor
    from specgate.linting.nodes import Graph
    from specgate.targets import Target
    from specgate.verdict import Finding, NodeRef, Verdict


class FileFindings(Protocol):
    """A release's findings on one file.

    graph: the file's nodes as the release reads them.
    """

    target: Target
    graph: Graph

    def settle(self, findings: Sequence[Finding]) -> list[Finding]:
        """Return findings on nodes with the severities of the release.

        Further rejections by the release are included.
        """
        ...

    def refuses(self, finding: Finding) -> bool:
        """Return whether the release rejects models with a finding on the file."""
        ...

    def as_warning(self, finding: Finding) -> Finding:
        """Return a finding on the file that the release ignores, as a warning."""
        ...

    def unknown(self, nodes: Sequence[NodeRef]) -> list[NodeRef]:
        """Return the nodes without a table whose operator the release lacks too."""
        ...


class Executor(Protocol):
    """Computes nodes as a release does."""

    def evaluate(self, run: Any, descriptor: Descriptor, arrays: Mapping[str, Any], place: str) -> dict[str, Any]:
        """Return a node's outputs by name.

        place: the node's path in the model.
        """
        ...

    def report(self) -> None:
        """Report notes about the outputs."""
        ...


class Runtime:
    """One runtime with all of its packages.

    name: of its tables under ``specs/``. dialect: of the models that it runs.
    """

    name: ClassVar[str]
    dialect: ClassVar[str]

    def target(self, package: str, text: str) -> Target | None:
        """Return the target ``PACKAGE:WANTED``, None for another package.

        Raises InputError for an unknown release.
        """
        raise NotImplementedError

    def releases(self) -> Iterable[dict[str, Any]]:
        """Return the rows of `specgate targets`."""
        raise NotImplementedError

    def table_hashes(self) -> Mapping[str, str]:
        """Return the hashes of its tables by name."""
        raise NotImplementedError

    def rule_groups(self) -> Mapping[str, Mapping[str, tuple[str, str, dict[str, str]]]]:
        """Return its rules by the first two parts of their ids.

        Each rule has a severity, a requirement and sources.
        """
        raise NotImplementedError

    def file_findings(
        self, graph: Graph, target: Target, device: frozenset[str] | None, file: str | None
    ) -> FileFindings:
        """Return an object that grades findings on a file for a release."""
        raise NotImplementedError

    def verdict(
        self, descriptor: Descriptor, version: str, page: Verdict, target: Target, device: frozenset[str] | None
    ) -> Verdict:
        """Return a release's verdict on one node.

        page: the verdict by the tables of the dialect.
        """
        raise NotImplementedError

    def registered_fix(self, finding: Finding, descriptor: Descriptor, target: Target) -> Finding:
        """Return a type finding whose fix names only registered types."""
        raise NotImplementedError

    def executor(self, path: str, target: Target, on_note: Callable[[str], object]) -> Executor | None:
        """Return the executor of a model's nodes, or None.

        None means that nodes follow the dialect's definition. Raises InputError.
        """
        raise NotImplementedError
