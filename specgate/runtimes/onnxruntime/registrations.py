"""What a runtime's providers register, release by release, and the releases themselves; no YAML, no pydantic."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import shown
from specgate.errors import InputError
from specgate.near_names import near_versions
from specgate.rules.parse import parse
from specgate.runtimes.onnxruntime.release_ranges import bounds
from specgate.runtimes.onnxruntime.table_references import MAIN_DOMAIN, operator_scope
from specgate.spec.store import compiled_folder
from specgate.spec.tables import on_change

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence
    from pathlib import Path

    from specgate.rules.language import Rule
    from specgate.runtimes.onnxruntime.provider_choice import Found

__all__ = [
    "RUNTIME", "KnownRelease", "Registration", "Registry", "function_bodies", "known_releases", "minor_release",
    "registrations", "release_named", "release_position", "released", "runtime_tables",
]  # fmt: skip

#: The folder of specs/ with the runtime's files; its packages begin with this name.
RUNTIME: Final = "onnxruntime"


@dataclass(frozen=True, slots=True)
class Registration:
    """A kernel that a provider registers.

    version: the schema version since which it holds. until: the last one; None where it is open-ended, which means that
    it holds for `version` alone. types: by constraint (a type variable of the schema, or an input or output) what it
    takes, such as ``FLOAT`` or ``seq(FLOAT)``. cpu_inputs, cpu_outputs: positions of those in CPU memory, the
    constant inputs among them. constant_inputs: of those that have to be constants for the kernel to be made early.
    graph: whether it can be part of a fused graph; graph_inputs: and how many inputs it has then, None: any number.
    needs: by type what a device must report (one is enough) before the kernel takes tensors of it. query: what must
    hold of the node besides; None: nothing.
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
        """Return whether it is for the version of an operator that a schema has had since `since`."""
        return since == self.version if self.until is None else self.version <= since <= self.until


@dataclass(frozen=True, slots=True)
class KnownRelease:
    """A release of one package. minor: the release that tables name, ``1.24`` for 1.24.4.

    providers: those that the package asks, the first one first. opsets: the newest version of each domain that it takes
    without a warning. carries: the dialect and the release of what the package brings along; None where it brings
    nothing, or the release is not known. registered: the providers whose registrations are known. read: whether it is
    one whose content was read, and not only a release between such.
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
        """How a user writes it: ``onnxruntime:1.24.4``."""
        return f"{self.package}:{self.release}"


class Registry:
    """The registrations of one provider in one release.

    found: what was looked up before, by operator, its version, and the types of inputs and outputs.
    """

    def __init__(self, provider: str, release: str, tables: Mapping[str, Any]) -> None:
        self.provider = provider
        self.release = release
        self._tables = tables
        self._at = list(tables["releases"]).index(release)
        self._rows: Mapping[str, Mapping[str, list[Any]]] = tables["registrations"][provider]
        self._made: dict[tuple[str, str], tuple[Registration, ...]] = {}
        self.found: dict[Hashable, Found] = {}

    @property
    def domains(self) -> tuple[str, ...]:
        """The domains that it has operators of."""
        return tuple(domain for domain in self._rows if any(True for _ in self.operators(domain)))

    def operators(self, domain: str) -> Iterator[str]:
        """Yield the operators of a domain ("" is ai.onnx) that it has a kernel of, in the order of the file."""
        for operator in self._rows.get(domain or MAIN_DOMAIN, {}):
            if self.of(domain, operator):
                yield operator

    def of(self, domain: str, operator: str) -> tuple[Registration, ...]:
        """Return the kernels of an operator, those of the oldest version first; the domain "" is ai.onnx."""
        key = (domain or MAIN_DOMAIN, operator)
        matching_registrations = self._made.get(key)
        if matching_registrations is None:
            rows = self._rows.get(key[0], {}).get(operator, ())
            items = [row for row in rows if row["first"] <= self._at <= row["last"]]
            matching_registrations = self._made[key] = tuple(self._registration(*key, row) for row in items)
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
            {name: frozenset(lists[at]) for name, at in row["types"].items()},
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
        return None if scope is None else parse(text, scope)  # the build refuses a query without a scope


def registrations(provider: str, release: str) -> Registry:
    """Return what a provider ("CPU") registers in a release, "1.24" or "1.24.4" of any package.

    Raises InputError for an unknown provider or release, and for a release whose registrations are not known.
    """
    tables = runtime_tables()
    if provider not in tables["providers"]:
        raise InputError(f"unknown provider {provider!r:.60}; known: {', '.join(tables['providers'])}")
    minor = minor_release(release)
    if not _registered(provider, minor, tables):
        known = tables["providers"][provider]["releases"]
        raise InputError(f"what {provider} registers in {release} is not known; known are the releases {known}")
    return _registry(provider, minor)


def known_releases() -> list[KnownRelease]:
    """Return every release of each package that the tables know, oldest first."""
    return list(_known())


def release_named(package: str, name: str) -> KnownRelease:
    """Return a release of a package by its name, ``1.24.4``, or the newest one of ``1.24``; ``latest``: the newest.

    Raises InputError for an unknown one, with its neighbours.
    """
    every = [known for known in _known() if known.package == package]
    if not every:
        packages = ", ".join(runtime_tables()["packages"])
        raise InputError(f"unknown package {package!r:.60}; known: {packages}")
    text = name.strip().lower() if isinstance(name, str) else name
    releases = [known for known in every if text in {known.release, known.minor, "latest"}]
    if releases:
        return releases[-1]
    names = [known.release for known in every]
    near = near_versions(str(text), names) or [names[0], names[-1]]
    raise InputError(f"unknown release {shown(name)} of {package}; did you mean {' or '.join(near)}?")


def minor_release(release: str) -> str:
    """Return the minor release, which tables name, of "1.24" or "1.24.4"; raise InputError for an unknown one."""
    tables = runtime_tables()
    names: Sequence[str] = list(tables["releases"])
    minor = ".".join(str(release).split(".")[:2])
    known = {patch for every in tables["releases"].get(minor, {}).get("packages", {}).values() for patch in every}
    if minor in names and (release == minor or release in known):
        return minor
    near = sorted(known) or near_versions(minor, names) or [names[0], names[-1]]
    raise InputError(f"unknown release {shown(release)} of {tables['title']}; did you mean {' or '.join(near)}?")


def release_position(release: str | None) -> int:
    """Return the place of a release in the tables, None for the newest; raise InputError for an unknown one."""
    order = list(runtime_tables()["releases"])
    return len(order) - 1 if release is None else order.index(minor_release(release))


def released(releases: str | None, release: str | None) -> bool:
    """Return whether what holds for a range of releases holds for one.

    No range stands for all releases, no release for the newest. Raises InputError for an unknown release.
    """
    return releases is None or _released(releases, release)


@cache
def _released(releases: str, release: str | None) -> bool:
    first, last = bounds(releases, list(runtime_tables()["releases"]))
    return first <= release_position(release) <= last


def runtime_tables() -> dict[str, Any]:
    """Return the compiled tables of the runtime, loaded once; raise InputError when they are missing or wrong."""
    return _loaded()


@cache
def _loaded() -> dict[str, Any]:
    return compiled_folder(RUNTIME, _build)


def _build(folder: Path) -> dict[str, Any]:
    from specgate.runtimes.onnxruntime.build import build_runtime  # pydantic and yaml: only when stale

    return build_runtime(folder)


@cache
def _registry(provider: str, minor: str) -> Registry:
    return Registry(provider, minor, runtime_tables())


@cache
def _known() -> tuple[KnownRelease, ...]:
    tables = runtime_tables()
    releases = []
    for package, info in tables["packages"].items():
        for minor, about in tables["releases"].items():
            registered = tuple(name for name in info["providers"] if _registered(name, minor, tables))
            carried = info.get("carries")
            brings = (carried, about["carries"]) if carried and about.get("carries") else None
            releases += [
                KnownRelease(
                    package,
                    patch,
                    minor,
                    tuple(info["providers"]),
                    about["opsets"],
                    about["ir_version"],
                    brings,
                    about.get("carries_source") if brings else None,
                    registered,
                    f"{package} {patch}" in about.get("read", ()),
                )
                for patch in about["packages"].get(package, ())
            ]
    return tuple(releases)


def _registered(provider: str, minor: str, tables: Mapping[str, Any]) -> bool:
    first, last = tables["known"][provider]
    return bool(first <= list(tables["releases"]).index(minor) <= last)


@on_change
def _forget() -> None:
    """Drop what was made of tables that no longer count."""
    _registry.cache_clear()
    _released.cache_clear()


def function_bodies(release: str) -> str:
    """Return what says which body of one of ONNX's functions a release means: ``opset`` or ``version``."""
    text: str = runtime_tables()["releases"][minor_release(release)].get("function_bodies", "opset")
    return text
