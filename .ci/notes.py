"""Print what CHANGELOG.md says of a tag's version; end with 1 where tag, version and changelog do not agree."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_VERSION = re.compile(r'^__version__ = "(.+)"$', re.MULTILINE)


def notes(tag: str, module: str, changelog: str) -> str:
    """Return the section of a tag such as v1.2.3; raise ValueError where something is missing.

    module: the text of ``specgate/__init__.py``. changelog: the text of CHANGELOG.md.
    """
    found = _VERSION.search(module)
    if found is None:
        raise ValueError("specgate/__init__.py has no line with __version__")
    version = found[1]
    if tag != f"v{version}":
        raise ValueError(f"the tag is {tag}, but specgate/__init__.py says {version}: expected v{version}")
    title = re.search(rf"^## {re.escape(version)} - \d{{4}}-\d\d-\d\d$", changelog, re.MULTILINE)
    if title is None:
        raise ValueError(f"CHANGELOG.md has no section '## {version} - YYYY-MM-DD'")
    text = re.split(r"^## ", changelog[title.end() :], maxsplit=1, flags=re.MULTILINE)[0].strip()
    if not re.search(r"^- ", text, re.MULTILINE):
        raise ValueError(f"the section of {version} in CHANGELOG.md names no change")
    return text


def main() -> int:
    """Print the notes of the tag that is the one argument."""
    try:
        text = notes(
            sys.argv[1],
            (ROOT / "specgate/__init__.py").read_text(encoding="utf-8"),
            (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"),
        )
    except ValueError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.buffer.write(f"{text}\n".encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
