"""The protocol of a runtime: a package whose releases run models of a dialect, node by node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from specgate.descriptors.core import Descriptor
    from specgate.linting.nodes import Graph
    from specgate.targets import Target
    from specgate.verdict import Finding, NodeRef, Verdict

__all__ = ["Executor", "FileFindings", "Runtime"]


class FileFindings(Protocol):
    """The answer of a release about one file.

    graph: the file's nodes as the release reads them.
    """

    target: Target
    graph: Graph

    def settle(self, findings: Sequence[Finding]) -> list[Finding]:
        """Return findings on nodes with the severities of the release, and what else it rejects."""
        ...

    def refuses(self, found: Finding) -> bool:
        """Return whether the release loads no model with this finding on the file itself."""
        ...

    def as_warning(self, found: Finding) -> Finding:
        """Return a finding on the file itself that the release ignores, as a warning."""
        ...

    def unknown(self, nodes: Sequence[NodeRef]) -> list[NodeRef]:
        """Return those of the nodes without a table whose operator the release lacks, too."""
        ...


class Executor(Protocol):
    """Computes nodes as a release does."""

    def evaluate(self, run: Any, descriptor: Descriptor, arrays: Mapping[str, Any], place: str) -> dict[str, Any]:
        """Return a node's outputs by name. place: the node's path in the model."""
        ...

    def report(self) -> None:
        """Pass on what must be known of the outputs."""
        ...


class Runtime:
    """One runtime, whatever packages it comes in.

    name: of its tables under ``specs/``. dialect: of the models that it runs.
    """

    name: ClassVar[str]
    dialect: ClassVar[str]

    def target(self, package: str, text: str) -> Target | None:
        """Return the target ``PACKAGE:WANTED``, None for a name that is not its package's; raise InputError."""
        raise NotImplementedError

    def releases(self) -> Iterable[dict[str, Any]]:
        """Return the rows of `specgate targets`."""
        raise NotImplementedError

    def table_hashes(self) -> Mapping[str, str]:
        """Return the hash of what its tables say, by their name."""
        raise NotImplementedError

    def rule_groups(self) -> Mapping[str, Mapping[str, tuple[str, str, dict[str, str]]]]:
        """Return its rules by the first two parts of their ids: severity, requirement, source of each."""
        raise NotImplementedError

    def file_findings(
        self, graph: Graph, target: Target, device: frozenset[str] | None, file: str | None
    ) -> FileFindings:
        """Return what decides which findings on a file are errors for a release."""
        raise NotImplementedError

    def verdict(
        self, descriptor: Descriptor, version: str, page: Verdict, target: Target, device: frozenset[str] | None
    ) -> Verdict:
        """Return what a release does with one node. page: the verdict by the tables of the dialect."""
        raise NotImplementedError

    def registered_fix(self, finding: Finding, descriptor: Descriptor, target: Target) -> Finding:
        """Return a finding on a type with a fix that names only types that the release has a kernel for."""
        raise NotImplementedError

    def executor(self, path: str, target: Target, on_note: Callable[[str], object]) -> Executor | None:
        """Return what executes the nodes of a model, None if the dialect's definition does; raise InputError."""
        raise NotImplementedError
