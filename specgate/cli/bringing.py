"""The options of ``specgate spec import``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

__all__ = ["bring"]


def bring(parser: argparse.ArgumentParser) -> None:
    """Add what is imported, from where and into which folder."""
    parser.add_argument(
        "dialect", help="onnx, openvino, onnxruntime, or a dialect of an installed package that has an importer"
    )
    parser.add_argument("--check", action="store_true", help="write nothing; list where tables and package differ")
    parser.add_argument(
        "--operator",
        action="append",
        default=[],
        metavar="TYPE",
        help="begin a table for this type of OpenVINO; repeatable",
    )
    parser.add_argument(
        "--wheel",
        metavar="FILE",
        help="of onnxruntime: a wheel of onnxruntime-directml for Windows, for what it registers (default: the "
        "installed package, for its CPU kernels)",
    )
    parser.add_argument(
        "--to", metavar="DIR", help="the dialect's own folder, such as specs/onnx (default: the one that specgate uses)"
    )
