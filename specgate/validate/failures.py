"""One failed cell or rule, and the values that it reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

from specgate.descriptors.core import Descriptor, Numbered, is_record, shown
from specgate.rules.evaluate import UNKNOWN
from specgate.slotted import field, slotted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from specgate.spec.forms import Resolved
    from specgate.validate.facts import Facts
    from specgate.validate.remedy import Remedy

__all__ = ["Failure", "Failures", "bounded", "plain"]

#: Larger integers are described by their length: they can be too long to print or to write as JSON.
PRINTABLE: Final = 10**40


@slotted(frozen=True)
class Failure:
    """A cell or rule that fails, or with `unknown` is undecided, at one level.

    rule: the last part of the id (``axis-range``, ``IndicesTensor.type``). aspect: type, rank, value, … or rule.
    formula: the expression of a rule. remedy: searches for a fix.
    """

    rule: str
    where: str
    text: str
    values: Mapping[str, Any] = field(default_factory=dict)
    fix: str | None = None
    unknown: bool = False
    aspect: str = "rule"
    scope: str = "operator"
    structural: bool = False
    allowed: tuple[str, ...] = ()
    formula: str | None = None
    remedy: Remedy | None = field(default=None, compare=False, repr=False)
    write: Callable[[], str] | None = field(default=None, compare=False, repr=False)

    @property
    def message(self) -> str:
        """The message: `text`, or the result of `write` when it is first read."""
        return self.text if self.write is None else self.write()

    @property
    def key(self) -> tuple[str, str, str]:
        """The identity under which failures at different levels are one finding."""
        return (self.scope, self.rule, self.where)


class Failures(Protocol):
    """Type of functions that list failures by a row; see `row_failures`."""

    def __call__(
        self, descriptor: Descriptor, resolved: Resolved, facts: Facts, *, bare: bool = False
    ) -> list[Failure]: ...


def bounded(value: Any) -> Any:
    """Return a value for a message, replaced by a description if it is long."""
    if value is None or isinstance(value, float) or (isinstance(value, int) and abs(value) < PRINTABLE):
        return value
    return value if isinstance(value, str) and len(value) <= 200 else shown(value, 200)


def plain(value: Any) -> Any:
    if value is UNKNOWN:
        return None
    if isinstance(value, str):
        return str(value) if len(value) <= 200 else shown(value)
    if isinstance(value, int) and abs(value) >= PRINTABLE:
        return shown(value)
    if isinstance(value, Numbered):
        return int(value)
    if is_record(value):
        return {name: plain(part) for name, part in value._asdict().items()}
    if isinstance(value, Descriptor):
        return shown(value, 200)
    return [plain(v) for v in value] if isinstance(value, tuple | list | range) else value
