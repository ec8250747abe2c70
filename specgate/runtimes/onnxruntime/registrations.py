"""Registrations of a runtime's providers per release, and its releases.

Neither YAML nor pydantic is imported to read them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import format_value
from specgate.errors import InputError
from specgate.near_names import near_versions
from specgate.rules.parse import parse
from specgate.runtimes.onnxruntime.release_ranges import bounds
from specgate.runtimes.onnxruntime.table_references import MAIN_DOMAIN, operator_scope
from specgate.spec.store import compiled_folder
from specgate.spec.tables import until_change

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence
    from pathlib import Path

    from specgate.rules.language import Rule
    from specgate.runtimes.onnxruntime.provider_choice import KernelLookup

#: The runtime's folder in specs/, and the prefix of its packages.
RUNTIME: Final = "onnxruntime"


@dataclass(frozen=True, slots=True)
class Registration:
    """A kernel that a provider registers.

    version: the first schema version that it supports. until: the last one; None if open-ended, in which case it
    supports `version` only. types: supported types, such as ``FLOAT`` or ``seq(FLOAT)``, by constraint (a type variable
    of the schema, or an input or output). cpu_inputs, cpu_outputs: positions of those in CPU memory, constant inputs
    included. constant_inputs: positions of inputs that must be constants to create the kernel with the session. graph:
    whether it can be part of a fused graph; graph_inputs: the number of inputs required for that, None for any. needs:
    by type, capabilities of which the device must report one. query: a condition on the node, or None.
    """

    provider: str
    domain: str
    operator: str
    version: int
    until: int | None
    types: Mapping[str, frozenset[str]] = field(hash=False)
    cpu_inputs: tuple[int, ...] = ()
    cpu_outputs: tuple[int, ...] = ()
    constant_inputs: tuple[int, ...] = ()
    graph: bool = True
    graph_inputs: int | None = None
    needs: Mapping[str, Sequence[str]] = field(default_factory=dict, hash=False)
    query: Rule | None = field(default=None, hash=False)

    def holds(self, since: int) -> bool:
        """Return whether it supports a schema version."""
        return since == self.version if self.until is None else self.version <= since <= self.until


@dataclass(frozen=True, slots=True)
class KnownRelease:
    """A release of one package.

    minor: the release in the tables, such as ``1.24`` for 1.24.4. providers: in order of preference. opsets: the newest
    version of each domain that it loads without a warning. carries: dialect and release of the library in the package;
    None without a library, or if its release is unknown. registered: the providers with known registrations. read:
    whether its contents were inspected, rather than inferred from neighboring releases.
    """

    package: str
    release: str
    minor: str
    providers: tuple[str, ...]
    opsets: Mapping[str, int] = field(hash=False)
    ir_version: int
    carries: tuple[str, str] | None
    carries_source: str | None
    registered: tuple[str, ...]
    read: bool

    @property
    def target(self) -> str:
        """The target as users write it: ``onnxruntime:1.24.4``."""
        return f"{self.package}:{self.release}"


class Registry:
    """The registrations of one provider in one release.

    lookups: cached answers by operator, version, and types of inputs and outputs.
    """

    def __init__(self, provider: str, release: str, tables: Mapping[str, Any]) -> None:
        self.provider = provider
        self.release = release
        self._tables = tables
        self._at = list(tables["releases"]).index(release)
        self._rows: Mapping[str, Mapping[str, list[Any]]] = tables["registrations"][provider]
        self._by_operator: dict[tuple[str, str], tuple[Registration, ...]] = {}
        self.lookups: dict[Hashable, KernelLookup] = {}

    @property
    def domains(self) -> tuple[str, ...]:
        """The domains with registered operators."""
        return tuple(domain for domain in self._rows if any(True for _ in self.operators(domain)))

    def operators(self, domain: str) -> Iterator[str]:
        """Yield a domain's operators with a kernel, in file order.

        The domain "" is ai.onnx.
        """
        for operator in self._rows.get(domain or MAIN_DOMAIN, {}):
            if self.of(domain, operator):
                yield operator

    def of(self, domain: str, operator: str) -> tuple[Registration, ...]:
        """Return an operator's kernels, oldest version first.

        The domain "" is ai.onnx.
        """
        key = (domain or MAIN_DOMAIN, operator)
        matching_registrations = self._by_operator.get(key)
        if matching_registrations is None:
            rows = self._rows.get(key[0], {}).get(operator, ())
            items = [row for row in rows if row["first"] <= self._at <= row["last"]]
            matching_registrations = self._by_operator[key] = tuple(self._registration(*key, row) for row in items)
        return matching_registrations

    def __iter__(self) -> Iterator[Registration]:
        for domain in self._rows:
            for operator in self._rows[domain]:
                yield from self.of(domain, operator)

    def _registration(self, domain: str, operator: str, row: Mapping[str, Any]) -> Registration:
        lists = self._tables["types"]
        constant = tuple(row.get("constant_inputs", ()))
        return Registration(
            self.provider,
            domain,
            operator,
            row["version"],
            row["until"],
            {name: frozenset(lists[index]) for name, index in row["types"].items()},
            tuple(sorted({*constant, *row.get("cpu_inputs", ())})),
            tuple(row.get("cpu_outputs", ())),
            constant,
            row.get("graph", True),
            row.get("graph_inputs"),
            row.get("needs", {}),
            self._query(domain, operator, row),
        )

    def _query(self, domain: str, operator: str, row: Mapping[str, Any]) -> Rule | None:
        text = row.get("query")
        if text is None:
            return None
        scope = operator_scope(domain, operator, row["version"], self._tables["schemas"])
        return None if scope is None else parse(text, scope)  # the build rejects a query without a scope


def registrations(provider: str, release: str) -> Registry:
    """Return the registrations of a provider ("CPU") in a release.

    release: "1.24" or "1.24.4" of any package. Raises InputError for an unknown provider or release, and for a release
    with unknown registrations.
    """
    tables = runtime_tables()
    if provider not in tables["providers"]:
        raise InputError(f"unknown provider {provider!r:.60}; known: {', '.join(tables['providers'])}")
    minor = minor_release(release)
    if not _has_registrations(provider, minor, tables):
        releases = tables["providers"][provider]["releases"]
        raise InputError(f"the kernels of {provider} in {release} are unknown; known releases: {releases}")
    return _registry(provider, minor)


def known_releases() -> list[KnownRelease]:
    """Return every known release of each package, oldest first."""
    return list(_known_releases())


def release_named(package: str, name: str) -> KnownRelease:
    """Return a package's release: ``1.24.4``, ``1.24`` or ``latest``.

    ``1.24`` stands for its newest patch release. Raises InputError, with similar releases, for an unknown one.
    """
    package_releases = [release for release in _known_releases() if release.package == package]
    if not package_releases:
        packages = ", ".join(runtime_tables()["packages"])
        raise InputError(f"unknown package {package!r:.60}; known: {packages}")
    text = name.strip().lower() if isinstance(name, str) else name
    releases = [release for release in package_releases if text in {release.release, release.minor, "latest"}]
    if releases:
        return releases[-1]
    names = [release.release for release in package_releases]
    similar = near_versions(str(text), names) or [names[0], names[-1]]
    raise InputError(f"unknown release {format_value(name)} of {package}; did you mean {' or '.join(similar)}?")


def minor_release(release: str) -> str:
    """Return the minor release of "1.24" or "1.24.4", as tables name it.

    Raises InputError for an unknown release.
    """
    tables = runtime_tables()
    names: Sequence[str] = list(tables["releases"])
    minor = ".".join(str(release).split(".")[:2])
    patches = {
        patch for packages in tables["releases"].get(minor, {}).get("packages", {}).values() for patch in packages
    }
    if minor in names and (release == minor or release in patches):
        return minor
    similar = sorted(patches) or near_versions(minor, names) or [names[0], names[-1]]
    raise InputError(
        f"unknown release {format_value(release)} of {tables['title']}; did you mean {' or '.join(similar)}?"
    )


def release_position(release: str | None) -> int:
    """Return a release's position in the tables; None is the newest.

    Raises InputError for an unknown release.
    """
    order = list(runtime_tables()["releases"])
    return len(order) - 1 if release is None else order.index(minor_release(release))


def contains_release(releases: str | None, release: str | None) -> bool:
    """Return whether a range of releases contains a release.

    A missing range means all releases, a missing release the newest. Raises InputError for an unknown release.
    """
    return releases is None or _contains_release(releases, release)


@until_change
def _contains_release(releases: str, release: str | None) -> bool:
    first, last = bounds(releases, list(runtime_tables()["releases"]))
    return first <= release_position(release) <= last


def runtime_tables() -> dict[str, Any]:
    """Return the compiled tables of the runtime, loaded once.

    Raises InputError if they are missing or invalid.
    """
    return _load_tables()


@cache
def _load_tables() -> dict[str, Any]:
    return compiled_folder(RUNTIME, _build)


def _build(folder: Path) -> dict[str, Any]:
    from specgate.runtimes.onnxruntime.build import build_runtime  # pydantic and yaml: only when stale

    return build_runtime(folder)


@until_change
def _registry(provider: str, minor: str) -> Registry:
    return Registry(provider, minor, runtime_tables())


@cache
def _known_releases() -> tuple[KnownRelease, ...]:
    tables = runtime_tables()
    releases = []
    for package, info in tables["packages"].items():
        for minor, minor_data in tables["releases"].items():
            registered = tuple(name for name in info["providers"] if _has_registrations(name, minor, tables))
            carried_version = info.get("carries")
            brings = (carried_version, minor_data["carries"]) if carried_version and minor_data.get("carries") else None
            releases += [
                KnownRelease(
                    package,
                    patch,
                    minor,
                    tuple(info["providers"]),
                    minor_data["opsets"],
                    minor_data["ir_version"],
                    brings,
                    minor_data.get("carries_source") if brings else None,
                    registered,
                    f"{package} {patch}" in minor_data.get("read", ()),
                )
                for patch in minor_data["packages"].get(package, ())
            ]
    return tuple(releases)


def _has_registrations(provider: str, minor: str, tables: Mapping[str, Any]) -> bool:
    first, last = tables["known"][provider]
    return bool(first <= list(tables["releases"]).index(minor) <= last)


def function_bodies(release: str) -> str:
    """Return whether ``opset`` or ``version`` selects a function's body."""
    text: str = runtime_tables()["releases"][minor_release(release)].get("function_bodies", "opset")
    return text
