"""The command line: ``specgate COMMAND``. Exit codes: 0 clean, 1 findings, 2 unusable input."""

from __future__ import annotations

import importlib
import io
import os
import sys
from typing import TYPE_CHECKING

from specgate.cli.parser import make_parser
from specgate.errors import Error

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]

CLEAN, FINDINGS, UNUSABLE = 0, 1, 2


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; never raises for bad input."""
    arguments = make_parser().parse_args(argv)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a name that the terminal cannot show must not stop us
    try:
        if arguments.specs or arguments.kernels:
            from specgate.cli.extend import extend

            extend(arguments.specs, arguments.kernels)
        module = importlib.import_module(f"specgate.cli.{arguments.module}")
        code: int = getattr(module, arguments.function)(arguments)
        sys.stdout.flush()
    except Error as error:
        return _unusable(str(error))
    except BrokenPipeError:  # `specgate … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return UNUSABLE
    except KeyboardInterrupt:
        return 130
    except (RecursionError, MemoryError) as error:
        return _unusable(f"the input is too deeply nested or too large ({type(error).__name__})")
    except Exception as error:
        if os.environ.get("SPECGATE_DEBUG"):
            raise
        return _unusable(f"internal error, please report it (SPECGATE_DEBUG=1 shows where): {error!r:.300}")
    return code


def _unusable(message: str) -> int:
    from specgate.report.clean import clean

    for line in message.splitlines() or [""]:
        sys.stderr.write(f"specgate: {clean(line, 2000)}\n")
    return UNUSABLE
