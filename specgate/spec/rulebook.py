"""Reference entries of rules by id, for rules in tables and in code."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from specgate.dialects import is_dialect, package
from specgate.errors import InputError
from specgate.levels import LevelSet
from specgate.runtimes import runtimes
from specgate.spec.changes import iterate_distinct
from specgate.spec.lint import counterexample
from specgate.spec.tables import dialect
from specgate.spec.variables import SAME_TYPE
from specgate.spec.view import describe_cell

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from specgate.spec.dialect_spec import Dialect
    from specgate.spec.forms import Overlay, RuleForm, SingleBasis
    from specgate.spec.operator_spec import OperatorSpec
    from specgate.spec.written import OperatorTable, TensorTable

    Rules = Mapping[str, tuple[str, str, dict[str, str]]]

_MODEL = "model"


@dataclass(frozen=True, slots=True)
class Rule:
    """The reference entry of one rule.

    id: as in findings. says: one sentence; None if the rule is only an expression. holds: for each form of the rule its
    ``levels`` and ``text``, and ``basis`` and ``by`` if builds enforce it. fix: how to correct a violation. source:
    where the rule is documented. accepted, rejected: an accepted descriptor, and a descriptor that only this rule
    rejects, with its level and the change; None if the table has no such pair.
    """

    id: str
    says: str | None
    holds: tuple[Mapping[str, str], ...] = ()
    fix: str | None = None
    source: tuple[Mapping[str, Any], ...] = ()
    accepted: Mapping[str, Any] | None = None
    rejected: Mapping[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the entry as ``specgate rule --format json`` prints it."""
        entries = {
            "id": self.id,
            "says": self.says,
            "holds": [dict(form) for form in self.holds],
            "fix": self.fix,
            "source": [dict(source) for source in self.source],
        }
        pair = {} if self.accepted is None else {"accepted": self.accepted, "rejected": self.rejected}
        return entries | pair


def model_rules(dialect: str) -> Rules:
    """Return a dialect's rules of whole models by name.

    Empty for an unknown dialect.
    """
    return package(dialect).file_rules() if is_dialect(dialect) else {}


def other_groups() -> dict[str, Rules]:
    """Return the rules of runtimes by group, such as ``RUNTIME/placement``."""
    return {group: rules for each in runtimes() for group, rules in each.rule_groups().items()}


def rules_of_group(group: str) -> Rules:
    """Return the rules whose ids begin with ``GROUP/``.

    Rules of tables are not included; unknown groups return no rules.
    """
    dialect, slash, kind = group.partition("/")
    if slash and kind == _MODEL and is_dialect(dialect):
        return model_rules(dialect)
    return other_groups().get(group, {}) if slash and not is_dialect(dialect) else {}


OWN_RULES: Final = {
    "no-target": "a file is checked for at least one target of its dialect",
    "nothing-judged": "at least one node of a file is checked",
    "target-idle": "a target checks at least one node of the files",
    "ignore-expired": "an ignore applies until its date; remove it afterwards",
    "ignore-stale": "an ignore matches at least one finding; otherwise remove it",
    "baseline-stale": "a baseline lists only findings that still occur; otherwise write it again",
}
NODE_RULES: Final = {
    "changed": "the features of an operator that a node uses are equal at the target's version",
    "version": "the level of a node exists at the target",
    "type-release": "the target's release supports a tensor's type",
    "device-capability": "the device has the capability that a tensor's type requires",
}


def file_rule(rule: str) -> str | None:
    """Return the text of a check without a table by its id, else None.

    Example: ``onnx/model/cycle``.
    """
    group, _, name = rule.rpartition("/")
    if group == "specgate":
        return OWN_RULES.get(name)
    parts = rules_of_group(group).get(name)
    if parts is not None or group.endswith("/model"):
        return None if parts is None else parts[1]
    return NODE_RULES.get(name) if "/" in group else None


def rule_of(rule_id: str) -> Rule:
    """Return a rule by its id, such as ``directml/ONE_HOT/axis-range``.

    Raises InputError or NoTable for an unknown id.
    """
    group, _, name = rule_id.rpartition("/")
    rule = rules_of_group(group).get(name)
    if rule is not None:
        severity, says, source = rule
        return Rule(rule_id, f"{says} ({severity})", (), None, (source,) if source else ())
    text = file_rule(rule_id)
    return rule_reference(rule_id) if text is None else Rule(rule_id, text)


def rule_reference(rule_id: str) -> Rule:
    """Return a rule of a table by its id; raise InputError for an unknown id."""
    parts = rule_id.split("/")
    if len(parts) == 2 and is_dialect(parts[0]) and parts[1] in dialect(parts[0]).tables.operators:
        forms = dialect(parts[0]).operator(parts[1]).rule_forms
        rule_names = ", ".join(dict.fromkeys(form.name for form in forms)) or "level"
        raise InputError(f"expected a rule of {parts[1]} after a slash, one of {rule_names}")
    if len(parts) != 3 or not is_dialect(parts[0]):
        raise InputError(f"expected a rule id such as directml/ONE_HOT/axis-range, found {rule_id!r:.100}")
    table = dialect(parts[0])
    if parts[1] == "tensor":
        all_levels = LevelSet.of(table.levels, table.levels)
        stated_rules = [*_documented_rules(table.tensor_rules, all_levels), *_observed_rules(table.tensor_overlays)]
        return _reference(rule_id, table, stated_rules, parts[2], table.tables.tensor)
    spec = table.operator(parts[1])
    field, dot, aspect = parts[2].partition(".")
    if dot and aspect != SAME_TYPE and field in spec.fields:
        return _cell_reference(rule_id, spec, field, aspect)
    if parts[2] in _GENERAL:
        return Rule(rule_id, _GENERAL[parts[2]], source=tuple(spec.table.sources))
    stated_rules = [*_documented_rules(spec.rule_forms, spec.levels), *_observed_rules(spec.overlays)]
    return _reference(rule_id, table, stated_rules, parts[2], spec.table)


def rule_names(table: Dialect, operator: str) -> Iterator[str]:
    """Yield the last segments of all finding ids of an operator.

    ``tensor`` stands for the findings on tensors of any operator.
    """
    if operator == "tensor":
        forms, overlays = table.tensor_rules, table.tensor_overlays
    else:
        spec = table.operator(operator)
        forms, overlays = spec.rule_forms, spec.overlays
        yield from _GENERAL
        yield from (f"{field}.{aspect}" for field in spec.fields for aspect in _ASPECTS)
    yield from (form.name for form in forms)
    yield from (form.name for overlay in overlays for form in overlay.rules)


_GENERAL = {
    "level": "the operator exists at the target's level",
    "version": "the level of the descriptor exists at the target",
    "unknown-attribute": "the operator defines every attribute",
    "too-many-inputs": "the operator defines at least as many inputs",
    "support-case": "a support row of the level covers the descriptor",
    "too-many-outputs": "the operator defines at least as many outputs",
}
_ASPECTS = {
    "type": "the level's support row lists the type",
    "rank": "the level's support row lists the number of dimensions",
    "value": "the level's support row lists the value",
    "operator": "the level's support row lists the fused operator, and its description is complete",
    "required": "the field is present",
    "exists": "the operator has the field at the level",
    "unknown-word": "the dialect defines the name or number of a type, flag or kind",
    "wrong-kind": "the attribute's value has the kind that the operator defines",
}


class _StatedRule(NamedTuple):
    """A rule with its levels and its source.

    The source is the page, all builds, or one implementation.
    """

    form: RuleForm
    levels: LevelSet
    basis: SingleBasis
    by: str | None


def _documented_rules(forms: Iterable[RuleForm], levels: LevelSet) -> Iterator[_StatedRule]:
    yield from (_StatedRule(form, levels, "documented", None) for form in forms)


def _observed_rules(overlays: Iterable[Overlay]) -> Iterator[_StatedRule]:
    yield from (_StatedRule(form, o.builds, "observed", o.by) for o in overlays for form in o.rules)


def _level_data(stated_rule: _StatedRule, table: Dialect) -> dict[str, Any]:
    form = stated_rule.form
    levels = [level for level in stated_rule.levels if table.holds(level, form.since, form.until)]
    texts_by_name = {"levels": str(LevelSet.of(table.levels, levels)), "text": form.require.text}
    if stated_rule.basis == "observed":
        texts_by_name["basis"] = stated_rule.basis
    if stated_rule.by is not None:
        texts_by_name["by"] = stated_rule.by
    return texts_by_name


def _reference(
    rule_id: str, table: Dialect, stated_rules: list[_StatedRule], name: str, table_entry: OperatorTable | TensorTable
) -> Rule:
    forms = [stated_rule.form for stated_rule in stated_rules if stated_rule.form.name == name]
    if not forms:
        names = list(dict.fromkeys(stated_rule.form.name for stated_rule in stated_rules))
        similar = difflib.get_close_matches(name, names, 1)
        hint = f"did you mean {rule_id.rpartition('/')[0]}/{similar[0]}? " if similar else ""
        raise InputError(f"unknown rule {rule_id!r:.100}; {hint}known there: {', '.join(names) or 'none'}")
    reference = Rule(
        rule_id,
        next((form.because for form in forms if form.because), None),
        tuple(_level_data(stated, table) for stated in stated_rules if stated.form.name == name),
        next((form.fix for form in forms if form.fix), None),
        tuple(table_entry.sources),
    )
    entry = table_entry.counterexamples.get(name)
    if entry is None:
        return reference
    spec = table.operator(entry.get("operator") or rule_id.split("/")[1])
    failing_descriptor, level = counterexample(spec, entry)
    return replace(
        reference,
        accepted=spec.table.examples[entry["of"]]["descriptor"],
        rejected={"at": level, "change": entry["set"], "descriptor": failing_descriptor},
    )


def _cell_reference(rule_id: str, spec: OperatorSpec, field: str, aspect: str) -> Rule:
    if aspect not in _ASPECTS:
        raise InputError(f"unknown rule {rule_id!r:.100}; known aspects of a field: {', '.join(_ASPECTS)}")
    taken_at: dict[str, LevelSet] = {}
    for condition, resolved, levels in iterate_distinct(spec):
        cell = describe_cell(resolved, field) if field in resolved.fields else {}
        result = cell.get(
            {"value": "values", "rank": "ranks", "type": "types", "operator": "operators"}.get(aspect, "")
        )
        if result:
            text = ", ".join(map(str, result)) if isinstance(result, list) else str(result)
            text += f" where {condition}" if condition else ""
            taken_at[text] = taken_at[text] | levels if text in taken_at else levels
    holds = tuple({"levels": str(level_set), "text": text} for text, level_set in taken_at.items())
    return Rule(rule_id, _ASPECTS[aspect], holds, source=tuple(spec.table.sources))
