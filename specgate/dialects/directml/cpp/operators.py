"""One C++ function and the tables of each operator."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from specgate.dialects.directml.cpp.fields import Cells, declare_field, presence_lines, value_of
from specgate.dialects.directml.cpp.lines import code_of, comment
from specgate.dialects.directml.cpp.nodes import Names, Nodes
from specgate.dialects.directml.cpp.rules import Rules
from specgate.dialects.directml.cpp.structures import structure_name
from specgate.dialects.directml.cpp.translate import Translator
from specgate.dialects.directml.cpp.values import Value, make_integer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from specgate.dialects.directml.cpp.levels import Levels, Stretch
    from specgate.dialects.directml.cpp.structures import Words
    from specgate.spec.forms import Resolved, RuleForm
    from specgate.spec.operator_spec import OperatorSpec


class Functions:
    """Writes the functions and tables of a header with shared levels and words.

    A function answers whether a description is accepted. The tables say the same to the code that explains a refusal.
    """

    def __init__(self, levels: Levels, words: Words, *, text: bool = True) -> None:
        self.text = text
        self.levels = levels
        self.words = words
        self.nodes = Nodes()
        self.cells = Cells(levels, words, text=text)
        self.limits: dict[str, Value] = {}
        for name in sorted(levels.dialect.limit_names):
            limits = [levels.dialect.limits(level)[name] for level in levels.chosen]
            self.limits[name] = make_integer(f"limit_{name}[check.place]", min(limits), max(limits), tight=True)

    def limit_lines(self) -> Iterator[str]:
        """Yield the numbers that depend only on the level, by its position."""
        for name in self.limits:
            numbers = (str(self.levels.dialect.limits(level)[name]) for level in self.levels.chosen)
            yield f"inline constexpr int64_t limit_{name}[] = {{{', '.join(numbers)}}};"
        yield f"inline constexpr const int64_t* limits[] = {{{', '.join(f'limit_{name}' for name in self.limits)}}};"

    def _names(self, fields: Iterable[str], spec: OperatorSpec | None = None) -> Names:
        """Return what the names in the rules of an operator, or of all tensors, refer to."""
        defines = spec.scope.defines if spec is not None else {}
        return Names(list(fields), list(self.limits), defines, self.levels.dialect.type_numbers)

    def tensor_parts(self) -> tuple[list[str], list[str]]:
        """Return the table and the function with the rules of every tensor."""
        rules_at = self.levels.dialect.tensor_rules_at
        every = self.levels.everywhere(self.levels.chosen)
        forms: dict[Stretch, Sequence[RuleForm]] = {(level, side): rules_at(level, side, None) for level, side in every}
        fields = {"tensor": Value("tensor", "tensor", tight=True)}
        translate = Translator(fields, self.limits, {}, self.words)
        rules = Rules("tensor", forms, self.levels, translate, text=self.text, of_tensors=True)
        table = list(_array("Rule", "rules_of_tensors", list(rules.rows(self.nodes, self._names(["tensor"])))))
        body = list(rules.tests())
        function = [
            "// The rules of every tensor, whatever the operator.",
            "inline bool accepts_tensor(Check& check, const Tensor& tensor, [[maybe_unused]] bool output) {",
            *_scope(body),
            *(f"  {line}" for line in body),
            "  return true;",
            "}",
        ]
        return table, function

    def operator_parts(self, spec: OperatorSpec) -> tuple[list[str], list[str]]:
        """Return the tables of one operator, and the function that checks it."""
        sides = self.levels.sides(spec)
        fields = {name: value_of(info) for name, info in spec.fields.items()}
        translate = Translator(fields, self.limits, spec.scope.defines, self.words)
        forms = {stretch: resolved.rules for stretch, resolved in sides.items()}
        rules = Rules(spec.name, forms, self.levels, translate, text=self.text)
        cells = self.cells.of(spec, sides)
        rows, tests = list(cells.rows()), list(cells.tests())
        case_rows, case_tests = self._cases(spec, sides, translate, rows)
        body = [line for info in spec.fields.values() for line in presence_lines(info)]
        body += [*tests, *case_tests]
        body += [
            f"if (!check.accepts_tensors({info.name}, {'true' if info.kind == 'output' else 'false'})) return false;"
            for info in spec.fields.values()
            if info.type in {"tensor", "tensor[]"}
        ]
        body += rules.tests()
        text = code_of("\n".join(body))
        function = [
            *comment(f"{spec.name}: {spec.table.summary}"),
            f"inline bool accepts_{spec.name}(Check& check, const void* description) {{",
            f"  const auto* desc = static_cast<const abi::{structure_name(spec.name)}*>(description);",
            *_scope(body),
            *(
                f"  {declare_field(spec.name, info)}"
                for name, info in spec.fields.items()
                if re.search(rf"(?<![\w>]){name}\b", text)
            ),
            *(f"  {line}" for line in body),
            "  return !check.broken;",
            "}",
        ]
        name = spec.name
        table = [*_array("Cell", f"cells_{name}", rows), *_array("Case", f"cases_{name}", case_rows)]
        return [
            *table,
            *_array("Rule", f"rules_{name}", list(rules.rows(self.nodes, self._names(fields, spec)))),
        ], function

    def _cases(
        self, spec: OperatorSpec, sides: Mapping[Stretch, Resolved], translate: Translator, rows: list[str]
    ) -> tuple[list[str], list[str]]:
        """Return conditional rows and their tests; append their cells to rows.

        The first row whose condition holds applies.
        """
        table, body, before = [], [], ""
        for when in {rule.text: rule for rule in spec.conditions}.values():
            resolved_by_stretch = {
                stretch: case.resolved
                for stretch, resolved in sides.items()
                for case in resolved.cases
                if case.when.text == when.text
            }
            if not resolved_by_stretch:
                continue
            cells = self.cells.of(spec, resolved_by_stretch, start=len(rows), every=sides)
            mask = self.levels.mask(resolved_by_stretch, sides)
            condition = "" if mask == self.levels.mask(sides, sides) else f" && (now & {mask:#x}) != 0"
            first = len(rows)
            rows += cells.rows()
            body.append(f"{before}if ({translate(when.tree).operand}{condition}) {{")
            body += [f"  {line}" for line in cells.tests()]
            table.append(
                f"{{{mask:#x}, {self.nodes.test(when, self._names(spec.fields, spec))}, {first}, {len(rows) - first}}},"
            )
            before = "} else "
        return table, [*body, "} else {", "  return false;", "}"] if table else []


def case_field(spec: OperatorSpec) -> int:
    """Return the position of the field at which a missing row is reported."""
    read = {name for when in spec.conditions for name in when.fields}
    return next((number for number, name in enumerate(spec.fields) if name in read), 0)


def _array(kind: str, name: str, rows: Sequence[str]) -> Iterator[str]:
    """Yield the definition of an array, nothing without rows."""
    if rows:
        yield f"inline constexpr {kind} {name}[] = {{"
        yield from (f"    {row}" for row in rows)
        yield "};"


def _scope(body: Sequence[str]) -> Iterator[str]:
    """Yield the variable that conditions on levels read."""
    if re.search(r"\bnow\b", code_of("\n".join(body))):
        yield "  const uint64_t now = check.now;"
