"""The options of ``specgate oracle install``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

__all__ = ["installing"]


def installing(install: argparse.ArgumentParser) -> None:
    """Add the options."""
    install.add_argument("dialect", choices=("directml", "onnxruntime-directml", "onnxruntime"))
    install.add_argument(
        "--levels",
        help="of DirectML, several separated by commas: 6.2 (default; 6.4 for values), or all; "
        "for a runtime: in addition to its bundled level",
    )
    install.add_argument("--release", metavar="N", help="of a runtime, such as 1.24.4; several separated by commas")
    install.add_argument("--system", choices=("linux", "windows"), help="only builds for this operating system")
    install.add_argument(
        "--values",
        action="store_true",
        help="also install what computes values: Wine 10 and Mesa, in a Debian root if necessary",
    )
