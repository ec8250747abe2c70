"""Comparison of two results, element by element."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from specgate.descriptors.core import UNSTATED, TensorDesc
from specgate.descriptors.positional import reordered_for
from specgate.execution.observed import differing
from specgate.validate.accepting_levels import UNSURE, entries_of, implementation_entry, looked_at, named_rules
from specgate.validate.check import compile_check
from specgate.validate.message import rule_id
from specgate.validate.releases import RELEASE_RULE, newer_than, places_of
from specgate.validate.row import explain_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from specgate.conform.result import Kind
    from specgate.descriptors.core import Descriptor
    from specgate.oracles.protocol import Reply
    from specgate.spec.forms import Resolved
    from specgate.spec.operator_spec import OperatorSpec
    from specgate.spec.written import EnvironmentEntry

__all__ = ["Differing", "Ours", "Verdicts", "compare_outputs", "kind_of", "our_verdict", "sides_taken"]


class Differing(NamedTuple):
    """An output that differs.

    wrong: mask of the differing elements. written: mask of the elements that the other side wrote.
    """

    name: str
    tensor: TensorDesc | None
    ours: NDArray[Any]
    theirs: NDArray[Any]
    wrong: NDArray[Any]
    written: NDArray[Any]

    def __str__(self) -> str:
        place = tuple(int(i) for i in np.argwhere(self.wrong)[0]) if self.wrong.ndim else ()
        count = f"{int(self.wrong.sum())} of {self.wrong.size} elements"
        return f"{count}, at {list(place)} {self.ours[place]!s} and {self.theirs[place]!s}"


def compare_outputs(
    ours: Mapping[str, Any], theirs: Mapping[str, Any], descriptor: Descriptor, tolerance: float
) -> tuple[str, list[Differing]]:
    """Return why outputs are not comparable ("" if they are) and differences.

    ours, theirs: arrays by the name of the output; lists of arrays for an array of tensors. The differences contain the
    outputs with differing elements.
    """
    differings = []
    for name, mine, other, tensor in _pairs(ours, theirs, descriptor):
        if other is None and tensor is None and name in ours:  # not requested
            continue
        each = "not computed" if other is None else _compare(name, mine, other, tolerance, tensor)
        if isinstance(each, str):
            return f"{name}: {each}", []
        if each is not None:
            differings.append(each)
    return "", differings


def _pairs(
    ours: Mapping[str, Any], theirs: Mapping[str, Any], descriptor: Descriptor
) -> Iterator[tuple[str, Any, Any, TensorDesc | None]]:
    for name, mine in ours.items():
        other, tensor = _theirs(theirs, name, mine), descriptor.fields.get(name)
        if not isinstance(mine, list):
            yield name, mine, other, tensor if isinstance(tensor, TensorDesc) else None
            continue
        for index, item in enumerate(mine):
            declared = tensor[index] if isinstance(tensor, list | tuple) else None
            yield f"{name}[{index}]", item, None if other is None else other[index], declared


def _theirs(theirs: Mapping[str, Any], name: str, mine: Any) -> Any:
    """Return the other side's array; a list for an array of tensors.

    The elements of the list may have separate names.
    """
    if name in theirs or not isinstance(mine, list):
        return theirs.get(name)
    items = [theirs.get(f"{name}_{index}", theirs.get(f"{name}[{index}]")) for index in range(len(mine))]
    return None if any(each is None for each in items) else items


def _compare(name: str, mine: Any, other: Any, tolerance: float, tensor: TensorDesc | None) -> Differing | str | None:
    """Return why two outputs cannot be compared, or how they differ.

    Without a tolerance they must be bitwise equal, except that all nan are equal. Masked elements of ours may have any
    value. Masked elements of theirs were not written, and ours must be masked there too.
    """
    theirs = np.ma.getdata(other)
    own = np.ma.getdata(mine)
    if own.shape != theirs.shape or own.dtype != theirs.dtype:
        return f"{own.dtype} {list(own.shape)}, theirs {theirs.dtype} {list(theirs.shape)}"
    if not own.size:
        return None
    if own.dtype.kind == "O":
        wrong = np.asarray(own != theirs, dtype=bool)
    else:
        flat = [np.ascontiguousarray(a).reshape(-1).view(np.uint8).reshape(own.size, -1) for a in (own, theirs)]
        wrong = (flat[0] != flat[1]).any(axis=1).reshape(own.shape)
        if own.dtype.kind in "fcV":
            with np.errstate(invalid="ignore"):
                wrong &= ~((own != own) & (theirs != theirs))  # noqa: PLR0124  # nan, also where isnan is not supported
    if tolerance:
        wrong &= differing(own, theirs, tolerance)
    written = ~np.ma.getmaskarray(other)
    wrong = (wrong | ~written) & ~np.ma.getmaskarray(mine)
    return Differing(name, tensor, own, theirs, wrong, written) if wrong.any() else None


class Ours(NamedTuple):
    """Our verdict on one side, with the ids of its findings.

    The verdict is True, False or None (undecided).
    """

    accepted: bool | None
    ids: frozenset[str]


class Verdicts(NamedTuple):
    """Our documented verdict, and the verdict for one implementation."""

    documented: Ours
    observed: Ours

    def reasons(self, kind: Kind) -> tuple[str, ...]:
        """Return the sorted findings that a disagreement of this kind is about."""
        page, observed = self.documented.ids, self.observed.ids
        texts = tuple(sorted(page ^ observed if kind in {"recorded", "bug"} else observed))
        return texts[:1] if kind == "not looked at" else texts  # counted once, under the first


def our_verdict(
    descriptor: Descriptor, spec: OperatorSpec, level: str, implementation: str, version: str = ""
) -> Verdicts:
    """Return our verdicts for one implementation.

    The level is that of the descriptor, if it names one. version: of the implementation; observations of its release
    apply as well.
    """
    descriptor, page_says, known_says, newer = _read_back(descriptor, spec, level, implementation, version)
    page, observed = _ours(descriptor, spec, page_says), _ours(descriptor, spec, known_says)
    if newer:
        observed = Ours(accepted=False, ids=observed.ids | {rule_id(spec.dialect.name, "", RELEASE_RULE, "tensor")})
    return Verdicts(page, observed)


def _read_back(
    descriptor: Descriptor, spec: OperatorSpec, level: str, implementation: str, version: str
) -> tuple[Descriptor, Resolved | None, Resolved | None, bool]:
    """Return a descriptor as an implementation reads it, and its rows.

    These are the documented and the observed row. The bool tells whether a type is newer than the implementation.
    """
    level = descriptor.version or level
    release = spec.dialect.release_of(version)
    newer = release is not None and _newer(descriptor, spec, release)  # it still reads types that it infers again
    resolved = spec.resolve(level, "observed", by=_implementation_name(spec, implementation, release))
    return _as_read(descriptor, spec, implementation), spec.resolve(level), resolved, newer


def _implementation_name(spec: OperatorSpec, implementation: str, release: EnvironmentEntry | None) -> str:
    """Return the implementation's name.

    Includes the implementations whose observations apply to a release.
    """
    own = None if release is None else spec.dialect.by_release(str(release["name"]))
    return implementation if own is None else f"{implementation}+{own}"


def _newer(descriptor: Descriptor, spec: OperatorSpec, release: EnvironmentEntry) -> bool:
    """Return whether a descriptor uses a type that is newer than a release.

    Types of outputs count too, even if they are inferred again.
    """
    return bool(places_of(newer_than(spec.dialect.name, release["title"]), descriptor))


def _as_read(descriptor: Descriptor, spec: OperatorSpec, implementation: str) -> Descriptor:
    """Return a descriptor as its own level reads it.

    Without outputs if the implementation ignores all of them.
    """
    if descriptor.version is not None and descriptor.layout not in {None, descriptor.version}:
        descriptor = reordered_for(descriptor, spec, descriptor.version)
    entry = implementation_entry(spec, implementation)
    if descriptor.oddities and not (entry and entry.get("reads_text")):
        descriptor = replace(descriptor, oddities=tuple(replace(o, read_as=None) for o in descriptor.oddities))
    if not entry or not entry.get("infers_outputs"):
        return descriptor
    fields = dict(descriptor.fields)
    for name in {info.name for info in spec.outputs} & fields.keys():
        if spec.fields[name].type == "tensor[]":
            fields[name] = [UNSTATED for _ in fields[name]]
        elif name in spec.counted_outputs:
            fields[name] = UNSTATED
        else:
            del fields[name]
    return replace(descriptor, fields=fields, plain=False)


#: Compiled checks by the id() of their source. The cache references the source, which keeps the id() unique.
_fast: dict[int, tuple[Resolved, Callable[[Mapping[str, Any]], bool]]] = {}


def _ours(descriptor: Descriptor, spec: OperatorSpec, resolved: Resolved | None) -> Ours:
    """Return our verdict at one level.

    Other levels and fixes are not computed, because they are not needed here.
    """
    if resolved is None:
        raise ValueError(f"{spec.name} does not exist at the tested level")
    if _plainly_accepted(descriptor, resolved):
        return Ours(accepted=True, ids=frozenset())
    failures = explain_at(descriptor, resolved)
    certain = frozenset(rule_id(spec.dialect.name, spec.name, f.rule, f.scope) for f in failures if not f.unknown)
    return Ours(False if certain else None if failures else True, certain)


def _plainly_accepted(descriptor: Descriptor, resolved: Resolved) -> bool:
    if not descriptor.plain:
        return False
    accepts = _fast.get(id(resolved))
    if accepts is None:
        accepts = _fast[id(resolved)] = resolved, compile_check(resolved)
    return accepts[1](descriptor.fields)


def sides_taken(
    descriptor: Descriptor, spec: OperatorSpec, level: str, implementation: str, version: str = ""
) -> tuple[bool, bool]:
    """Return whether documentation and implementation accept a descriptor.

    Fast, because no reasons are computed.
    """
    descriptor, page, observed, newer = _read_back(descriptor, spec, level, implementation, version)
    if page is None or observed is None:
        return False, False
    return _plainly_accepted(descriptor, page), _plainly_accepted(descriptor, observed) and not newer


def kind_of(spec: OperatorSpec, level: str, implementation: str, ours: Verdicts, theirs: Reply) -> Kind | None:
    """Return the kind of a disagreement.

    None if both sides agree or one of them has no verdict.
    """
    page, observed = ours.documented.accepted, ours.observed.accepted
    result = theirs.accepted
    if result is None or observed is None or page is None:
        return None
    if observed == result:
        if page == result:
            return None
        changed = {name.rpartition("/")[2] for name in ours.documented.ids ^ ours.observed.ids}
        return "bug" if any(changed & names for names in _bugs(spec, level, implementation)) else "recorded"
    if theirs.word == "no kernel":  # ignored by all kernels
        return "not looked at"
    if result:
        looked = {name.rpartition("/")[2] for name in looked_at(spec, implementation, ours.observed.ids)}
        if not looked:
            return "not looked at"
        chance, part = (named_rules(key, spec, level, implementation) for key in UNSURE)
        if looked <= chance | part:
            return "bug" if looked & chance else "recorded"  # ignoring a field is not a contradiction
    return "unexplained"


def _bugs(spec: OperatorSpec, level: str, implementation: str) -> Iterator[set[str]]:
    """Yield the rules and cells of observed entries marked as bugs.

    In these, the build contradicts its own documentation.
    """
    for entry in entries_of(spec, level, implementation):
        if entry.get("bug"):
            cells = {f"{name}.{key.rstrip('s')}" for name, cell in entry.get("support", {}).items() for key in cell}
            yield {*entry.get("not_enforced", ()), *entry.get("rules", ()), *cells}
