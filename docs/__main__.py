"""Command line of the documentation site.

``python -m docs build FOLDER`` writes the site. ``python -m docs check FOLDER`` checks its links and sizes.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from docs.build import build
from docs.check import problems


def main() -> int:
    """Run one of the two commands."""
    parser = argparse.ArgumentParser(prog="python -m docs", description="Build or check the documentation site.")
    parser.add_argument("command", choices=("build", "check"))
    parser.add_argument("folder", type=Path, help="where the site is, such as _site")
    parser.add_argument(
        "--only", action="append", default=[], metavar="ID", help="an operator, such as directml/ONE_HOT"
    )
    arguments = parser.parse_args()
    start = time.perf_counter()
    if arguments.command == "build":
        count = build(arguments.folder, arguments.only)
        sys.stdout.write(f"{count:,} pages in {time.perf_counter() - start:.0f} s\n")
        return 0
    messages = problems(arguments.folder, whole=not arguments.only)
    for problem in messages:
        sys.stdout.write(f"{problem}\n")
    sys.stdout.write(f"{len(messages)} problems\n")
    return 1 if messages else 0


if __name__ == "__main__":
    raise SystemExit(main())
