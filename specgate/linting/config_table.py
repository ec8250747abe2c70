"""A table of the configuration under reading: it gives its values by type and notes what is wrong with them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from specgate.errors import InputError
from specgate.linting.files import compile_pattern, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["PROBLEMS_LIMIT", "Table", "described"]

PROBLEMS_LIMIT = 50


def described(value: object) -> str:
    """Describe a value of a TOML or JSON file for a message: short strings in full, others by their kind."""
    if isinstance(value, str):
        return quoted(value)
    kinds: tuple[tuple[type, str], ...] = (
        (bool, "a boolean"),
        (int, "an integer"),
        (float, "a float"),
        (dict, "a table"),
        (list, "an array"),
        (datetime, "a date with a time"),
        (date, "a date"),
    )
    return next((word for kind, word in kinds if isinstance(value, kind)), "nothing" if value is None else "a time")


@dataclass(slots=True)
class Table:
    """A TOML table under reading: hands out its values by type and notes what is wrong with them."""

    values: dict[str, Any]
    place: str
    problems: list[str]

    def note(self, key: str, message: str) -> None:
        self.problems.append(f"{self.place}.{key}: {message}" if self.place else f"{key}: {message}")

    def expect_only(self, *known: str) -> None:
        for key in self.values:
            if key not in known:
                self.note(quoted(key) if len(key) > 80 or not key.isidentifier() else key, self._hint(key, known))

    def _hint(self, key: str, known: tuple[str, ...]) -> str:
        from difflib import get_close_matches

        # Comparing is slow, and beyond the limit the answer is not shown.
        near = get_close_matches(key[:80], known, 1) if len(self.problems) < PROBLEMS_LIMIT else []
        return f"unknown key, did you mean {near[0]}?" if near else f"unknown key, expected one of {', '.join(known)}"

    def text(self, key: str, *, required: bool = False) -> str | None:
        value = self.values.get(key)
        if (value is None and not required) or (isinstance(value, str) and value.strip()):
            return value
        self.note(key, f"expected a non-blank string, found {described(value)}")
        return None

    def texts(self, key: str) -> list[str] | None:
        value = self.values.get(key)
        if value is None:
            return None
        if not isinstance(value, list) or not value:
            kind = "an empty array" if value == [] else described(value)
            self.note(key, f"expected an array of non-blank strings, found {kind}")
            return None
        for index, item in enumerate(value):
            if not isinstance(item, str) or not item.strip():
                self.note(f"{key}[{index}]", f"expected a non-blank string, found {described(item)}")
        return [item for item in value if isinstance(item, str)]

    def pattern(self, key: str, *, required: bool = False) -> str | None:
        value = self.text(key, required=required)
        if value is not None:
            try:
                compile_pattern(value)
            except InputError as error:
                self.note(key, error.message)
        return value

    def flag(self, key: str) -> bool | None:
        value = self.values.get(key)
        if value is None or isinstance(value, bool):
            return value
        self.note(key, f"expected true or false, found {described(value)}")
        return None

    def day(self, key: str) -> date | None:
        value = self.values.get(key)
        if value is None or (isinstance(value, date) and not isinstance(value, datetime)):
            return value
        try:
            day = date.fromisoformat(value) if isinstance(value, str) else None
        except ValueError:
            day = None
        if day is None or day.isoformat() != value:  # fromisoformat takes week dates, too
            self.note(key, f"expected a date such as 2027-01-31, found {described(value)}")
        return day

    def word(self, key: str, known: tuple[str, ...]) -> str | None:
        value = self.text(key)
        if value is not None and value not in known:
            self.note(key, f"expected one of {', '.join(known)}, found {quoted(value)}")
        return value

    def tables(self, key: str, *, strings: bool = False) -> Iterator[Table]:
        """Yield the tables of an array; strings may stand beside them where they are read elsewhere."""
        value = self.values.get(key, [])
        if not isinstance(value, list):
            self.note(key, f"expected an array of tables, [[{key}]], found {described(value)}")
            return
        for index, item in enumerate(value):
            if isinstance(item, dict):
                yield Table(item, f"{key}[{index}]", self.problems)
            elif not (strings and isinstance(item, str) and item.strip()):
                wanted = "a table or a non-blank string" if strings else "a table"
                self.note(f"{key}[{index}]", f"expected {wanted}, found {described(item)}")
