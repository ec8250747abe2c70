"""One dialect at run time: its levels, its types, what holds for every tensor, and its operators. No pydantic."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from specgate.caching import cached_property
from specgate.descriptors.core import Numbered
from specgate.dialects import is_dialect, package
from specgate.errors import InputError, NoTable
from specgate.levels import LevelSet
from specgate.rules.language import PLAIN, TENSOR, Scope, Vocabulary, register_types
from specgate.spec.forms import Overlay, RuleForm, SingleBasis, make_forms, rule_forms
from specgate.spec.operator_spec import OperatorSpec
from specgate.spec.type_names import parse_type
from specgate.spec.written import DialectTables

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specgate.rules.obeying import TensorRules
    from specgate.spec.fields import FieldInfo
    from specgate.spec.type_names import TypeName
    from specgate.spec.written import EnvironmentEntry, ImplementationEntry, TypeEntry

__all__ = ["Dialect"]

MAX_LEVEL: Final = 10**9
#: The enum of the element types, which `types.yaml` numbers.
ELEMENT_TYPE: Final = "element-type"


class Dialect:
    """One dialect's levels, types and operators.

    domain: "", or the domain whose versions are the levels here; parent: the dialect that it belongs to then.
    """

    def __init__(self, name: str, entries: dict[str, Any], domain: str = "", parent: Dialect | None = None) -> None:
        """Make it of what its files say, by parts; see `tables`."""
        self.name = name
        self.domain = domain
        self.parent = parent
        self.tables = DialectTables(entries)
        self.vocabulary: Vocabulary = package(name).vocabulary if is_dialect(name) else PLAIN
        register_types({info["tensor"]: word for word, info in self.types.items() if "tensor" in info})
        self._operators: dict[str, OperatorSpec] = {}
        self._domains: dict[str, Dialect] = {}

    @cached_property
    def levels(self) -> tuple[str, ...]:
        return tuple(self.tables.levels)

    @cached_property
    def position(self) -> dict[str, int]:
        return {level: index for index, level in enumerate(self.levels)}

    @cached_property
    def digest(self) -> str:
        """The hash of what the tables say."""
        if self.tables.digest is not None:
            return self.tables.digest
        from specgate.spec.digest import digest  # tables that files of others add to

        return digest(self.tables.entries)

    @cached_property
    def types(self) -> dict[str, TypeEntry]:
        return self.tables.types

    @cached_property
    def type_numbers(self) -> dict[str, int]:
        """The numbers of the element types, by their words; empty where the dialect has none."""
        return {name: n for name, info in self.types.items() if (n := info.get("value")) is not None}

    @cached_property
    def bits(self) -> dict[str, int | None]:
        return {name: info.get("bits") for name, info in self.types.items()}

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(self.types)

    def numbers(self, enum: str) -> dict[str, int]:
        """Return the numbers of an enum's words (``PADDING_MODE``), empty where the dialect has none for them.

        The element types are one of them: ``element-type``.
        """
        if enum == ELEMENT_TYPE:
            return self.type_numbers
        numbers_by_name: dict[str, int] = self.tables.enums.get(enum, {})
        return numbers_by_name

    def numbered(self, info: FieldInfo, value: Any) -> Any:
        """Return the value of a field with the word of each number that has one, where the field numbers words."""
        if info.enum is None:
            return value
        if isinstance(value, list | tuple):
            return type(value)(self.numbered(info, item) for item in value)
        if not isinstance(value, int) or isinstance(value, bool):
            return value
        word = next((word for word, number in self.numbers(info.enum).items() if number == value), None)
        return value if word is None else Numbered(value, word)

    @property
    def operator_numbers(self) -> Mapping[str, int]:
        """The numbers of operators in the vendor's header, by their names; empty where it has none."""
        return self.tables.operator_numbers

    @property
    def level_word(self) -> str:
        """What the dialect calls its version axis, e.g. ``feature level``."""
        return self.tables.about["level"]

    def label(self, level: str) -> str:
        """The level in a sentence: ``feature level 4.1``, ``opset 17``, ``opset13``."""
        return level if level.startswith(self.level_word) else f"{self.level_word} {level}"

    @property
    def short_names(self) -> tuple[str, ...]:
        """What may be left out before a fused operator's name."""
        return tuple(self.tables.about.get("short_names", ()))

    @cached_property
    def infers_outputs(self) -> bool:
        return self.tables.about["unstated_outputs"]

    @property
    def ignores_attributes(self) -> bool:
        """Whether builds accept attributes that an operator does not define."""
        return bool(self.tables.about.get("builds_ignore_attributes"))

    def may_omit(self, info: FieldInfo) -> bool:
        """Return whether a descriptor may leave the field out, whether or not it has a default."""
        return info.optional or info.default is not None or (self.infers_outputs and info.kind == "output")

    @cached_property
    def limit_names(self) -> frozenset[str]:
        return frozenset(n for info in self.tables.levels.values() for n in info.get("limits", {}))

    def limits(self, level: str) -> dict[str, int]:
        """Return the named limits at `level` (``max_dimensions``)."""
        return dict(self.tables.levels[level].get("limits", {}))

    @property
    def domains(self) -> list[str]:
        """The domains with versions of their own."""
        return list(self.tables.about.get("domains", ()))

    @property
    def foreign(self) -> dict[str, str]:
        """The domains among them that another project defines, each with its name."""
        return dict(self.tables.about.get("foreign", {}))

    @property
    def stands_for(self) -> dict[str, str]:
        """The tables that only replace an operator of another domain, each with that operator."""
        return {table: name for name, table in self.tables.about.get("stand_ins", {}).items()}

    def executed_as(self, name: str, level: str) -> tuple[str, str]:
        """Return the operator, and its level, by which a model's node is executed: itself, or one in its place."""
        other = self.tables.about.get("stand_ins", {}).get(name)
        if other is None or (name in self.tables.operators and level in self.operator(name).levels):
            return name, level
        return other, self.operator(other).dialect.levels[-1]

    def for_domain(self, domain: str) -> Dialect:
        """Return the dialect with the versions of `domain` as its levels; itself for a domain without its own."""
        if domain not in self.domains:
            return self
        if domain not in self._domains:
            newest = max(int(version) for version in map(partial(self.domain_level, domain), self.levels) if version)
            raw = {
                **self.tables.entries,
                "dialect": {**self.tables.about, "level": f"{domain} version", "domains": []},
                "levels": {"levels": {str(version): {} for version in range(1, newest + 1)}},
                "environments": {},
            }
            self._domains[domain] = Dialect(self.name, raw, domain, self)
        return self._domains[domain]

    def domain_level(self, domain: str, level: str) -> str | None:
        """Return the version of `domain` that belongs to `level`, None where none does; `level` for any other one."""
        self.check_level(level)
        if domain not in self.domains:
            return level
        version: str | None = self.tables.levels[level].get("domains", {}).get(domain)
        return version

    def knows_type(self, name: str) -> bool:
        """Return whether `name` is an element type, or one made of them: ``seq(tensor(float))``."""
        if name in self.types:
            return True
        tree = parse_type(name) if "(" in name else None
        return tree is not None and str(tree) == name and self._knows_parts(tree)

    def _knows_parts(self, tree: TypeName) -> bool:
        """Return whether a type is made of others as the dialect has it, whatever they are made of."""
        count = self.tables.containers.get(tree.word)
        return len(tree.parts) == count and all(
            part.element in self.type_elements or self._knows_parts(part) for part in tree.parts
        )

    @cached_property
    def type_elements(self) -> Mapping[str, str]:
        """The element types by the words that names of types have for them: FLOAT by ``float``."""
        named = ((name, parse_type(str(info.get("tensor", name)))) for name, info in self.types.items())
        return {tree.element: name for name, tree in named if tree is not None}

    def neighbours(self, level: str) -> tuple[str, ...]:
        """Return the levels whose implementations represent `level`: itself, or where it has none those next to it."""
        texts = [name for name, info in self.tables.levels.items() if info.get("asked", True)]
        here = self.position[level]
        before = [name for name in texts if self.position[name] <= here]
        after = [name for name in texts if self.position[name] >= here]
        return tuple(dict.fromkeys([*before[-1:], *after[:1]]))

    @cached_property
    def tensor_rules(self) -> tuple[RuleForm, ...]:
        rules = self.tables.tensor.rules
        return make_forms({n: rule_forms(entry) for n, entry in rules.items()}, self.tensor_scope, kind="tensor")

    @cached_property
    def rules_of_tensors(self) -> dict[Any, TensorRules]:
        """The rules of tensors that were asked for, by their keys."""
        return {}

    def tensor_rules_at(self, level: str, side: SingleBasis, by: str | None = None) -> tuple[RuleForm, ...]:
        """Return the shared tensor rules that hold at `level`: by the page, as all builds or as `by` enforces them."""
        overlays = [o for o in self.tensor_overlays if o.holds(level, by)] if side == "observed" else []
        return self.rules_at(level, self.tensor_rules, overlays)

    def rules_at(self, level: str, forms: Sequence[RuleForm], overlays: Sequence[Overlay]) -> tuple[RuleForm, ...]:
        """Return those of `forms` that hold at `level`, with what `overlays` waive and add, one after the other."""
        matching_forms = list(forms)
        for overlay in overlays:
            matching_forms = overlay.applied(matching_forms)
        return tuple(form for form in matching_forms if self.holds(level, form.since, form.until))

    @cached_property
    def tensor_overlays(self) -> list[Overlay]:
        """What builds do instead of the page, for tensors of any operator, in the order of the file."""
        entries = self.tables.tensor.observed
        scope = self.tensor_scope
        return [Overlay.make(entry, self.level_set(entry["builds"]), scope, kind="tensor") for entry in entries]

    @property
    def tensor_scope(self) -> Scope:
        """The names that the rules of every tensor may use."""
        return Scope({"tensor": TENSOR}, numbers=self.limit_names, words=self.words, vocabulary=self.vocabulary)

    @property
    def implementations_with_targets(self) -> dict[str, ImplementationEntry]:
        """The implementations that targets can ask for on their own, by name."""
        known = self.tables.about.get("implementations", {})
        return {name: entry for name, entry in known.items() if entry.get("target")}

    def by_release(self, name: str) -> str | None:
        """Return whose observations hold for a release by its name, several joined by ``+``; None where none do."""
        known = self.tables.about.get("implementations", {}).items()
        texts = [by for by, entry in known if not entry.get("target") and name in entry.get("releases", ())]
        return "+".join(texts) or None

    def release_of(self, version: str) -> EnvironmentEntry | None:
        """Return the release that the version of a package is of (``2024.0.0-14509``: 2024.0), None where unknown."""
        entries = [entry for entry in self.environments if f"{version}.".startswith(f"{entry['name']}.")]
        return max(entries, key=lambda entry: len(str(entry["name"])), default=None)

    @property
    def environments(self) -> list[EnvironmentEntry]:
        return self.tables.environments

    def level_named(self, result: object) -> str | None:
        """Return the level that a text or a number names, None where none does.

        As it is written (``4.1``, ``opset13``), by its number alone (``13``, 17, 5.0), as the vendor's header spells it
        (``DML_FEATURE_LEVEL_4_1``) or by the number there (``0x4100``).
        """
        if isinstance(result, bool) or not isinstance(result, str | int | float):
            return None
        if isinstance(result, int) and abs(result) > MAX_LEVEL:  # too long to print, perhaps
            return None
        text = str(result)
        spelt = {text}
        if not isinstance(result, str):  # 5 and 5.0 are one number
            spelt |= {f"{text}.0", text.removesuffix(".0")}
        word = str(self.tables.about.get("level_name", ""))
        for level in self.levels:
            number = str(self.tables.levels[level].get("target_version", level))
            names = {level, level.removeprefix("opset"), f"opset{level}" if level.isdecimal() else level, number}
            if spelt & names or (word and text.upper() == word + level.replace(".", "_")):
                return level
        return None

    def check_level(self, level: str) -> None:
        """Raise InputError when `level` is not one of this dialect's."""
        if level not in self.position:
            from specgate.near_names import near_versions  # few names are wrong

            near = near_versions(level, self.levels)
            hint = f"; did you mean {' or '.join(near)}?" if near else ""
            known = ", ".join(self.levels)
            raise InputError(f"unknown {self.level_word} {level!r:.40} of {self.name}; expected one of {known}{hint}")

    def holds(self, level: str, since: str | None, until: str | None) -> bool:
        """Return whether `level` lies from `since` on and before `until`."""
        here = self.position[level]
        return (since is None or here >= self.position[since]) and (until is None or here < self.position[until])

    def level_set(self, text: str | Sequence[str]) -> LevelSet:
        """Read ``"3.0..6.4"``, ``"4.1.."``-style text or a list of levels as a set."""
        if not isinstance(text, str):
            return LevelSet.of(self.levels, text)
        first, dots, last = text.partition("..")
        for level in filter(None, (first, last)):
            self.check_level(level)
        if not (first or last):
            raise InputError(f"expected levels such as 3.0, 3.0..6.4 or 3.0.., found {text!r:.40}")
        start = self.position[first] if first else 0
        end = self.position[last] if last else (len(self.levels) - 1 if dots else start)
        if end < start:
            raise InputError(f"expected levels in their order, found {text!r:.40}")
        return LevelSet(self.levels, frozenset(range(start, end + 1)))

    def operator(self, name: str) -> OperatorSpec:
        """Return an operator's spec; raise NoTable when there is none."""
        if name not in self._operators:
            if name not in self.tables.operators:
                from specgate.near_names import near_operators  # few names are wrong

                near = near_operators(name, [one for one in self.tables.operators if one not in self.stands_for])
                raise NoTable(
                    f"{self.name} has no table for {name!r:.80}" + (f"; did you mean {near[0]}?" if near else "")
                )
            home = self if self.domain else self.for_domain(name.rpartition(".")[0])
            self._operators[name] = OperatorSpec(home, self.tables.operators[name])
        return self._operators[name]

    @property
    def operators(self) -> list[str]:
        """The names of all operators that have a table, sorted."""
        return sorted(self.tables.operators)
