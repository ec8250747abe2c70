"""Fuzz the readers: `python -m tests.fuzz --count 100000 --reader onnx --first 0`."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.fuzz.readers import READERS
from tests.fuzz.run import fuzz


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Fuzz specgate's readers.")
    parser.add_argument("--reader", choices=list(READERS), action="append", help="one of them; all if left out")
    parser.add_argument("--count", type=int, default=100_000, help="inputs for each reader (default: 100000)")
    parser.add_argument("--first", type=int, default=0, help="the number of the first input (default: 0)")
    arguments = parser.parse_args()
    failed = False
    for reader in arguments.reader or READERS:
        start = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            outcomes, failures = fuzz(reader, range(arguments.first, arguments.first + arguments.count), Path(folder))
        print(f"{reader}: {arguments.count} inputs in {time.monotonic() - start:.0f} s")
        for outcome, count in outcomes.most_common():
            print(f"  {count:8} {outcome}")
        print(*failures, sep="\n")
        failed = failed or bool(failures)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
