"""A pytest plugin with the fixture and function `assert_supported`.

It imports the rest of specgate when it is called.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from specgate.errors import InputError
from specgate.report import RenderOptions, render
from specgate.verdict import Location, NodeRef, Report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from specgate.targets import Target
    from specgate.verdict import Basis


def assert_supported(
    model: Any,
    target: str | Target | Sequence[str | Target],
    basis: Basis = "both",
    *,
    device: str | Iterable[str] | None = None,
    strict: bool = False,
) -> Report:
    """Raise AssertionError with the report unless a model is accepted.

    model: a path (ONNX, OpenVINO IR, descriptor file), an ``onnx.ModelProto``, or one descriptor as a dict. target: one
    target or several. basis, device: as for `specgate.lint`. strict: also fail for undecided nodes and for nodes
    without a table. A model without any node that could be checked, and a target without any node in the model, always
    fail.

    Returns the report. Raises InputError for an unusable model.
    """
    __tracebackhide__ = True
    targets = [target] if isinstance(target, str) or hasattr(target, "dialect") else list(target)
    if not targets:
        raise InputError("expected at least one target such as onnx:17")
    report = (
        _check_descriptor(model, targets, basis, device)
        if isinstance(model, dict)
        else _lint_model(model, targets, basis, device)
    )
    problem = _problem(report, strict=strict)
    if problem is None:
        return report
    text = render(report, "text", options=RenderOptions(width=100, verbose=strict))
    raise AssertionError(f"{_name(model)} {problem}\n\n{text}")


def _lint_model(model: Any, targets: Sequence[Any], basis: Basis, device: Any) -> Report:
    import specgate

    return specgate.lint(model, targets, basis, device=device)


def _check_descriptor(model: Any, targets: Sequence[Any], basis: Basis, device: Any) -> Report:
    """Check one descriptor for each target; return a report with one node."""
    import specgate

    report = Report(targets=[str(target) for target in targets])
    for target in targets:
        verdict = specgate.check(model, target, basis, device=device)
        place = Location(operator=verdict.operator)
        report.nodes += 1
        report.findings.extend(finding.at(place) for finding in verdict.findings)
        if verdict.accepted is None:
            reason = "; ".join(finding.message.removesuffix(".") for finding in verdict.undecided)
            report.undecided.append(NodeRef(place, verdict.target, reason))
    return report


def _problem(report: Report, *, strict: bool) -> str | None:
    targets = ", ".join(report.targets)
    has_errors = any(finding.severity == "error" for finding in report.findings)
    if report.nodes == 0 and report.targets and not has_errors:
        return f"has no node that could be checked for {targets}"
    if not report.clean:
        return f"is not supported by {targets or 'any of the targets'}"
    if strict and (report.undecided or report.no_table):
        return f"is not known to be supported by {targets}"
    return None


def _name(model: Any) -> str:
    if isinstance(model, str | os.PathLike):
        return os.fspath(model)
    return "the descriptor" if isinstance(model, dict) else "the model"


@pytest.fixture(name="assert_supported", scope="session")
def _fixture() -> Callable[..., Report]:
    """Assert that a model is accepted for a target.

    Example: ``assert_supported("model.onnx", "onnx:17")``.
    """
    return assert_supported
