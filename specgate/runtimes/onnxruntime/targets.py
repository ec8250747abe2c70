"""Targets of the runtime's releases, and the hashes of its tables."""

from __future__ import annotations

import difflib
import hashlib
from typing import TYPE_CHECKING, Any

from specgate.errors import InputError
from specgate.runtimes.onnxruntime.lowering.store import lowering_tables
from specgate.runtimes.onnxruntime.registrations import RUNTIME, known_releases, release_named, runtime_tables
from specgate.runtimes.onnxruntime.table_references import MAIN_DOMAIN, MODELS
from specgate.runtimes.release import Runtime
from specgate.spec.tables import dialect
from specgate.targets import Target

if TYPE_CHECKING:
    from collections.abc import Iterator

    from specgate.runtimes.onnxruntime.registrations import KnownRelease


def hashes() -> dict[str, str]:
    """Return the hashes of the tables: registrations with lowering."""
    parts = f"{runtime_tables()['digest']} {lowering_tables()['digest']}"
    return {RUNTIME: hashlib.sha256(parts.encode()).hexdigest()}


def runtime_target(package: str, result: str) -> Target | None:
    """Return a release of a runtime package, None for another package.

    result: ``1.24.4``, ``1.24`` or ``latest``; the suffix ``@5.0`` overrides the level of the library below. Raises
    InputError for an unknown release or level, for a name similar to a package's, and for unknown registrations.
    """
    tables = runtime_tables()
    package_data = tables["packages"].get(package)
    if package_data is None:
        similar = difflib.get_close_matches(package, tables["packages"], 1, 0.8)
        if similar:
            raise InputError(f"unknown package {package!r:.60}; did you mean {similar[0]}?")
        return None
    name, separator, level = (part.strip() for part in result.partition("@"))
    release = release_named(package, name)
    if not _has_registrations(release):
        first = release.providers[0]
        raise InputError(f"the kernels of {first} in {release.target} are unknown; {_known_ones(package)}")
    library_name = package_data.get("carries") or ""
    if separator and not library_name:
        raise InputError(f"{package} does not contain another library, so {result!r:.60} is not allowed")
    text = _level(release, library_name, level, is_explicit=bool(separator)) if library_name else ""
    opsets = {"" if domain == MAIN_DOMAIN else domain: version for domain, version in release.opsets.items()}
    models = dialect(MODELS)
    newest = str(opsets[""])
    title = f"{tables['title']} {release.release}"
    if library_name:
        title += f" with {dialect(library_name).tables.title} at {dialect(library_name).label(text)}"
    return Target(
        MODELS,
        newest if newest in models.position else models.levels[-1],
        f"{release.release}@{text}" if separator else release.release,
        title,
        release.ir_version,
        tuple(models.tables.domains_of("runtime")),
        family=package,
        runtime=Runtime(
            package,
            release.release,
            release.providers,
            release.registered,
            library_name,
            text,
            opsets,
            release.ir_version,
        ),
    )


def _level(release: KnownRelease, library_name: str, result: str, *, is_explicit: bool) -> str:
    """Return the requested level of the library below, or the package's."""
    table = dialect(library_name)
    if is_explicit:
        text = table.level_named(result)
        if text is None:
            raise InputError(f"unknown {table.level_word} {result!r:.40} after @; levels: {', '.join(table.levels)}")
        return text
    if release.carries is None:
        raise InputError(
            f"the {table.tables.title} version of {release.target} is unknown; append its {table.level_word} "
            f"after @: {release.target}@{table.levels[-1]}"
        )
    carried_version = release.carries[1]
    entries = [entry for entry in table.environments if carried_version in {entry["name"], entry.get("via")}]
    if not entries:
        raise InputError(f"the {table.level_word} of {table.tables.title} {carried_version} is unknown")
    return entries[0]["level"]


def _has_registrations(release: KnownRelease) -> bool:
    """Return whether its first provider's registrations are known.

    The CPU's registrations need not be known, because it is assumed to support the rest.
    """
    return release.providers[0] in release.registered


def _known_ones(package: str) -> str:
    releases = [
        release.release for release in known_releases() if release.package == package and _has_registrations(release)
    ]
    return f"known: {releases[0]} to {releases[-1]}" if releases else "it has no known releases"


def runtime_rows() -> Iterator[dict[str, Any]]:
    """Yield the `specgate targets` rows of releases with registrations."""
    for release in known_releases():
        if not _has_registrations(release):
            continue
        carried_version = release.carries
        yield {
            "target": release.target,
            "name": release.release,
            "title": release.target,
            "kind": "runtime",
            "level": str(release.opsets[MAIN_DOMAIN]),
            "ir_version": release.ir_version,
            "via": f"{dialect(carried_version[0]).tables.title} {carried_version[1]}" if carried_version else "",
            "source": release.carries_source or "",
        }
