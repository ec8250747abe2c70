"""Results of checks as plain data: findings, verdicts and reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from specgate.descriptors.core import format_value
from specgate.errors import InputError
from specgate.loading import lazy
from specgate.slotted import field, replace, slotted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from specgate.report import jsonreport
else:
    jsonreport = lazy("specgate.report.jsonreport")

Severity = Literal["error", "warning", "note"]
Basis = Literal["documented", "observed", "both"]
BASES: Final[tuple[str, ...]] = get_args(Basis)


def expect_basis(basis: object) -> None:
    """Raise InputError for anything that is not a basis."""
    if not isinstance(basis, str) or basis not in BASES:
        raise InputError(f"expected the basis {', '.join(BASES[:-1])} or {BASES[-1]}, found {format_value(basis)}")


@slotted(frozen=True)
class Location:
    """The position of a finding in the user's files.

    Any part may be unknown. file: path as the user gave it. line: 1-based line in a text file; never set for binary
    files. node: structural path inside the file, such as ``graph/node[3] 'OneHot_3'`` or ``dispatchables/one_hot``.
    operator: the operator's name in its dialect (``OneHot``, ``ONE_HOT``).
    """

    file: str | None = None
    line: int | None = None
    node: str | None = None
    operator: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the location as ``--format json`` prints it."""
        return jsonreport.location_json(self) or {}


@slotted(frozen=True)
class Edit:
    """A change of a model file that fixes one or more findings.

    path: the steps from the outermost protobuf message to the field: the name of each field and its index among the
    fields of that name. number, text: the new value; if neither is set, the field is removed. expected: the current
    text, or the name or domain at the end of the path. added: complete fields to append to the message at `path`, or to
    prepend if `ahead` is set; `text` then describes them.
    """

    path: tuple[tuple[str, int], ...]
    number: int | None = None
    expected: str = ""
    text: str | None = None
    added: bytes | None = None
    ahead: bool = False


@slotted(frozen=True)
class Finding:
    """One failed rule, support row or check of a whole file.

    id: permanent id such as ``directml/ONE_HOT/axis-range``; ``specgate rule ID`` prints its reference. where: the
    field in the descriptor's vocabulary (``IndicesTensor.DataType``), "" for the whole descriptor. message: the
    requirement, then the actual values. values: the values that decide it, by expression.

    levels: the levels that accept the whole descriptor as written for each of them, in order. If it is written for a
    later level than the target's, these are the levels that accept it unchanged. They are versions of the domain if the
    domain has its own. first_level: the lowest of them, or None.

    fix: a phrase that says what to change, if a fix is known. A level that it names is one of `levels`, or becomes one
    once the other errors are corrected. edits: the changes that `specgate lint --fix` makes; empty without a safe
    change.

    basis: whether the documentation ("documented") or builds ("observed") reject it. rule: the expression that failed,
    None for checks without an expression. ignored: why the finding is silenced (the reason of an ignore, or the
    baseline); None if it is active.
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
        """The node of the finding; None if it is not about a node."""
        return self.location.node if self.location is not None else None

    @property
    def fixable(self) -> bool:
        return bool(self.edits)

    def at(self, location: Location) -> Finding:
        """Return the same finding with another location."""
        return replace(self, location=location)

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as ``--format json`` prints it.

        The fingerprint is that of a report that contains only this finding.
        """
        return jsonreport.finding_json(self)


class _Reasons:
    """Slots for the deferred reasons of a verdict."""

    __slots__ = ("_reasons", "may_note")

    _reasons: Callable[[], Verdict]
    may_note: bool


@slotted(frozen=True)
class Verdict(_Reasons):
    """The result of one check.

    accepted: True, False, or None if an unknown or symbolic size leaves the answer open. findings: why it is rejected;
    if the verdict follows the builds, rejections by the documentation alone are notes. undecided: the rules that an
    unknown size leaves open, as notes. notes: conditions on which an accepted descriptor depends, such as a device
    capability.

    Findings and undecided rules are computed on first access, because the answer alone takes a fraction of the time.
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
        is_accepted: bool | None = False,
        may_note: bool = False,
    ) -> Verdict:
        """Return a verdict whose findings are computed on first access.

        Only for a verdict that is rejected or undecided. reasons: returns the verdict with its findings. may_note:
        whether an undecided verdict may have notes among its findings.
        """
        verdict = object.__new__(cls)
        values = {"accepted": is_accepted, "target": target, "operator": operator, "basis": basis, "notes": ()}
        if is_accepted is None and not may_note:
            values["findings"] = ()  # a certain violation would make it a rejection
        for name, value in (values | {"_reasons": reasons, "may_note": may_note}).items():
            object.__setattr__(verdict, name, value)
        return verdict

    def __getattr__(self, name: str) -> Any:
        """Compute the deferred attributes of a verdict made by `unread`."""
        if name not in {"findings", "undecided"}:
            raise AttributeError(f"a Verdict has no {name!r}", name=name, obj=self)
        verdict = self._reasons()
        object.__setattr__(self, "findings", verdict.findings)
        object.__setattr__(self, "undecided", verdict.undecided)
        return getattr(verdict, name)

    @property
    def word(self) -> str:
        """The verdict as a word: accepted, rejected or undecided."""
        return {True: "accepted", False: "rejected", None: "undecided"}[self.accepted]

    def __bool__(self) -> bool:
        """Return True only if accepted; False also if undecided."""
        return self.accepted is True

    def to_dict(self) -> dict[str, Any]:
        """Return an entry of ``verdicts`` of ``specgate check --format json``."""
        return jsonreport.verdict_json(self)


class _LazyReason:
    """Slot for the function that computes a deferred reason."""

    __slots__ = ("_say",)

    _say: Callable[[], str]


@slotted(frozen=True)
class NodeRef(_LazyReason):
    """A node without a final verdict: no table, or undecided.

    reason: one line, such as ``no table`` or the undecided rules with the dimension to pin.
    """

    location: Location
    target: str | None = None
    reason: str = ""

    @classmethod
    def unread(cls, location: Location, target: str | None, make_reason: Callable[[], str]) -> NodeRef:
        """Return a node whose reason `make_reason` computes on first access."""
        node = object.__new__(cls)
        object.__setattr__(node, "location", location)
        object.__setattr__(node, "target", target)
        object.__setattr__(node, "_say", make_reason)
        return node

    def __getattr__(self, name: str) -> Any:
        """Compute the reason of a node made by `unread`."""
        if name != "reason":
            raise AttributeError(f"a NodeRef has no {name!r}", name=name, obj=self)
        object.__setattr__(self, "reason", self._say())
        return self.reason

    def to_dict(self) -> dict[str, Any]:
        """Return the node as ``--format json`` prints it."""
        return jsonreport.node_json(self)


@slotted(frozen=True)
class Port:
    """A tensor that a node reads or writes.

    field: the operator's name of the tensor, "" if the operator has no table. name: the name of the value in the file.
    type, sizes: as far as known. A size is a number, a symbol or None; `sizes` is None for an unknown rank. nodes:
    (path, operator) of the producer of an input, or of consumers of an output. more: the number of further consumers.
    """

    field: str
    name: str | None = None
    type: str | None = None
    sizes: tuple[int | str | None, ...] | None = None
    nodes: tuple[tuple[str, str], ...] = ()
    more: int = 0


@slotted(frozen=True)
class NodeContext:
    """The tensors and neighbours of a node, shown next to its findings."""

    inputs: tuple[Port, ...] = ()
    outputs: tuple[Port, ...] = ()


@slotted()
class Report:
    """The result of linting, or of checking several files.

    nodes: the number of checked (node, target) pairs. ignored: findings silenced by configuration or baseline. judged:
    for each file, the targets for which it was checked. context: by file and node path, the context of nodes with
    findings or undecided rules. unusable: one line for each file that could not be read; the report contains nothing
    else about such a file. hidden: the number of findings that the user's selection excludes. fixed: findings that
    changes of files removed; None if no file was to be changed.
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
        """True without a finding of severity error or warning."""
        return not any(f.severity != "note" for f in self.findings)

    def targets_of(self, file: str) -> tuple[str, ...]:
        """Return the targets for which a file was checked.

        Returns all targets if this is not known.
        """
        return self.judged.get(file, tuple(self.targets))

    def to_dict(self) -> dict[str, Any]:
        """Return the report as ``specgate lint --format json`` prints it.

        The schema is ``specgate-report/1``.
        """
        return jsonreport.document(self)

    def extend(self, other: Report) -> None:
        """Add the report on another file; targets and files keep their order."""
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
