"""The lowest versions and the first release that accept a model."""

from __future__ import annotations

import os
from itertools import groupby
from typing import TYPE_CHECKING, Any

from specgate.dialects import capability, owner_of_object, package_of
from specgate.dialects.protocols import LowestLevel, Reader
from specgate.linting.input_source import TEXT, InputSource
from specgate.report.tables.words import wrap_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from specgate.linting.settings import LintSettings
    from specgate.lowest.text import ModelMinimum, Release, ReleaseMinimum
    from specgate.verdict import Basis


def release_lines(minimum: ReleaseMinimum, domain: str, width: int) -> Iterator[str]:
    """Yield the first release, and the problems of earlier ones."""
    if minimum.first is None:
        yield from wrap_text(f"{domain}: no release accepts this model", width, hanging_indent="  ")
    else:
        yield from wrap_text(
            f"{domain}: lowest release {minimum.first.name} (opset {minimum.first.opset})", width, hanging_indent="  "
        )
    for is_rejecting, group in groupby(minimum.before, key=lambda release: release.refuses):
        releases = list(group)
        if is_rejecting:
            opsets = list(dict.fromkeys(release.opset for release in releases))
            message = f"opset {opsets[0]}, which rejects nodes"
            have = message if len(opsets) == 1 else f"opsets {opsets[0]}..{opsets[-1]}, which reject nodes"
            text = f"{_span(releases)} {_agree_verb(releases, 'has', 'have')} {have}"
            yield from wrap_text(text, width, first="  ", hanging_indent="    ")
    for (reads_file, newest), group in groupby(minimum.before, key=lambda release: (release.reads, release.ir_version)):
        releases = list(group)
        if not reads_file:
            verb = _agree_verb(releases, "reads", "read")
            text = f"{_span(releases)} {verb} IR versions up to {newest}; the model has {minimum.ir_version}"
            yield from wrap_text(text, width, first="  ", hanging_indent="    ")
    for newer, group in groupby(minimum.before, key=lambda release: release.newer):
        releases = list(group)
        if newer:
            text = f"{_span(releases)} {_agree_verb(releases, 'does', 'do')} not support {', '.join(newer)}"
            yield from wrap_text(text, width, first="  ", hanging_indent="    ")
    for releases_only, group in groupby(minimum.before, key=lambda release: release.alone):
        releases = list(group)
        if releases_only:
            text = f"{_span(releases)} {_agree_verb(releases, 'rejects', 'reject')} nodes that later releases accept"
            yield from wrap_text(text, width, first="  ", hanging_indent="    ")


def _span(releases: list[Release]) -> str:
    return releases[0].name if len(releases) == 1 else f"{releases[0].name} to {releases[-1].name}"


def _agree_verb(releases: list[Release], verb: str, plural_form: str) -> str:
    return verb if len(releases) == 1 else plural_form


def release_json(minimum: ReleaseMinimum) -> dict[str, Any]:
    """Return the answer as plain data."""
    return {
        "minimum": None if minimum.first is None else minimum.first.name,
        "title": None if minimum.first is None else minimum.first.title,
        "ir_version": minimum.ir_version,
        "blocked": [
            {
                "release": release.name,
                "opset": int(release.opset),
                "refuses_nodes": release.refuses,
                "newest_ir_version": release.ir_version,
                "reads_file": release.reads,
                "unknown_types": list(release.newer),
                "refuses_alone": release.alone,
            }
            for release in minimum.before
        ],
    }


def model_minimum(model: object, settings: LintSettings | None = None, basis: Basis = "both") -> ModelMinimum:
    """Return the lowest versions of a model.

    Every node is checked at every level, as if written for it. model: a path, an object of a vendor's library, or
    another source (`InputSource`). Raises InputError for an unusable file.
    """
    owner: Reader | str
    if isinstance(model, str | os.PathLike):
        owner = package_of(os.fspath(model))
    elif isinstance(model, InputSource) and model.kind != TEXT:
        owner = model.kind
    else:
        owner = owner_of_object(model) or package_of("")
    return capability(owner, LowestLevel).minimum(model, settings, basis)
