"""What one failed cell or rule is, and how the values in it are kept."""

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

__all__ = ["Failure", "Failures", "found", "plain"]

#: Integers from here on are described by their length: they cannot all be printed, nor written as JSON.
PRINTABLE: Final = 10**40


@slotted(frozen=True)
class Failure:
    """One cell or rule that does not hold (or, with `unknown`, cannot be decided) at one level.

    rule: the id's last part (``axis-range``, ``IndicesTensor.type``). aspect: type, rank, value, … or rule. formula: of
    a rule, its expression. remedy: what finds a change after which it does not fail.
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
        """What fails, in words: `text`, or what `write` makes of it, which only failures that are shown are worth."""
        return self.text if self.write is None else self.write()

    @property
    def key(self) -> tuple[str, str, str]:
        """What makes two failures at different levels the same finding."""
        return (self.scope, self.rule, self.where)


class Failures(Protocol):
    """Gives what fails for a descriptor by a row; see `row_failures`."""

    def __call__(
        self, descriptor: Descriptor, resolved: Resolved, facts: Facts, *, bare: bool = False
    ) -> list[Failure]: ...


def found(value: Any) -> Any:
    """What a descriptor holds where something else belongs: as it is where that is short, else described."""
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
