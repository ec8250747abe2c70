"""Target queries: match several targets, in the style of browserslist.

``onnxruntime>=1.16``, ``openvino>=2024.0,<2025``, ``onnxruntime 1.16 - 1.20``, ``directml>=4.0``, ``last 2 openvino``,
``last 3 onnx opsets``. They match what the tables contain. Of the releases of one minor version only the newest that
matches is selected, because the tables do not distinguish patches. Of the levels only finished ones are selected.
"""

from __future__ import annotations

import difflib
import operator
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from specgate.dialects import dialect_names, is_dialect
from specgate.errors import InputError
from specgate.spec.tables import dialect, until_change
from specgate.targets.listing import known_targets

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_QUERY: Final = re.compile(r"[<>=!]|^\s*last\s|\s-\s", re.IGNORECASE)
_LAST: Final = re.compile(r"last\s+(\d{1,4})\s+(\S+)(?:\s+([\w ]+?))?", re.IGNORECASE)
_COMPARED: Final = re.compile(r"([^\s<>=!]+)\s*((?:<=|>=|==|!=|<|>|=).*)")
_BOUND: Final = re.compile(r"(<=|>=|==|!=|<|>|=)\s*([\w.\-]+)")
_RANGE: Final = re.compile(r"(\S+)\s+([\w.]+)\s+-\s+([\w.]+)")
_SIGNS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "=": operator.eq, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
_FORMS: Final = "expected a query such as 'onnxruntime>=1.16', 'openvino>=2024.0,<2025' or 'last 2 openvino'"
_RELEASES: Final = ("release", "releases", "version", "versions")


class _NamedTarget(NamedTuple):
    """A target, and its version in its family."""

    version: str
    target: str


class _Family(NamedTuple):
    """Levels and releases that a query selects from, each oldest first.

    level_word: such as "opset".
    """

    levels: tuple[_NamedTarget, ...] = ()
    releases: tuple[_NamedTarget, ...] = ()
    level_word: str = ""


def is_query(text: str) -> bool:
    """Return whether a text is a query instead of the name of a target."""
    return _QUERY.search(text) is not None


def targets_of(text: str) -> list[str]:
    """Return the targets that a query matches, oldest first.

    Raises InputError.
    """
    plain_query, separator, level = text.strip().partition("@")
    nameds = _names_of(plain_query.strip(), text)
    if not nameds:
        raise InputError(f"no known target fits {text!r:.80}; {_range_text(plain_query)}")
    return [f"{version.target}{separator}{level.strip()}" for version in nameds]


def _names_of(plain_query: str, text: str) -> list[_NamedTarget]:
    if (last := _LAST.fullmatch(plain_query)) is not None:
        return _last(int(last[1]), last[2], (last[3] or "").lower())
    if (range_match := _RANGE.fullmatch(plain_query)) is not None:
        return _names_within(range_match[1], [(">=", range_match[2]), ("<=", range_match[3])])
    comparison_match = _COMPARED.fullmatch(plain_query)
    parts = (
        [_BOUND.fullmatch(part.strip()) for part in comparison_match[2].split(",")]
        if comparison_match is not None
        else [None]
    )
    bounds = [(part[1], part[2]) for part in parts if part is not None]
    if comparison_match is None or len(bounds) < len(parts):
        raise InputError(f"{_FORMS}, found {text!r:.80}")
    return _names_within(comparison_match[1], bounds)


def _last(count: int, name: str, noun: str) -> list[_NamedTarget]:
    family = _family(name)
    word = family.level_word
    if not count:
        raise InputError(f"expected last 1 {name} or more, found last 0")
    if noun and noun not in {*_RELEASES, word, f"{word}s"}:
        kinds = "releases" + (f" or {word}s" if word else "")
        raise InputError(f"expected {kinds} after 'last {count} {name}', found {noun!r:.40}")
    by_level = noun in {word, f"{word}s"} or not family.releases or (not noun and not _has_releases(name))
    return list(family.levels[-count:]) if by_level and family.levels else _newest_patches(family.releases)[-count:]


def _has_releases(name: str) -> bool:
    """Return whether a dialect itself has releases.

    Users know DirectML by its feature levels, not by its packages.
    """
    return not is_dialect(name) or any(entry["kind"] == "release" for entry in dialect(name).environments)


def _names_within(name: str, bounds: Sequence[tuple[str, str]]) -> list[_NamedTarget]:
    family = _family(name)
    for _, version in bounds:
        if not version[0].isdigit() and not _is_level(name, family, version):
            raise InputError(f"{name} has no {family.level_word or 'release'} {version!r:.40}; {_range_text(name)}")
    leveled = [_is_level(name, family, version) for _, version in bounds]
    if len(set(leveled)) > 1:
        raise InputError(f"expected {family.level_word}s or releases of {name}, not both: {_format_bounds(bounds)}")
    candidates = family.levels if leveled[0] else family.releases
    limits = [(sign, _level(name, version) if leveled[0] else version) for sign, version in bounds]
    nameds = [
        candidate
        for candidate in candidates
        if all(_SIGNS[sign](*_align_versions(sign, candidate.version, version)) for sign, version in limits)
    ]
    return nameds if leveled[0] else _newest_patches(nameds)


def _format_bounds(bounds: Sequence[tuple[str, str]]) -> str:
    return ",".join(f"{sign}{version}" for sign, version in bounds)


def _is_level(name: str, family: _Family, version: str) -> bool:
    """Return whether a version is a level, which wins over an equal release.

    A number that is neither counts as a level where only levels are close to it, such as 3 or 7.0 for DirectML, whose
    releases are 1.x.
    """
    if not family.levels or any(candidate.version == _level(name, version) for candidate in family.levels):
        return bool(family.levels)
    if not version[0].isdigit():
        return False
    level, release, number = (
        max((_key(candidate)[0] for candidate in versions), default=0)
        for versions in ([e.version for e in family.levels], [e.version for e in family.releases], [version])
    )
    return all(_key(candidate.version)[0] != number for candidate in family.releases) and (
        number <= level or release < level
    )


def _level(name: str, version: str) -> str:
    return dialect(name).level_named(version) or version


def _key(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)))


def _align_versions(sign: str, version: str, bound: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return both versions with equal precision.

    A bound without a patch includes all patches, so that ``<=1.20`` matches 1.20.1.
    """
    version_key, bound_key = _key(version), _key(bound)
    if sign in {"<=", ">", "=", "==", "!="}:
        version_key = version_key[: len(bound_key)]
    width = max(len(version_key), len(bound_key))
    return version_key + (0,) * (width - len(version_key)), bound_key + (0,) * (width - len(bound_key))


def _newest_patches(nameds: Sequence[_NamedTarget]) -> list[_NamedTarget]:
    """Return the newest release of each minor version."""
    return list(
        {
            _key(candidate.version)[:2]: candidate
            for candidate in sorted(nameds, key=lambda candidate: _key(candidate.version))
        }.values()
    )


def _family(name: str) -> _Family:
    families = _families()
    family = families.get(name) or families.get(name.lower())
    if family is None:
        similar = difflib.get_close_matches(name.lower(), families, 3)
        hint = f"did you mean {' or '.join(similar)}?" if similar else f"known are {', '.join(sorted(families))}"
        raise InputError(f"no target is called {name!r:.60}; {hint}")
    return family


def _range_text(plain_query: str) -> str:
    """Return the range of available targets as text."""
    name = (_LAST.fullmatch(plain_query) or [None, None, ""])[2] or re.split(r"[\s<>=!]", plain_query, maxsplit=1)[0]
    family = _family(name)
    texts = [f"{family.level_word}s {family.levels[0].version} to {family.levels[-1].version}"] if family.levels else []
    if family.releases:
        ordered = sorted(family.releases, key=lambda candidate: _key(candidate.version))
        texts.append(f"releases {ordered[0].version} to {ordered[-1].version}")
    return f"known are {' and '.join(texts)}"


@until_change
def _families() -> dict[str, _Family]:
    """Return the families of queries by name.

    They are dialects, packages of runtimes, and the prefixes of releases.
    """
    levels: dict[str, list[_NamedTarget]] = {}
    releases: dict[str, list[_NamedTarget]] = {}
    for row in known_targets():
        target, version = str(row["target"]), str(row["name"])
        name = target.partition(":")[0]
        if is_dialect(name) and version in dialect(name).position:
            if not dialect(name).tables.levels[version].get("unfinished"):
                levels.setdefault(name, []).append(_NamedTarget(version, target))
            continue
        match = re.fullmatch(r"(\D[\w-]*?)-(\d.*)", version)
        if match is None:
            releases.setdefault(name, []).append(_NamedTarget(version, target))
            continue
        for family in {f"{name}:{match[1]}", match[1]}:
            releases.setdefault(family, []).append(_NamedTarget(match[2], target))
    _own_packages(releases)
    return {
        name: _Family(tuple(levels.get(name, ())), tuple(releases.get(name, ())), _word(name))
        for name in {**levels, **releases}
    }


def _own_packages(releases: dict[str, list[_NamedTarget]]) -> None:
    """Replace releases named after a runtime by its packages."""
    for name, candidates in releases.items():
        own_candidates = [candidate for candidate in candidates if candidate.target.partition(":")[0] == name]
        candidates[:] = own_candidates or candidates


def _word(name: str) -> str:
    return dialect(name).level_word if name in dialect_names() else ""
