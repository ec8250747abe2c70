"""The options of ``specgate conform``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

__all__ = ["conforming"]


def conforming(conform: argparse.ArgumentParser) -> None:
    """Add the options."""
    conform.add_argument(
        "dialect",
        help="directml, onnx, openvino, openvino-cpu or a dialect of an installed package; or a runtime: "
        "onnxruntime-directml, onnxruntime",
    )
    conform.add_argument("--operator", action="append", metavar="NAME", help="only this operator; repeat for several")
    conform.add_argument(
        "--level",
        action="append",
        metavar="LEVEL",
        help="only this level; repeat, or use commas; for a runtime: the level of its DirectML",
    )
    conform.add_argument(
        "--versions", action="store_true", help="test each operator only at levels where its table changes"
    )
    conform.add_argument(
        "--cases", type=int, metavar="N", help="per operator and level (default 500; 20 for a runtime)"
    )
    conform.add_argument("--seed", type=int, default=0, metavar="S", help="seed of the random cases")
    conform.add_argument("--values", action="store_true", help="also execute, and compare the values")
    conform.add_argument("--seconds", type=float, metavar="S", help="time limit")
    conform.add_argument("-j", "--jobs", type=int, default=0, metavar="N", help="processes (default: one per core)")
    conform.add_argument("--format", choices=("text", "json", "html", "markdown"), default="text")
    conform.add_argument("-o", "--output", metavar="FILE", help="write the report to FILE")
    runtime = conform.add_argument_group("for a runtime")
    runtime.add_argument(
        "--release", metavar="N", help="such as 1.24.4 or 1.24.4@5.0; several separated by commas (default: the newest)"
    )
    runtime.add_argument(
        "--graphs", type=int, metavar="N", help="random graphs that compute sizes (default 100; 0 with --operator)"
    )
    runtime.add_argument("--models", metavar="DIR", help="also every .onnx file in DIR")
    runtime.add_argument("--case", metavar="ID", help="only this model, as a report names it")
    runtime.add_argument("--keep", metavar="DIR", help="write the tested models to DIR; requires --case")
