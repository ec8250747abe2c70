"""Comparison of two results, element by element."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from specgate.descriptors.core import UNSTATED, TensorDesc
from specgate.descriptors.positional import reordered_for
from specgate.execution.observed import find_differences
from specgate.validate.accepting_levels import UNSURE, checked_ids, entries_of, implementation_entry, named_rules
from specgate.validate.check import compile_check
from specgate.validate.message import rule_id
from specgate.validate.releases import RELEASE_RULE, places_of, types_newer_than
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


class OutputDifference(NamedTuple):
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
    our_outputs: Mapping[str, Any], their_outputs: Mapping[str, Any], descriptor: Descriptor, tolerance: float
) -> tuple[str, list[OutputDifference]]:
    """Return why outputs are not comparable ("" if they are) and differences.

    ours, their_outputs: arrays by the name of the output; lists of arrays for an array of tensors. The differences
    contain the outputs with differing elements.
    """
    differings = []
    for name, our_value, other, tensor in _pairs(our_outputs, their_outputs, descriptor):
        if other is None and tensor is None and name in our_outputs:  # not requested
            continue
        difference_text = "not computed" if other is None else _compare(name, our_value, other, tolerance, tensor)
        if isinstance(difference_text, str):
            return f"{name}: {difference_text}", []
        if difference_text is not None:
            differings.append(difference_text)
    return "", differings


def _pairs(
    our_outputs: Mapping[str, Any], their_outputs: Mapping[str, Any], descriptor: Descriptor
) -> Iterator[tuple[str, Any, Any, TensorDesc | None]]:
    for name, our_value in our_outputs.items():
        other, tensor = _other_value(their_outputs, name, our_value), descriptor.fields.get(name)
        if not isinstance(our_value, list):
            yield name, our_value, other, tensor if isinstance(tensor, TensorDesc) else None
            continue
        for index, item in enumerate(our_value):
            declared_tensor = tensor[index] if isinstance(tensor, list | tuple) else None
            yield f"{name}[{index}]", item, None if other is None else other[index], declared_tensor


def _other_value(their_outputs: Mapping[str, Any], name: str, our_value: Any) -> Any:
    """Return the other side's array; a list for an array of tensors.

    The elements of the list may have separate names.
    """
    if name in their_outputs or not isinstance(our_value, list):
        return their_outputs.get(name)
    items = [their_outputs.get(f"{name}_{i}", their_outputs.get(f"{name}[{i}]")) for i in range(len(our_value))]
    return None if any(item is None for item in items) else items


def _compare(
    name: str, our_value: Any, other: Any, tolerance: float, tensor: TensorDesc | None
) -> OutputDifference | str | None:
    """Return why two outputs cannot be compared, or how they differ.

    Without a tolerance they must be bitwise equal, except that all nan are equal. Masked elements of ours may have any
    value. Masked elements of theirs were not written, and ours must be masked there too.
    """
    their_array = np.ma.getdata(other)
    our_array = np.ma.getdata(our_value)
    if our_array.shape != their_array.shape or our_array.dtype != their_array.dtype:
        return f"{our_array.dtype} {list(our_array.shape)}, theirs {their_array.dtype} {list(their_array.shape)}"
    if not our_array.size:
        return None
    if our_array.dtype.kind == "O":
        is_different = np.asarray(our_array != their_array, dtype=bool)
    else:
        flat = [
            np.ascontiguousarray(a).reshape(-1).view(np.uint8).reshape(our_array.size, -1)
            for a in (our_array, their_array)
        ]
        is_different = (flat[0] != flat[1]).any(axis=1).reshape(our_array.shape)
        if our_array.dtype.kind in "fcV":
            with np.errstate(invalid="ignore"):
                is_different &= ~((our_array != our_array) & (their_array != their_array))  # noqa: PLR0124  # nan, also where isnan is not supported
    if tolerance:
        is_different &= find_differences(our_array, their_array, tolerance)
    is_written = ~np.ma.getmaskarray(other)
    is_different = (is_different | ~is_written) & ~np.ma.getmaskarray(our_value)
    return (
        OutputDifference(name, tensor, our_array, their_array, is_different, is_written) if is_different.any() else None
    )


class OurVerdict(NamedTuple):
    """Our verdict on one side, with the ids of its findings.

    The verdict is True, False or None (undecided).
    """

    accepted: bool | None
    ids: frozenset[str]


class Verdicts(NamedTuple):
    """Our documented verdict, and the verdict for one implementation."""

    documented: OurVerdict
    observed: OurVerdict

    def reasons(self, kind: Kind) -> tuple[str, ...]:
        """Return the sorted findings that a disagreement of this kind is about."""
        page, observed = self.documented.ids, self.observed.ids
        texts = tuple(sorted(page ^ observed if kind in {"recorded", "bug"} else observed))
        return texts[:1] if kind == "not looked at" else texts  # counted once, under the first


def verdicts_of(
    descriptor: Descriptor, spec: OperatorSpec, level: str, implementation: str, version: str = ""
) -> Verdicts:
    """Return our verdicts for one implementation.

    The level is that of the descriptor, if it names one. version: of the implementation; observations of its release
    apply as well.
    """
    descriptor, page_says, implementation_verdict, newer = _read_back(descriptor, spec, level, implementation, version)
    page, observed = _verdict_at(descriptor, spec, page_says), _verdict_at(descriptor, spec, implementation_verdict)
    if newer:
        observed = OurVerdict(
            accepted=False, ids=observed.ids | {rule_id(spec.dialect.name, "", RELEASE_RULE, "tensor")}
        )
    return Verdicts(page, observed)


def _read_back(
    descriptor: Descriptor, spec: OperatorSpec, level: str, implementation: str, version: str
) -> tuple[Descriptor, Resolved | None, Resolved | None, bool]:
    """Return a descriptor as an implementation reads it, and its rows.

    These are the documented and the observed row. The bool tells whether a type is newer than the implementation.
    """
    level = descriptor.version or level
    release = spec.dialect.release_of(version)
    newer = release is not None and _uses_newer_type(
        descriptor, spec, release
    )  # it still reads types that it infers again
    resolved = spec.resolve(level, "observed", by=_implementation_name(spec, implementation, release))
    return _reread_descriptor(descriptor, spec, implementation), spec.resolve(level), resolved, newer


def _implementation_name(spec: OperatorSpec, implementation: str, release: EnvironmentEntry | None) -> str:
    """Return the implementation's name.

    Includes the implementations whose observations apply to a release.
    """
    release_name = None if release is None else spec.dialect.by_release(str(release["name"]))
    return implementation if release_name is None else f"{implementation}+{release_name}"


def _uses_newer_type(descriptor: Descriptor, spec: OperatorSpec, release: EnvironmentEntry) -> bool:
    """Return whether a descriptor uses a type that is newer than a release.

    Types of outputs count too, even if they are inferred again.
    """
    return bool(places_of(types_newer_than(spec.dialect.name, release["title"]), descriptor))


def _reread_descriptor(descriptor: Descriptor, spec: OperatorSpec, implementation: str) -> Descriptor:
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


def _verdict_at(descriptor: Descriptor, spec: OperatorSpec, resolved: Resolved | None) -> OurVerdict:
    """Return our verdict at one level.

    Other levels and fixes are not computed, because they are not needed here.
    """
    if resolved is None:
        raise ValueError(f"{spec.name} does not exist at the tested level")
    if _is_accepted_plainly(descriptor, resolved):
        return OurVerdict(accepted=True, ids=frozenset())
    failures = explain_at(descriptor, resolved)
    certain_rules = frozenset(rule_id(spec.dialect.name, spec.name, f.rule, f.scope) for f in failures if not f.unknown)
    return OurVerdict(False if certain_rules else None if failures else True, certain_rules)


def _is_accepted_plainly(descriptor: Descriptor, resolved: Resolved) -> bool:
    if not descriptor.plain:
        return False
    accepts = _fast.get(id(resolved))
    if accepts is None:
        accepts = _fast[id(resolved)] = resolved, compile_check(resolved)
    return accepts[1](descriptor.fields)


def accepting_sides(
    descriptor: Descriptor, spec: OperatorSpec, level: str, implementation: str, version: str = ""
) -> tuple[bool, bool]:
    """Return whether documentation and implementation accept a descriptor.

    Fast, because no reasons are computed.
    """
    descriptor, page, observed, newer = _read_back(descriptor, spec, level, implementation, version)
    if page is None or observed is None:
        return False, False
    return _is_accepted_plainly(descriptor, page), _is_accepted_plainly(descriptor, observed) and not newer


def kind_of(spec: OperatorSpec, level: str, implementation: str, our_verdicts: Verdicts, reply: Reply) -> Kind | None:
    """Return the kind of a disagreement.

    None if both sides agree or one of them has no verdict.
    """
    page, observed = our_verdicts.documented.accepted, our_verdicts.observed.accepted
    result = reply.accepted
    if result is None or observed is None or page is None:
        return None
    if observed == result:
        if page == result:
            return None
        changed_rules = {name.rpartition("/")[2] for name in our_verdicts.documented.ids ^ our_verdicts.observed.ids}
        return "bug" if any(changed_rules & names for names in _bugs(spec, level, implementation)) else "recorded"
    if reply.word == "no kernel":  # ignored by all kernels
        return "not looked at"
    if result:
        checked_rules = {
            name.rpartition("/")[2] for name in checked_ids(spec, implementation, our_verdicts.observed.ids)
        }
        if not checked_rules:
            return "not looked at"
        chance, part = (named_rules(key, spec, level, implementation) for key in UNSURE)
        if checked_rules <= chance | part:
            return "bug" if checked_rules & chance else "recorded"  # ignoring a field is not a contradiction
    return "unexplained"


def _bugs(spec: OperatorSpec, level: str, implementation: str) -> Iterator[set[str]]:
    """Yield the rules and cells of observed entries marked as bugs.

    In these, the build contradicts its own documentation.
    """
    for entry in entries_of(spec, level, implementation):
        if entry.get("bug"):
            cells = {f"{name}.{key.rstrip('s')}" for name, cell in entry.get("support", {}).items() for key in cell}
            yield {*entry.get("not_enforced", ()), *entry.get("rules", ()), *cells}
