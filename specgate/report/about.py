"""What a rule id stands for, from the tables where they have it: for formats that explain the rules they name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["About", "about"]


@dataclass(frozen=True, slots=True)
class About:
    """A rule for a reader: what it says in one sentence, what is to know beside it line by line, where it comes from.

    `lines` are not cleaned; url is the page or source that was read, None where it is not on the web.
    """

    says: str
    lines: tuple[str, ...] = ()
    url: str | None = None


def about(rule: str) -> About:
    """Return what is known of a rule; of an unknown id, that it is a check of specgate."""
    from specgate.errors import Error
    from specgate.spec.check_rules import file_rule
    from specgate.spec.rulebook import rule_reference

    said = file_rule(rule)
    if said is not None:
        return About(said)

    try:
        return _from(rule, rule_reference(rule))
    except Error:
        return About(f"a check of specgate, {rule}")


def _from(rule: str, reference: Mapping[str, Any]) -> About:
    holds = [_held(entry) for entry in reference["holds"]]
    sources = reference.get("source") or []
    lines = [*holds]
    if reference.get("fix"):
        lines.append(f"fix: {reference['fix']}")
    lines += [f"source: {_source(source)}" for source in sources]
    if "rejected" in reference:
        lines.append(f"specgate rule {rule} prints an example that passes and one that fails")
    first = holds[0].partition(": ")[2] if holds else ""
    says = reference.get("says") or first or f"a check of specgate, {rule}"
    return About(says, tuple(lines), next((url for url in map(_url, sources) if url), None))


def _held(entry: Mapping[str, Any]) -> str:
    by = f" ({entry['by']} only)" if "by" in entry else " (builds, not the page)" if entry.get("basis") else ""
    return f"{entry['levels']}{by}: {entry['text']}"


def _source(source: Mapping[str, Any]) -> str:
    from specgate.report.tables.words import source_words

    return source_words(source)


def _url(source: Mapping[str, Any]) -> str | None:
    repository, path, commit = (source.get(key) for key in ("repository", "path", "commit"))
    return f"https://github.com/{repository}/blob/{commit}/{path}" if repository and path and commit else None
