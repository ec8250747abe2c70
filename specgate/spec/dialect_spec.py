"""Run-time model of a dialect: levels, types, tensor rules and operators.

It does not load pydantic.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from specgate.caching import cached_property
from specgate.descriptors.core import NumberedWord
from specgate.dialects import is_dialect, package
from specgate.errors import InputError, NoTable
from specgate.levels import LevelSet
from specgate.loading import lazy
from specgate.rules.language import PLAIN, TENSOR, Scope, Vocabulary, register_types
from specgate.spec.forms import Overlay, RuleForm, SingleBasis, make_forms, rule_forms
from specgate.spec.operator_spec import OperatorSpec
from specgate.spec.type_names import parse_type
from specgate.spec.written import DialectTables

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specgate import near_names
    from specgate.rules.tensor_rules import TensorRules
    from specgate.spec import digest as spec_digest
    from specgate.spec.fields import FieldInfo
    from specgate.spec.type_names import TypeName
    from specgate.spec.written import EnvironmentEntry, ImplementationEntry, TypeEntry
else:
    near_names = lazy("specgate.near_names")  # few names are wrong
    spec_digest = lazy("specgate.spec.digest")  # tables extended by extra folders

MAX_LEVEL: Final = 10**9
#: The enum of element types, numbered by `types.yaml`.
ELEMENT_TYPE: Final = "element-type"


class Dialect:
    """The levels, types and operators of one dialect.

    domain: "", or the domain whose versions are the levels; parent: its dialect in that case.
    """

    def __init__(self, name: str, entries: dict[str, Any], domain: str = "", parent: Dialect | None = None) -> None:
        """Build the dialect from the content of its files; see `tables`."""
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
        """The hash of the tables' content."""
        if self.tables.digest is not None:
            return self.tables.digest
        return spec_digest.digest(self.tables.entries)

    @cached_property
    def types(self) -> dict[str, TypeEntry]:
        return self.tables.types

    @cached_property
    def type_numbers(self) -> dict[str, int]:
        """Numbers of element types by name, empty for a dialect without them."""
        return {name: n for name, info in self.types.items() if (n := info.get("value")) is not None}

    @cached_property
    def bits(self) -> dict[str, int | None]:
        return {name: info.get("bits") for name, info in self.types.items()}

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(self.types)

    def numbers(self, enum: str) -> dict[str, int]:
        """Return the numbers of an enum's words, such as ``PADDING_MODE``.

        Empty where the dialect does not number them. Element types are the enum ``element-type``.
        """
        if enum == ELEMENT_TYPE:
            return self.type_numbers
        numbers_by_name: dict[str, int] = self.tables.enums.get(enum, {})
        return numbers_by_name

    def words_of_numbers(self, info: FieldInfo, value: Any) -> Any:
        """Return a field's value with numbers replaced by their words.

        Numbers without a word, and fields without an enum, are unchanged.
        """
        if info.enum is None:
            return value
        if isinstance(value, list | tuple):
            return type(value)(self.words_of_numbers(info, item) for item in value)
        if not isinstance(value, int) or isinstance(value, bool):
            return value
        word = next((word for word, number in self.numbers(info.enum).items() if number == value), None)
        return value if word is None else NumberedWord(value, word)

    @property
    def operator_numbers(self) -> Mapping[str, int]:
        """Numbers of operators in the vendor's header by name, empty without one."""
        return self.tables.operator_numbers

    @property
    def level_word(self) -> str:
        """The dialect's word for a level, such as ``feature level``."""
        return self.tables.about["level"]

    def label(self, level: str) -> str:
        """Return the level for a sentence: ``feature level 4.1``, ``opset 17``."""
        return level if level.startswith(self.level_word) else f"{self.level_word} {level}"

    @property
    def short_names(self) -> tuple[str, ...]:
        """Prefixes that the name of a fused operator may omit."""
        return tuple(self.tables.about.get("short_names", ()))

    @cached_property
    def infers_outputs(self) -> bool:
        return self.tables.about["unstated_outputs"]

    @property
    def ignores_attributes(self) -> bool:
        """True if builds accept attributes that an operator does not define."""
        return bool(self.tables.about.get("builds_ignore_attributes"))

    def may_omit(self, info: FieldInfo) -> bool:
        """Return whether a descriptor may omit the field, even without a default."""
        return info.optional or info.default is not None or (self.infers_outputs and info.kind == "output")

    @cached_property
    def limit_names(self) -> frozenset[str]:
        return frozenset(n for info in self.tables.levels.values() for n in info.get("limits", {}))

    def limits(self, level: str) -> dict[str, int]:
        """Return the named limits at `level` (``max_dimensions``)."""
        return dict(self.tables.levels[level].get("limits", {}))

    @property
    def domains(self) -> list[str]:
        """The domains with separate versions."""
        return list(self.tables.about.get("domains", ()))

    @property
    def stands_for(self) -> dict[str, str]:
        """Operators of other domains by the table that implements each."""
        return {table: name for name, table in self.tables.about.get("stand_ins", {}).items()}

    def for_domain(self, domain: str) -> Dialect:
        """Return the dialect with the versions of `domain` as its levels.

        Domains without separate versions return this dialect.
        """
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
        """Return the version of `domain` at `level`, None without one.

        Domains without separate versions return `level`.
        """
        self.check_level(level)
        if domain not in self.domains:
            return level
        version: str | None = self.tables.levels[level].get("domains", {}).get(domain)
        return version

    def knows_type(self, name: str) -> bool:
        """Return whether `name` is a type, such as ``seq(tensor(float))``."""
        if name in self.types:
            return True
        tree = parse_type(name) if "(" in name else None
        return tree is not None and str(tree) == name and self._has_known_parts(tree)

    def _has_known_parts(self, tree: TypeName) -> bool:
        """Return whether a composed type has known parts in the right number."""
        count = self.tables.containers.get(tree.word)
        return len(tree.parts) == count and all(
            part.element in self.type_elements or self._has_known_parts(part) for part in tree.parts
        )

    @cached_property
    def type_elements(self) -> Mapping[str, str]:
        """Element types by their words in type names: FLOAT by ``float``."""
        parsed_types = ((name, parse_type(str(info.get("tensor", name)))) for name, info in self.types.items())
        return {tree.element: name for name, tree in parsed_types if tree is not None}

    def neighbours(self, level: str) -> tuple[str, ...]:
        """Return the levels whose builds represent `level`.

        It is the level itself, or its neighbors where it has no builds.
        """
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
        """Cached tensor rules by key."""
        return {}

    def tensor_rules_at(self, level: str, side: SingleBasis, by: str | None = None) -> tuple[RuleForm, ...]:
        """Return the tensor rules that apply at `level`.

        They are those of the page, of all builds, or of the implementation `by`.
        """
        overlays = [o for o in self.tensor_overlays if o.holds(level, by)] if side == "observed" else []
        return self.rules_at(level, self.tensor_rules, overlays)

    def rules_at(self, level: str, forms: Sequence[RuleForm], overlays: Sequence[Overlay]) -> tuple[RuleForm, ...]:
        """Return the forms that apply at `level`, modified by `overlays` in order."""
        matching_forms = list(forms)
        for overlay in overlays:
            matching_forms = overlay.apply_overlay(matching_forms)
        return tuple(form for form in matching_forms if self.holds(level, form.since, form.until))

    @cached_property
    def tensor_overlays(self) -> list[Overlay]:
        """Observed differences for tensors of any operator, in file order."""
        entries = self.tables.tensor.observed
        scope = self.tensor_scope
        return [Overlay.make(entry, self.level_set(entry["builds"]), scope, kind="tensor") for entry in entries]

    @property
    def tensor_scope(self) -> Scope:
        """The names that tensor rules may use."""
        return Scope({"tensor": TENSOR}, numbers=self.limit_names, words=self.words, vocabulary=self.vocabulary)

    @property
    def implementations_with_targets(self) -> dict[str, ImplementationEntry]:
        """The implementations that targets can select, by name."""
        implementations = self.tables.about.get("implementations", {})
        return {name: entry for name, entry in implementations.items() if entry.get("target")}

    def by_release(self, name: str) -> str | None:
        """Return whose observations apply to a release, joined by ``+``.

        None without observations.
        """
        implementations = self.tables.about.get("implementations", {}).items()
        texts = [
            impl for impl, entry in implementations if not entry.get("target") and name in entry.get("releases", ())
        ]
        return "+".join(texts) or None

    def release_of(self, version: str) -> EnvironmentEntry | None:
        """Return the release of a package version, None where unknown.

        Example: ``2024.0.0-14509`` belongs to 2024.0.
        """
        entries = [entry for entry in self.environments if f"{version}.".startswith(f"{entry['name']}.")]
        return max(entries, key=lambda entry: len(str(entry["name"])), default=None)

    @property
    def environments(self) -> list[EnvironmentEntry]:
        return self.tables.environments

    def level_named(self, result: object) -> str | None:
        """Return the level that a text or a number names, else None.

        Accepts the level as written (``4.1``, ``opset13``), its number alone (``13``, 17, 5.0), the header's spelling
        (``DML_FEATURE_LEVEL_4_1``) and the header's number (``0x4100``).
        """
        if isinstance(result, bool) or not isinstance(result, str | int | float):
            return None
        if isinstance(result, int) and abs(result) > MAX_LEVEL:  # may be too long to print
            return None
        text = str(result)
        spellings = {text}
        if not isinstance(result, str):  # 5 and 5.0 are the same number
            spellings |= {f"{text}.0", text.removesuffix(".0")}
        word = str(self.tables.about.get("level_name", ""))
        for level in self.levels:
            number = str(self.tables.levels[level].get("target_version", level))
            names = {level, level.removeprefix("opset"), f"opset{level}" if level.isdecimal() else level, number}
            if spellings & names or (word and text.upper() == word + level.replace(".", "_")):
                return level
        return None

    def check_level(self, level: str) -> None:
        """Raise InputError when `level` is not a level of this dialect."""
        if level not in self.position:
            similar = near_names.near_versions(level, self.levels)
            hint = f"; did you mean {' or '.join(similar)}?" if similar else ""
            names = ", ".join(self.levels)
            raise InputError(f"unknown {self.level_word} {level!r:.40} of {self.name}; expected one of {names}{hint}")

    def holds(self, level: str, since: str | None, until_level: str | None) -> bool:
        """Return whether `level` is at or after `since` and before `until_level`."""
        here = self.position[level]
        return (since is None or here >= self.position[since]) and (
            until_level is None or here < self.position[until_level]
        )

    def level_set(self, text: str | Sequence[str]) -> LevelSet:
        """Parse ``"3.0..6.4"``, ``"4.1.."`` or a list of levels as a set."""
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
                similar = near_names.near_operators(
                    name, [known_name for known_name in self.tables.operators if known_name not in self.stands_for]
                )
                raise NoTable(
                    f"{self.name} has no table for {name!r:.80}" + (f"; did you mean {similar[0]}?" if similar else "")
                )
            home = self if self.domain else self.for_domain(name.rpartition(".")[0])
            self._operators[name] = OperatorSpec(home, self.tables.operators[name])
        return self._operators[name]

    @property
    def operators(self) -> list[str]:
        """Return the sorted names of all operators that have a table."""
        return sorted(self.tables.operators)
