"""``specgate place``: where a runtime runs each node of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specgate.cli.common import as_json, emit, width
from specgate.errors import InputError

if TYPE_CHECKING:
    import argparse

    from specgate.placement.placed import Placement

__all__ = ["place"]


def place(arguments: argparse.Namespace) -> int:
    """Print the placement of a model; 1 where the session fails."""
    from specgate.linting.given import standard_input
    from specgate.linting.settings import LintSettings, read_pins
    from specgate.placement.reading import place_model
    from specgate.targets import parse_target
    from specgate.validate.device import device_of

    if arguments.target is None:
        raise InputError("no target: give --target, for instance onnxruntime-directml:1.24.4")
    target = parse_target(arguments.target)
    device = device_of(arguments.device)
    settings = LintSettings(not arguments.no_infer, read_pins(arguments.pin))
    model = standard_input() if arguments.model == "-" else arguments.model
    found = place_model(model, target, device, settings)
    emit(_rendered(found, arguments), arguments.output)
    return 1 if found.session == "fails" else 0


def _rendered(found: Placement, arguments: argparse.Namespace) -> str:
    if arguments.format == "json":
        return as_json(found.to_dict())
    if arguments.format == "html":
        from specgate.report.placement.html import render as page

        return page(found)
    from specgate.report.placement.text import render

    return render(found, width(arguments.output), verbose=arguments.verbose)
