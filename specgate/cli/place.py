"""``specgate place``: the provider of each node of a model."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from specgate.cli.common import as_json, emit, output_width
from specgate.errors import InputError
from specgate.files import refuse_replaced
from specgate.linting.input_source import standard_input
from specgate.linting.settings import LintSettings, read_pins
from specgate.lowest.text import at_level
from specgate.report.placement.text import level_minimum_text, render
from specgate.runtimes.onnxruntime.documents import write_documents
from specgate.runtimes.onnxruntime.minimum import level_minimum, runtime_target
from specgate.runtimes.onnxruntime.place import place_model
from specgate.targets import parse_target
from specgate.validate.device import device_of

if TYPE_CHECKING:
    import argparse

    from specgate.linting.input_source import InputSource
    from specgate.runtimes.onnxruntime.placement import Placement
    from specgate.runtimes.release import Runtime


def place(arguments: argparse.Namespace) -> int:
    """Print a model's placement; 1 if the session or its first run fails."""
    if arguments.target is None:
        raise InputError("no target: pass --target, such as onnxruntime-directml:1.24.4")
    refuse_replaced([arguments.output] if arguments.output else [], [arguments.model])
    target = parse_target(arguments.target)
    device = device_of(arguments.device)
    settings = LintSettings(not arguments.no_infer, read_pins(arguments.pin), strict=True)
    model = standard_input() if arguments.model == "-" else arguments.model
    placement = place_model(model, target, device, settings)
    paths = _write_documents(placement, target.runtime, arguments)
    emit(_render_placement(placement, arguments), arguments.output)
    if paths:
        report_alone = arguments.format == "text" and arguments.output in {None, "-"}
        (sys.stdout if report_alone else sys.stderr).write(f"{paths}\n")
    return 0 if placement.usable else 1


def _write_documents(placement: Placement, runtime: Runtime | None, arguments: argparse.Namespace) -> str:
    """Write the requested descriptors; return a message on the files."""
    if arguments.descriptors is None:
        if arguments.node:
            raise InputError("--node requires --descriptors DIR")
        return ""
    if runtime is None or not runtime.below:
        raise InputError(f"{placement.target} does not create DirectML operators, so --descriptors does not apply")
    return str(write_documents(placement, runtime.below, arguments.descriptors, arguments.node))


def _render_placement(placement: Placement, arguments: argparse.Namespace) -> str:
    if arguments.format == "json":
        return as_json(placement.to_dict())
    if arguments.format == "html":
        from specgate.report.placement.html import render as render_html

        return render_html(placement)
    return render(placement, output_width(arguments.output), verbose=arguments.verbose)


def placed_minimum(model: str | InputSource, arguments: argparse.Namespace) -> int:
    """Print the lowest level at which all placed kernels are created.

    Returns 1 if no level is sufficient.
    """
    target = runtime_target(arguments.dialect, arguments.target)
    settings = LintSettings(not arguments.no_infer, read_pins(arguments.pin), strict=True)
    minimum = level_minimum(model, target, settings)
    name = model if isinstance(model, str) else model.name
    if arguments.format == "json":
        emit(as_json(minimum.to_dict(name)), None)
    else:
        emit(level_minimum_text(minimum, name, output_width(None), at_level, verbose=arguments.verbose), None)
    return 0 if minimum else 1
