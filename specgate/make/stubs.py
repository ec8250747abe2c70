"""Write the type stubs of the constructors: ``python -m specgate.make.stubs`` after a table has changed."""

from __future__ import annotations

from pathlib import Path

from specgate.files import write_text
from specgate.make.factory import annotation, field_is_required, operators, ordered
from specgate.spec.store import DIALECTS
from specgate.spec.tables import dialect

__all__ = ["stub_text"]


def stub_text(name: str) -> str:
    """Return the stub file of one dialect's constructors."""
    lines = [
        "# Written by `python -m specgate.make.stubs` from the tables; a test holds it against them.",
        f"from specgate.descriptors.core import {', '.join(_classes(name))}",
        "",
    ]
    for operator in operators(name):
        spec = dialect(name).operator(operator)
        lines.append(f"def {operator}(")
        lines.append("    *,")
        for info in ordered(spec):
            kind = annotation(info)
            lines.append(
                f"    {info.name}: {kind},"
                if field_is_required(spec, info)
                else f"    {info.name}: {kind} | None = None,"
            )
        lines.append(") -> Descriptor: ...")
    return "\n".join(lines) + "\n"


def _classes(name: str) -> list[str]:
    kinds = {annotation(info) for operator in operators(name) for info in ordered(dialect(name).operator(operator))}
    return ["Descriptor", *(word for word in ("GraphDesc", "TensorDesc") if any(word in kind for kind in kinds))]


if __name__ == "__main__":
    for each in DIALECTS:
        write_text(Path(__file__).with_name(f"{each}.pyi"), stub_text(each))
