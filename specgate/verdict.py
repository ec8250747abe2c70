"""What a check answers: findings, verdicts and reports over many nodes. Plain data, no behaviour of any dialect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from specgate.descriptors.core import shown
from specgate.errors import InputError
from specgate.slotted import field, replace, slotted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = [
    "BASES", "Basis", "Edit", "Finding", "Location", "NodeContext", "NodeRef", "Port", "Report", "Severity", "Verdict",
    "expect_basis",
]  # fmt: skip

Severity = Literal["error", "warning", "note"]
Basis = Literal["documented", "observed", "both"]
BASES: Final[tuple[str, ...]] = get_args(Basis)


def expect_basis(basis: object, known: tuple[str, ...] = BASES) -> None:
    """Raise InputError for a basis that is not in `known`; every public function asks this first."""
    if not isinstance(basis, str) or basis not in known:
        raise InputError(f"expected the basis {', '.join(known[:-1])} or {known[-1]}, found {shown(basis)}")


@slotted(frozen=True)
class Location:
    """Where in the user's files a finding stands; every part may be unknown.

    file: path as the user gave it. line: 1-based line in a text file (never set for binary files).
    node: structural path inside the file, e.g. ``graph/node[3] 'OneHot_3'`` or ``dispatchables/one_hot``.
    operator: the operator in its dialect's own words (``OneHot``, ``ONE_HOT``).
    """

    file: str | None = None
    line: int | None = None
    node: str | None = None
    operator: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return it as ``--format json`` prints it."""
        from specgate.report.jsonreport import location_json

        return location_json(self) or {}


@slotted(frozen=True)
class Edit:
    """A change of a model's file, which does away with a finding, perhaps with others.

    path: the steps to it, from the outermost message on: a field's name and its number among those of this name.
    number or text: what is written there, neither to take the field out. expected: the name (or domain) of the latter,
    or the text that is there now. added: whole fields to put into the message that the path leads to, at its end or
    with `ahead` at its beginning; `text` says then what they are.
    """

    path: tuple[tuple[str, int], ...]
    number: int | None = None
    expected: str = ""
    text: str | None = None
    added: bytes | None = None
    ahead: bool = False


@slotted(frozen=True)
class Finding:
    """One failed rule, support row or file-level check.

    id: permanent name such as ``directml/ONE_HOT/axis-range``; ``specgate rule ID`` prints its reference.
    where: the field it is about, in the descriptor's own words (``IndicesTensor.DataType``), "" for the whole.
    message: what must be, then the values that are otherwise. values: what decides it, by expression.
    levels: those that accept the whole descriptor as written for each of them, in order (where it is written for
    a later level than the target's, those that accept it as it is); versions of a domain that has its own.
    first_level: the lowest of them, None where there is none. fix: what to change, in one phrase, if something can be
    proposed; a level that it names is one of `levels`, or becomes one once what else is wrong is corrected.
    basis: whether the page ("documented") or the builds ("observed") refuse it.
    rule: the expression of the rule that does not hold, None for what is no expression.
    ignored: why it is silenced (the reason of an ignore, or which baseline knows it), None if it is not.
    edits: what `specgate lint --fix` changes in the file to do away with it; none where nothing is safe.
    """

    id: str
    severity: Severity
    message: str
    where: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    first_level: str | None = None
    levels: tuple[str, ...] = ()
    fix: str | None = None
    basis: Basis = "documented"
    target: str | None = None
    location: Location | None = None
    rule: str | None = None
    ignored: str | None = field(default=None, compare=False)
    edits: tuple[Edit, ...] = field(default=(), compare=False, repr=False)

    @property
    def node(self) -> str | None:
        """The node that it is about, None where it is not about one."""
        return self.location.node if self.location is not None else None

    @property
    def fixable(self) -> bool:
        return bool(self.edits)

    def at(self, location: Location) -> Finding:
        """Return the same finding placed at `location`."""
        return replace(self, location=location)

    def to_dict(self) -> dict[str, Any]:
        """Return it as ``--format json`` prints it; the fingerprint is that of a report of this finding alone."""
        from specgate.report.jsonreport import finding_json

        return finding_json(self)


class _Reasons:
    """The slots for what finds the reasons of a verdict made without them, and whether an open one has notes."""

    __slots__ = ("_reasons", "may_note")

    _reasons: Callable[[], Verdict]
    may_note: bool


@slotted(frozen=True)
class Verdict(_Reasons):
    """The answer to one check.

    accepted: True, False, or None where an unknown or symbolic size leaves it undecided. findings: why it is rejected;
    as notes what the page alone rejects where the verdict follows the builds. undecided: the rules that an unknown size
    leaves open, as notes. notes: what an accepted descriptor still depends on (a device capability, say).

    The findings of a rejection, and what is undecided, are made when they are first read: the answer alone takes a
    fraction of the time.
    """

    accepted: bool | None
    target: str
    operator: str
    basis: Basis = "both"
    findings: tuple[Finding, ...] = ()
    undecided: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()

    @classmethod
    def unread(
        cls,
        target: str,
        operator: str,
        basis: Basis,
        reasons: Callable[[], Verdict],
        *,
        accepted: bool | None = False,
        may_note: bool = False,
    ) -> Verdict:
        """Return one that is not accepted, with the findings that the verdict of `reasons` has, when they are read.

        may_note: of an undecided one, that notes may be among its findings; nothing else can be.
        """
        verdict = object.__new__(cls)
        values = {"accepted": accepted, "target": target, "operator": operator, "basis": basis, "notes": ()}
        if accepted is None and not may_note:
            values["findings"] = ()  # what is certain would make it a rejection
        for name, value in (values | {"_reasons": reasons, "may_note": may_note}).items():
            object.__setattr__(verdict, name, value)
        return verdict

    def __getattr__(self, name: str) -> Any:
        """Make what is not there yet of a verdict made by `unread`."""
        if name not in {"findings", "undecided"}:
            raise AttributeError(f"a Verdict has no {name!r}", name=name, obj=self)
        verdict = self._reasons()
        object.__setattr__(self, "findings", verdict.findings)
        object.__setattr__(self, "undecided", verdict.undecided)
        return getattr(verdict, name)

    @property
    def word(self) -> str:
        """The verdict in the project's words: accepted, rejected or undecided."""
        return {True: "accepted", False: "rejected", None: "undecided"}[self.accepted]

    def __bool__(self) -> bool:
        """True only for an accepted one: neither a rejection nor an open question is a yes."""
        return self.accepted is True

    def to_dict(self) -> dict[str, Any]:
        """Return it as an entry of ``verdicts`` in what ``specgate check --format json`` prints."""
        from specgate.report.jsonreport import verdict_json

        return verdict_json(self)


class _Saying:
    """The slot for what says the reason of a node that was noted without it."""

    __slots__ = ("_say",)

    _say: Callable[[], str]


@slotted(frozen=True)
class NodeRef(_Saying):
    """A node that was counted but not judged to the end: it has no table, or its verdict is undecided.

    reason: one line, e.g. ``no table`` or the open rules with the dimension to pin.
    """

    location: Location
    target: str | None = None
    reason: str = ""

    @classmethod
    def unread(cls, location: Location, target: str | None, say: Callable[[], str]) -> NodeRef:
        """Return one with the reason that `say` gives when it is first read."""
        node = object.__new__(cls)
        object.__setattr__(node, "location", location)
        object.__setattr__(node, "target", target)
        object.__setattr__(node, "_say", say)
        return node

    def __getattr__(self, name: str) -> Any:
        """Make the reason of a node made by `unread`."""
        if name != "reason":
            raise AttributeError(f"a NodeRef has no {name!r}", name=name, obj=self)
        object.__setattr__(self, "reason", self._say())
        return self.reason

    def to_dict(self) -> dict[str, Any]:
        """Return it as ``--format json`` prints it."""
        from specgate.report.jsonreport import node_json

        return node_json(self)


@slotted(frozen=True)
class Port:
    """A tensor that a node reads or writes.

    field: the operator's own name for it, "" where its table is unknown. name: the value's name in the file.
    type, sizes: as far as they are known; a size is a number, a symbol or None, and all is None for an unknown rank.
    nodes: (path, operator) of the node that writes an input, or of nodes that read an output; more: how many others.
    """

    field: str
    name: str | None = None
    type: str | None = None
    sizes: tuple[int | str | None, ...] | None = None
    nodes: tuple[tuple[str, str], ...] = ()
    more: int = 0


@slotted(frozen=True)
class NodeContext:
    """What a report shows of a node beside its findings: the tensors that it reads and writes, and its neighbours."""

    inputs: tuple[Port, ...] = ()
    outputs: tuple[Port, ...] = ()


@slotted()
class Report:
    """What lint (or a check of several files) found.

    nodes: how many (node, target) pairs were judged. ignored: findings silenced by configuration or baseline.
    judged: which targets each file was judged for; those of its dialect. context: of nodes with findings or open
    questions, by file and node path. unusable: a line for each file that could not be read; the report says
    nothing else about it. hidden: how many findings the user's selection left out. fixed: those that changes of files
    did away with, None where no file was to be changed.
    """

    targets: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    nodes: int = 0
    findings: list[Finding] = field(default_factory=list)
    undecided: list[NodeRef] = field(default_factory=list)
    no_table: list[NodeRef] = field(default_factory=list)
    ignored: list[Finding] = field(default_factory=list)
    judged: dict[str, tuple[str, ...]] = field(default_factory=dict)
    context: dict[tuple[str | None, str], NodeContext] = field(default_factory=dict)
    unusable: list[str] = field(default_factory=list)
    hidden: int = 0
    fixed: list[Finding] | None = None

    @property
    def clean(self) -> bool:
        """True when there is no finding of severity error or warning."""
        return not any(f.severity != "note" for f in self.findings)

    def targets_of(self, file: str) -> tuple[str, ...]:
        """Return the targets that a file was judged for; all of them where that is not known."""
        return self.judged.get(file, tuple(self.targets))

    def to_dict(self) -> dict[str, Any]:
        """Return it as ``specgate lint --format json`` prints it: the schema ``specgate-report/1``."""
        from specgate.report.jsonreport import document

        return document(self)

    def extend(self, other: Report) -> None:
        """Add another file's report to this one; targets and files keep their first order."""
        self.targets.extend(t for t in other.targets if t not in self.targets)
        self.files.extend(f for f in other.files if f not in self.files)
        self.nodes += other.nodes
        self.findings.extend(other.findings)
        self.undecided.extend(other.undecided)
        self.no_table.extend(other.no_table)
        self.ignored.extend(other.ignored)
        self.judged.update(other.judged)
        self.context.update(other.context)
        self.unusable.extend(other.unusable)
        self.hidden += other.hidden
        self.fixed = self.fixed if other.fixed is None else [*(self.fixed or ()), *other.fixed]
