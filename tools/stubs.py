"""Type stubs of the constructors in ``specgate.make``.

They are generated from the tables. The build adds them to the wheel, and an editable install writes them into the
checkout. ``python -m tools stubs`` updates them after a change of a table.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Final

from specgate.dialects import BUILT_IN
from specgate.files import write_text
from specgate.make.factory import annotation, describe_operator, field_is_required, operators, ordered_fields
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from specgate.spec.operator_spec import OperatorSpec

__all__ = ["package_stub", "stub_text", "write_stubs"]

_WIDTH: Final = 120


def write_stubs(folder: Path) -> list[Path]:
    """Write the stubs into the folder of ``specgate.make``.

    Returns their paths.
    """
    texts = {"__init__": package_stub(), **{name: stub_text(name) for name in BUILT_IN}}
    paths = {folder / f"{name}.pyi": text for name, text in texts.items()}
    for path, text in paths.items():
        write_text(path, text)
    return list(paths)


def package_stub() -> str:
    """Return the stub file of the package, which imports the modules."""
    lines = ["from types import ModuleType", "", "from specgate.descriptors.core import tensor as tensor"]
    lines += [f"from specgate.make import {name} as {name}" for name in BUILT_IN]
    return "\n".join([*lines, "", "def __getattr__(name: str) -> ModuleType: ...", ""])


def stub_text(name: str) -> str:
    """Return the stub file of one dialect's constructors."""
    aliases = _aliases(name)
    lines = ["# Written by `python -m tools stubs` from the tables."]
    lines += ["from typing import Literal, TypeAlias", ""] if aliases else []
    lines += [*_imports(name), ""]
    for words, alias in aliases.items():
        line = f"{alias}: TypeAlias = {words}"
        listed = words.removeprefix("Literal[").removesuffix("]").split(", ")
        whole = [f"{alias}: TypeAlias = Literal[", *(f"    {word}," for word in listed), "]"]
        lines += [line] if len(line) <= _WIDTH else whole
    lines += [""] if aliases else []
    for operator in operators(name):
        spec = dialect(name).operator(operator)
        lines.append(f"def {operator}(")
        lines.append("    *,")
        for info in ordered_fields(spec):
            kind = _shorten_type(annotation(info), aliases)
            lines.append(
                f"    {info.name}: {kind},"
                if field_is_required(spec, info)
                else f"    {info.name}: {kind} | None = None,"
            )
        lines += [") -> Descriptor:", *_docstring(spec)]
    return "\n".join(lines).rstrip("\n") + "\n"


def _docstring(spec: OperatorSpec) -> list[str]:
    """Return the docstring of a constructor; long lines are wrapped."""
    lines = [part for line in describe_operator(spec) for part in (_wrap_line(line) or [""])]
    first, *rest = (line.replace("\\", "\\\\").replace('"', "'") for line in lines)
    if not rest:
        return [f'    """{first}"""', ""]
    return [f'    """{first}', *(f"    {line}".rstrip() for line in rest), '    """', ""]


def _wrap_line(line: str) -> list[str]:
    return textwrap.wrap(line, _WIDTH - 10, break_long_words=False, break_on_hyphens=False)


def _aliases(name: str) -> dict[str, str]:
    """Return a type alias for each set of words.

    It is named after the enum, else after the first field with these words.
    """
    aliases: dict[str, str] = {}
    for operator in operators(name):
        for info in ordered_fields(dialect(name).operator(operator)):
            kind = annotation(info).removeprefix("list[")
            if kind.startswith("Literal["):
                kind = kind[: kind.index("]") + 1]
                _, enum, called = info.type.removesuffix("[]").partition("enum:")
                aliases.setdefault(kind, f"_{called}" if enum else f"_{operator}_{info.name}")
    return aliases


def _shorten_type(kind: str, aliases: Mapping[str, str]) -> str:
    for words, alias in aliases.items():
        kind = kind.replace(words, alias)
    return kind


def _imports(name: str) -> list[str]:
    """Return the import lines for the classes in annotations.

    Record classes are imported from the dialect's modules.
    """
    kinds = {
        annotation(info) for operator in operators(name) for info in ordered_fields(dialect(name).operator(operator))
    }
    used = [word for word in ("GraphDesc", "TensorDesc") if any(word in kind for kind in kinds)]
    lines = [f"from specgate.descriptors.core import {', '.join(['Descriptor', *used])}"]
    places: dict[str, list[str]] = {}
    for record in dialect(name).vocabulary.records.values():
        places.setdefault(record.__module__, []).append(record.__name__)
    return lines + [f"from {module} import {', '.join(sorted(names))}" for module, names in places.items()]
