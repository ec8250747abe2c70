"""The parts of a DxDispatch model as plain data, and its document.

`read` reads them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from specgate.dialects.directml import reader

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specgate.descriptors.core import Descriptor


@dataclass(slots=True)
class DxResource:
    """A buffer.

    kind: the form of `initial`, which is the file's initialValues unchanged.
    array: numbers of `data_type`; constant: value, valueCount; sequence: valueStart, valueDelta, valueCount; list:
    objects with a type and value each; file: sourcePath; deferred: none until an ONNX model runs.
    data_type: a short name such as FLOAT32, None if the file omits it or has UNKNOWN.
    """

    kind: str
    initial: Any
    data_type: str | None = None
    size_in_bytes: int | None = None
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class DxBinding:
    """A resource bound to a tensor; 0 for omitted members.

    By default, elements have the resource's type and size.
    """

    name: str
    element_offset: int = 0
    element_size: int = 0
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class DxDispatchable:
    """A dispatchable.

    kind: directml, hlsl, onnx, dmlSerializedGraph or DML_GRAPH_DESC. descriptor: of a DirectML operator with a table;
    otherwise None, with the reason in `no_table` and the file's data in `raw`.
    bindings: of the tensors that DirectML owns from the operator's initialization on (OWNED_BY_DML).
    """

    kind: str
    operator: str
    descriptor: Descriptor | None = None
    no_table: str | None = None
    raw: dict[str, Any] = field(default_factory=dict)
    bindings: dict[str, list[DxBinding]] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class DxCommand:
    """A command.

    kind: dispatch (dispatchable, bindings), print (resource, verbose) or writeFile (resource, target_path, dimensions).
    """

    kind: str
    dispatchable: str = ""
    bindings: dict[str, list[DxBinding]] = field(default_factory=dict)
    resource: str = ""
    verbose: bool = False
    target_path: str = ""
    dimensions: tuple[int, ...] = ()
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class DxModel:
    """A model file; `file` is its path, None for a document without one."""

    resources: dict[str, DxResource]
    dispatchables: dict[str, DxDispatchable]
    commands: list[DxCommand]
    file: str | None = None
    extra: dict[str, Any] = field(default_factory=dict)


def write_dx_model(model: DxModel) -> dict[str, Any]:
    """Return the document of a model.

    It reads back as an equal model, has short names, and omits default values.
    """
    return {
        **model.extra,
        "resources": {name: _written_resource(resource) for name, resource in model.resources.items()},
        "dispatchables": {
            name: _written_dispatchable(dispatchable) for name, dispatchable in model.dispatchables.items()
        },
        "commands": [_written_command(command) for command in model.commands],
    }


def _written_resource(resource: DxResource) -> dict[str, Any]:
    document: dict[str, Any] = {}
    if resource.data_type is not None or resource.kind == "list":
        document["initialValuesDataType"] = resource.data_type or "UNKNOWN"
    document["initialValues"] = resource.initial
    if resource.size_in_bytes is not None:
        document["sizeInBytes"] = resource.size_in_bytes
    return {**document, **resource.extra}


def _written_bindings(bindings: Mapping[str, list[DxBinding]]) -> dict[str, Any]:
    return {
        point: _written_binding(bound[0]) if len(bound) == 1 else [_written_binding(binding) for binding in bound]
        for point, bound in bindings.items()
    }


def _written_binding(binding: DxBinding) -> str | dict[str, Any]:
    document: dict[str, Any] = {"name": binding.name}
    if binding.element_offset:
        document["elementOffset"] = binding.element_offset
    if binding.element_size:
        document["elementSizeInBytes"] = binding.element_size
    document.update(binding.extra)
    return document if len(document) > 1 else binding.name


def _written_dispatchable(dispatchable: DxDispatchable) -> dict[str, Any]:
    if dispatchable.descriptor is None:
        return dict(dispatchable.raw)
    document = {**reader.write(dispatchable.descriptor), **dispatchable.extra}
    if dispatchable.bindings:
        document["bindings"] = _written_bindings(dispatchable.bindings)
    return document


def _written_command(command: DxCommand) -> dict[str, Any]:
    document: dict[str, Any] = {"type": command.kind}
    if command.kind == "dispatch":
        document |= {"dispatchable": command.dispatchable, "bindings": _written_bindings(command.bindings)}
    else:
        document["resource"] = command.resource
    if command.verbose:
        document["verbose"] = True
    if command.kind == "writeFile":
        document["targetPath"] = command.target_path
        if command.dimensions:
            document["dimensions"] = list(command.dimensions)
    return {**document, **command.extra}
