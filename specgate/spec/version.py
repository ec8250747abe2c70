"""The version of the tables: their release, and a hash of their content."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

from specgate.dialects import BUILT_IN
from specgate.errors import InputError
from specgate.runtimes import runtimes
from specgate.spec.tables import dialect
from specgate.targets import parse_target

if TYPE_CHECKING:
    from collections.abc import Iterable

    from specgate.spec.dialect_spec import Dialect

#: Year and month of the tables, updated with each package release in which their content changes.
RELEASE: Final = "2026.11"
_DIGEST_LENGTH: Final = 12


def tables_version() -> str:
    """Return the version of the shipped dialects with extra folders applied.

    ``2026.11+0f3a9c41d7e8`` is the release and the hash. Equal versions mean equal tables.
    """
    h = hashlib.sha256()
    for name, version in versions(BUILT_IN).items():
        h.update(f"{name} {version}\n".encode())
    return _version(h.hexdigest())


def versions(dialects: Iterable[str]) -> dict[str, str]:
    """Return the version of each dialect's tables by name.

    Tables next to a dialect, such as those of runtimes, are included.
    """
    texts_by_name: dict[str, str] = {}
    for name in dialects:
        texts_by_name[name] = version_of(dialect(name))
        texts_by_name |= _runtime_versions(name)
    return texts_by_name


def version_of(table: Dialect) -> str:
    """Return the version of a dialect's tables, in use or not."""
    return _version(table.digest)


def versions_of_targets(targets: Iterable[str]) -> dict[str, str]:
    """Return the versions of the tables that targets use, by name."""
    texts_by_name: dict[str, str] = {}
    for text in targets:
        try:
            target = parse_target(text)
        except InputError:  # reports may name tables that are not in use here
            continue
        runtime = target.runtime
        for name in (target.dialect, runtime.below if runtime is not None else ""):
            if name:
                texts_by_name[name] = version_of(dialect(name))
        texts_by_name |= _runtime_versions(target.dialect) if runtime is not None else {}
    return texts_by_name


def _runtime_versions(name: str) -> dict[str, str]:
    return {other: _version(hashed) for runtime in runtimes(name) for other, hashed in runtime.table_hashes().items()}


def _version(hashed: str) -> str:
    return f"{RELEASE}+{hashed[:_DIGEST_LENGTH]}"
