"""A model file with changes that are not written yet: it is read, shown as a diff and copied with them."""

from __future__ import annotations

import os
from contextlib import contextmanager
from itertools import groupby
from typing import IO, TYPE_CHECKING, BinaryIO, Final, cast

from specgate.dialects.onnx.file.edit import Cut, Spliced, cuts
from specgate.dialects.onnx.file.model import opened, read_open
from specgate.dialects.onnx.file.varints import WireError
from specgate.errors import InputError
from specgate.files import State, state_of, unwritable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from specgate.linting.nodes import Graph
    from specgate.linting.settings import LintSettings
    from specgate.verdict import Edit

__all__ = ["EditedModel"]

_BLOCK: Final = 1 << 20


class EditedModel:
    """See `specgate.linting.edited.Edited`. Changes may follow changes: each round is one of what came of those before.

    Raises InputError where the file does not have what the edits are about, and later where it is another by then.
    """

    def __init__(self, name: str, edits: Iterable[Edit], before: EditedModel | None = None) -> None:
        self.name = name
        self.rounds: list[list[Cut]] = [] if before is None else list(before.rounds)
        self.state: State | None = None if before is None else before.state
        with self._opened() as (file, size):
            try:
                self.rounds.append(cuts(file, size, edits))
            except WireError as error:
                raise InputError(error.message, file=name, place=f"byte {error.offset}") from None

    def edited(self, edits: Iterable[Edit]) -> EditedModel:
        """Return one with further changes."""
        return EditedModel(self.name, edits, self)

    @contextmanager
    def _opened(self) -> Iterator[tuple[BinaryIO, int]]:
        with opened(self.name) as (file, whole):
            status = os.fstat(file.fileno())
            state = state_of(status)
            if self.state not in {None, state}:
                raise InputError("the file has changed meanwhile", file=self.name)
            self.state = state
            held, size = file, whole
            for made in self.rounds:
                spliced = Spliced(held, size, made)
                held, size = cast("BinaryIO", spliced), spliced.size
            yield held, size

    def graph(self, settings: LintSettings) -> Graph:
        """Read the model as it will be."""
        from specgate.dialects.onnx.lint.graph import onnx_units

        with self._opened() as (file, size):
            model = read_open(file, size, self.name)
        return onnx_units(model, settings)

    def copy_to(self, out: IO[bytes]) -> None:
        """Write the file as it will be."""
        with self._opened() as (file, size):
            copied = 0
            while block := file.read(_BLOCK):
                copied += len(block)
                try:
                    out.write(block)
                except OSError as error:  # of the file that is written: `_opened` would say that it cannot be read
                    raise unwritable(self.name, error) from None
            if copied != size:
                raise InputError("the file has changed meanwhile", file=self.name)

    def diff(self) -> list[str]:
        """Return what changes: by the message that it is in, as protobuf's text format has it."""
        lines = [f"--- {self.name}", f"+++ {self.name}"]
        for made in self.rounds:
            for place, within in groupby((cut for cut in made if cut.before or cut.after), lambda cut: cut.place):
                lines.append(f"@@ {place or 'model'} @@")
                for cut in within:
                    lines += [f"{sign}{text}" for sign, text in (("-", cut.before), ("+", cut.after)) if text]
        return lines
