"""Run a DxDispatch model with the kernels.

Supports dispatch, print and writeFile commands.
"""

from __future__ import annotations

import os
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.descriptors.core import TensorDesc
from specgate.descriptors.text import place_of, plain_name
from specgate.dialects.directml.dxdispatch.buffers import (
    Buffer,
    Plan,
    format_buffer,
    gather_tensor,
    needed_bytes,
    plan_buffer,
    scatter_tensor,
)
from specgate.dialects.directml.dxdispatch.read import bind_points
from specgate.errors import InputError, NoKernel, NoTable
from specgate.execution import memory
from specgate.execution.engine import execute_at, require_executable
from specgate.execution.observed import Outputs, count_notes
from specgate.files import writing
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from specgate.descriptors.core import Descriptor
    from specgate.dialects.directml.dxdispatch.model import DxBinding, DxCommand, DxModel
    from specgate.verdict import Basis

#: DML_MINIMUM_BUFFER_TENSOR_ALIGNMENT (windows-ai-docs, docs/directml/directml-constants.md, at 4e936fa6).
ALIGNMENT: Final = 16
_BINARY: Final = (".dat", ".bin")


def run_dx_model(
    model: DxModel,
    level: str,
    *,
    out: Callable[[str], None],
    base_dir: str | os.PathLike[str] | None = None,
    write_files: bool = False,
    read_outside: bool = False,
    budget: memory.Budget | None = None,
    basis: Basis = "documented",
) -> Outputs:
    """Run a model's commands; return the final buffers by resource name.

    Buffers are returned as 1-D arrays.
    level: the feature level. out: receives the output of each print command in DxDispatch's format, and notes on
    undefined elements. base_dir: the folder of input files (in addition to the current folder) and of output files; by
    default, the model's folder. read_outside: allow a sourcePath outside base_dir. write_files: allow writeFile
    commands; without it, models that have one are rejected. budget: limits memory, work and time. basis:
    documented or observed values.
    Raises InputError, NoTable and NoKernel, before the first command if possible.
    """
    dialect("directml").check_level(level)
    folder = os.fspath(base_dir) if base_dir is not None else str(Path(model.file).parent) if model.file else "."
    _check_commands(model, level, write_files)
    buffers: dict[str, Buffer] = {}
    budget = memory.budget_of() if budget is None else budget
    plans: dict[str, Plan] = {}
    for name, resource in model.resources.items():
        with _locate_errors(model, ""):
            plans[name] = plan_buffer(
                resource, folder, place_of("resources", name), budget.left, read_outside=read_outside
            )
        budget = budget.less(plans[name].whole)
    for name in list(plans):  # allocate after all sizes are known to fit
        buffers[name] = plans.pop(name).make()
    run = _Run(model, level, out, folder, budget, buffers, basis)
    for i, command in enumerate(model.commands):
        with _locate_errors(model, f"commands[{i}]"):
            run.step(command)
    outputs = {name: buffer.values(buffer.declared) for name, buffer in buffers.items()}
    return Outputs(outputs, notes=count_notes(run.notes))


def _check_commands(model: DxModel, level: str, write_files: bool) -> None:
    for i, command in enumerate(model.commands):
        place = f"commands[{i}]"
        if command.kind == "writeFile" and not write_files:
            raise InputError(
                f"writing {command.target_path!r:.80} requires --write-files, so nothing is run",
                file=model.file,
                place=place,
            )
        if command.kind != "dispatch":
            continue
        dispatchable = model.dispatchables[command.dispatchable]
        if dispatchable.kind != "directml":
            raise NoKernel(f"dispatchable {command.dispatchable!r:.60}: type {dispatchable.kind} is not supported")
        if dispatchable.descriptor is None:
            raise NoTable(f"dispatchable {command.dispatchable!r:.60}: {dispatchable.no_table}")
        with _locate_errors(model, place):
            require_executable(dispatchable.descriptor, level)
            _require_bound(dispatchable.descriptor, {**dispatchable.bindings, **command.bindings})


def _require_bound(descriptor: Descriptor, bindings: Mapping[str, list[DxBinding]]) -> None:
    """Reject a dispatch with missing or unknown bindings.

    Tensors owned by DirectML are checked later.
    """
    owned_flag = dialect("directml").tables.flags["OWNED_BY_DML"]
    points = {**bind_points(descriptor, "input"), **bind_points(descriptor, "output")}
    _refuse_unknown(bindings, points, descriptor)
    for name, tensors in points.items():
        if name in bindings or not all((tensor.flags or 0) & owned_flag for tensor in tensors):
            _require_count(name, tensors, _get_bindings(bindings, name))


def _get_bindings(bindings: Mapping[str, list[DxBinding]], name: str) -> list[DxBinding]:
    if name not in bindings:
        raise InputError("is required, but not bound to a resource", place=name)
    return bindings[name]


def _require_count(name: str, tensors: list[TensorDesc], bound: list[DxBinding]) -> None:
    if len(bound) != len(tensors):
        raise InputError(f"accepts {len(tensors)} resources, but {len(bound)} are bound", place=name)


@contextmanager
def _locate_errors(model: DxModel, place: str) -> Iterator[None]:
    """Add the model's file and the command's place to errors."""
    try:
        yield
    except InputError as error:
        full_place = " ".join(part for part in (place, error.place) if part)
        raise InputError(error.message, file=error.file or model.file, place=full_place or None) from None
    except NoKernel as error:
        raise NoKernel(f"{place}: {error}") from None


@dataclass(slots=True)
class _Run:
    """The state of one run; `owned` has the arrays of OWNED_BY_DML tensors."""

    model: DxModel
    level: str
    out: Callable[[str], None]
    folder: str
    budget: memory.Budget
    buffers: dict[str, Buffer]
    basis: Basis = "documented"
    owned: dict[str, dict[str, Any]] = field(default_factory=dict)
    notes: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        used_names = {command.dispatchable for command in self.model.commands if command.kind == "dispatch"}
        for name, dispatchable in self.model.dispatchables.items():
            if name in used_names and dispatchable.descriptor is not None:
                with _locate_errors(self.model, place_of("dispatchables", name)):
                    self.owned[name] = self._initialize_operator(dispatchable.descriptor, dispatchable.bindings)

    def _initialize_operator(self, descriptor: Descriptor, bindings: Mapping[str, list[DxBinding]]) -> dict[str, Any]:
        flag = dialect("directml").tables.flags["OWNED_BY_DML"]
        points = bind_points(descriptor, "input")
        _refuse_unknown(bindings, points, descriptor)
        entries = {}
        for name, tensors in points.items():
            if not all((tensor.flags or 0) & flag for tensor in tensors):
                if name in bindings:
                    raise InputError("is bound for initialisation, but lacks the flag OWNED_BY_DML", place=name)
            elif name not in bindings:
                raise InputError("has the flag OWNED_BY_DML, but is not bound for initialisation", place=name)
            else:
                entries[name] = self._gather_input(name, tensors, bindings[name], descriptor)
        return entries

    def step(self, command: DxCommand) -> None:
        if command.kind == "dispatch":
            self._dispatch(command)
        elif command.kind == "print":
            text = format_buffer(self.buffers[command.resource], command.verbose)
            self.out(f"Resource '{plain_name(command.resource)}':{chr(10) if command.verbose else ' '}{text}")
        else:
            self._write_file(command)

    def _dispatch(self, command: DxCommand) -> None:
        descriptor = self.model.dispatchables[command.dispatchable].descriptor
        assert descriptor is not None  # checked in _refuse_early  # noqa: S101
        inputs, outputs = bind_points(descriptor, "input"), bind_points(descriptor, "output")
        _refuse_unknown(command.bindings, {**inputs, **outputs}, descriptor)
        arrays = dict(self.owned[command.dispatchable])
        for name, tensors in inputs.items():
            if name in arrays and name in command.bindings:
                raise InputError("is OWNED_BY_DML since initialization, so it must not be bound again", place=name)
            if name not in arrays:
                arrays[name] = self._gather_input(name, tensors, _get_bindings(command.bindings, name), descriptor)
        targets = {
            name: self._ranges(name, tensors, _get_bindings(command.bindings, name))
            for name, tensors in outputs.items()
        }
        left = self.budget.less(sum(map(memory.count_bytes, (*arrays.values(), *self.owned.values()))))
        results = execute_at(descriptor, arrays, self.level, budget=left, basis=self.basis)
        self.notes.update(results.notes)
        for name, tensors in outputs.items():
            parts = results[name] if isinstance(results[name], list) else [results[name]]
            for part, target, tensor, binding in zip(
                parts, targets[name], tensors, command.bindings[name], strict=True
            ):
                undefined_mask = scatter_tensor(part, target, tensor, name)
                if undefined_mask:
                    note = f"{undefined_mask} elements of {name} are undefined, so their bytes are unchanged"
                    self.out(f"Resource '{plain_name(binding.name)}': {note}")

    def _ranges(self, name: str, tensors: list[TensorDesc], bound: list[DxBinding]) -> list[NDArray[np.uint8]]:
        """Return the bytes of each binding from its offset to the buffer's end.

        Raises InputError if they are too few for the tensor. An elementCount does not shorten them; DxDispatch also
        binds DirectML operators to the rest of the buffer.
        """
        _require_count(name, tensors, bound)
        arrays = []
        for tensor, binding in zip(tensors, bound, strict=True):
            buffer = self.buffers[binding.name]
            element_size = 0 if buffer.type is None else (dialect("directml").bits[buffer.type] or 0) // 8
            offset = binding.element_offset * (binding.element_size or element_size)
            alignment = tensor.alignment or ALIGNMENT
            if offset % alignment:
                raise InputError(
                    f"is bound at byte {offset} of {binding.name!r:.60}, expected a multiple of {alignment}", place=name
                )
            needed_size, available = needed_bytes(tensor, name), max(0, buffer.data.size - offset)
            if available < needed_size:
                raise InputError(
                    f"needs {needed_size} bytes, but {binding.name!r:.60} has {available} from byte {offset} on",
                    place=name,
                )
            arrays.append(buffer.data[offset:])
        return arrays

    def _gather_input(
        self, name: str, tensors: list[TensorDesc], bound: list[DxBinding], descriptor: Descriptor
    ) -> NDArray[Any] | list[NDArray[Any]]:
        """Return an input's logical array, a list for an array of tensors."""
        pairs = zip(self._ranges(name, tensors, bound), tensors, strict=True)
        arrays = [gather_tensor(data, tensor, name, self.budget.left) for data, tensor in pairs]
        return arrays[0] if isinstance(descriptor.fields[name], TensorDesc) else arrays

    def _write_file(self, command: DxCommand) -> None:
        buffer, target = self.buffers[command.resource], command.target_path
        base = Path(self.folder).resolve()
        try:
            path = (base / target).resolve()
            is_in_folder = path.is_relative_to(base) and path != base
        except (OSError, ValueError, RuntimeError):
            is_in_folder = False
        if not is_in_folder:
            raise InputError(f"expected a path inside the model's folder, found {target!r:.80}", place="targetPath")
        if path.suffix.lower() not in {".npy", *_BINARY}:
            raise InputError(
                f"expected a name that ends in .npy, .dat or .bin, found {target!r:.80}", place="targetPath"
            )
        if path.exists() and not path.is_file():
            raise InputError(f"expected a regular file, found {target!r:.80}", place="targetPath")
        values = _reshape_buffer(buffer, command.dimensions)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{target!r:.80} cannot be written: {error.strerror}", place="targetPath") from None
        with writing(path) as file:
            if path.suffix.lower() == ".npy":
                np.save(file, values)
            else:
                file.write(buffer.data[: buffer.declared].data)
        self.out(f"Resource '{plain_name(command.resource)}' written to '{plain_name(target)}'")


def _reshape_buffer(buffer: Buffer, dimensions: tuple[int, ...]) -> NDArray[Any]:
    """Return the elements in the shape `dimensions`, 1-D without them."""
    values = buffer.values(buffer.declared)
    if not dimensions:
        return values
    count = 1
    for size in dimensions:
        count *= size
    if count > values.size:
        raise InputError(f"{count} elements are requested, but there are {values.size}", place="dimensions")
    return values[:count].reshape(dimensions)


def _refuse_unknown(
    bindings: Mapping[str, Any], points: Mapping[str, list[TensorDesc]], descriptor: Descriptor
) -> None:
    for name in bindings:
        if name not in points:
            raise InputError(
                f"{name!r:.60} is not a tensor of this {descriptor.operator}; expected {', '.join(points)}",
                place="bindings",
            )
