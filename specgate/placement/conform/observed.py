"""Differences that are known: the entries of ``specs/onnxruntime/observed.yaml``, and which of them explains one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specgate.placement.registrations import release_position, runtime_tables

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specgate.placement.conform.compare import Found
    from specgate.placement.runtime import Runtime

__all__ = ["explaining", "imported"]


def explaining(
    found: Found, opset: str, runtime: Runtime, entries: Sequence[Mapping[str, Any]] | None = None, *, model: str = ""
) -> Mapping[str, Any] | None:
    """Return the first entry that names a difference, None without one.

    opset: that of the model, "" where unknown. model: the operator of a model of one node, "" for others.
    """
    for entry in runtime_tables()["observed"] if entries is None else entries:
        if (
            found.aspect in entry["aspects"]
            and _among(found.operator, entry.get("operators"))
            and _among(model, entry.get("models"))
            and _among(runtime.package, entry.get("packages"))
            and _among(runtime.level, entry.get("levels"))
            and _released(runtime.release, entry)
            and imported(opset, entry.get("opsets"))
            and entry.get("ours", "") in found.ours
            and entry.get("theirs", "") in found.theirs
        ):
            return entry
    return None


def _among(word: str, listed: Sequence[str] | None) -> bool:
    return listed is None or word in listed


def _released(release: str, entry: Mapping[str, Any]) -> bool:
    at = release_position(release)
    return bool(entry.get("first", at) <= at <= entry.get("last", at))


def imported(opset: str, wanted: str | None) -> bool:
    """Return whether an opset is one of a range such as ``17``, ``17..`` or ``..12``; None: any is."""
    if wanted is None:
        return True
    first, dots, last = wanted.partition("..")
    return opset.isdigit() and int(first or 0) <= int(opset) <= int(last or (opset if dots else first))
