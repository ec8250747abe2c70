"""The command line: ``specgate COMMAND``.

Exit codes: 0 clean, 1 findings, 2 unusable input.
"""

from __future__ import annotations

import importlib
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from specgate.cli.parser import make_parser
from specgate.cli.shutdown import OutputError, ShutdownSignal, discard_output, own_streams, raise_on_signals
from specgate.errors import Error

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

CLEAN, FINDINGS, UNUSABLE = 0, 1, 2


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; never raises for bad input."""
    with own_streams():
        try:
            with raise_on_signals():
                return _run(argv)
        except ShutdownSignal as stopped:
            _print_message(str(stopped))
            return stopped.code
        except KeyboardInterrupt:  # from a signal handler of the caller
            _print_message("interrupted")
            return 130


def _run(argv: Sequence[str] | None) -> int:
    try:
        arguments = _parse_arguments(argv)
        if arguments.specs or arguments.kernels:
            from specgate.cli.extend import extend

            extend(arguments.specs, arguments.kernels)
        module = importlib.import_module(f"specgate.cli.{arguments.module}")
        code: int = getattr(module, arguments.function)(arguments)
        sys.stdout.flush()
    except Error as error:
        return _unusable(str(error))
    except (RecursionError, MemoryError) as error:
        return _unusable(f"the input is too deeply nested or too large ({type(error).__name__})")
    except OutputError as error:
        discard_output()
        return UNUSABLE if error.pipe else _unusable(str(error))  # `specgate … | head` needs no message
    except Exception as error:
        if isinstance(error.__cause__, ShutdownSignal):  # by Python 3.11 if the signal arrives while a class is created
            raise error.__cause__ from None
        if os.environ.get("SPECGATE_DEBUG"):
            raise
        if isinstance(error, OSError) and error.filename is not None and error.strerror:
            return _unusable(f"{os.fsdecode(error.filename)}: cannot use the file: {error.strerror}")
        return _unusable(f"internal error, please report it (SPECGATE_DEBUG=1 shows where): {error!r:.300}")
    return code


def _parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    try:
        words = sys.argv[1:] if argv is None else argv
        return make_parser(words).parse_args(words)
    except SystemExit:
        sys.stdout.flush()  # the output of --help
        raise


def _unusable(message: str) -> int:
    _print_message(message)
    return UNUSABLE


def _print_message(message: str) -> None:
    from specgate.report.clean import clean

    with suppress(OSError):  # no other stream is left for the message
        for line in message.split("\n"):
            sys.stderr.write(f"specgate: {clean(line, 2000)}\n")
        sys.stderr.flush()
