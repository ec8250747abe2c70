"""What a campaign against a runtime asks."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from specgate.files import write_bytes

if TYPE_CHECKING:
    from pathlib import Path

    from specgate.placement.conform.cases import Case

__all__ = ["Plan"]

_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class Plan:
    """What to ask. releases: of the package, with ``@5.0`` behind them for another level of the library below.

    operators: none for all. levels: of the library, each under each release; none: the release's own. cases: models of
    one node for each version of an operator. graphs: random ones. models: a folder of files. seconds: the most to
    spend on asking. case: the only one to ask. keep: a folder for what is asked.
    """

    package: str
    releases: tuple[str, ...]
    operators: tuple[str, ...] = ()
    levels: tuple[str, ...] = ()
    cases: int = 20
    graphs: int = 0
    models: Path | None = None
    seed: int = 0
    seconds: float | None = None
    case: str | None = None
    keep: Path | None = None

    @property
    def targets(self) -> tuple[str, ...]:
        """The targets, as users write them."""
        words = [f"{r}@{level}" for r in self.releases for level in self.levels] if self.levels else self.releases
        return tuple(f"{self.package}:{word}" for word in words)

    def command(self, keep: str = "") -> str:
        """Return the command line that runs it again; keep: it also writes what it asks to this folder."""
        words = ["specgate", "conform", self.package, "--release", ",".join(self.releases)]
        words += ["--level", ",".join(self.levels)] if self.levels else []
        words += [word for name in self.operators for word in ("--operator", name)]
        words += ["--cases", str(self.cases), "--graphs", str(self.graphs)]
        words += ["--models", shlex.quote(str(self.models))] if self.models is not None else []
        words += ["--seed", str(self.seed)]
        words += ["--case", shlex.quote(self.case)] if self.case else []
        return " ".join([*words, *(["--keep", keep] if keep else [])])

    def kept(self, case: Case) -> None:
        """Write a model to the folder for what is asked."""
        if self.keep is not None:
            self.keep.mkdir(parents=True, exist_ok=True)
            write_bytes(self.keep / f"{_UNSAFE.sub('-', case.id.removesuffix('.onnx'))}.onnx", case.model)
