"""DirectML dialect: DML_OPERATOR_DESC as JSON, and builds as oracles."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, ClassVar

from specgate.dialects.directml.vocabulary import VOCABULARY, minimum_size
from specgate.dialects.protocols import Backend, Builds, BuiltInDialect, Documents, MemoryLayout, ModelFormat
from specgate.errors import InputError
from specgate.loading import lazy
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from specgate.descriptors.core import Descriptor
    from specgate.descriptors.files import NoTableEntry
    from specgate.dialects.directml import reader as directml_reader
    from specgate.dialects.directml.cpp import header
    from specgate.dialects.directml.dxdispatch import dispatching, edge_findings, model, read, run
    from specgate.dialects.directml.native import csharp
    from specgate.dialects.directml.oracle import builds, cases, install, values_environment
    from specgate.dialects.directml.oracle import oracle as directml_oracle
    from specgate.dialects.directml.serialized import graph
    from specgate.execution.memory import Budget
    from specgate.execution.observed import Outputs
    from specgate.linting.nodes import Graph
    from specgate.linting.settings import LintSettings
    from specgate.oracles.protocol import Oracle, ValuesBackend
    from specgate.rules.language import Vocabulary
    from specgate.verdict import Basis, Finding
else:
    header = lazy("specgate.dialects.directml.cpp.header")
    dispatching = lazy("specgate.dialects.directml.dxdispatch.dispatching")
    edge_findings = lazy("specgate.dialects.directml.dxdispatch.edge_findings")
    model = lazy("specgate.dialects.directml.dxdispatch.model")
    read = lazy("specgate.dialects.directml.dxdispatch.read")
    run = lazy("specgate.dialects.directml.dxdispatch.run")
    csharp = lazy("specgate.dialects.directml.native.csharp")
    builds = lazy("specgate.dialects.directml.oracle.builds")
    cases = lazy("specgate.dialects.directml.oracle.cases")
    install = lazy("specgate.dialects.directml.oracle.install")
    directml_oracle = lazy("specgate.dialects.directml.oracle.oracle")
    values_environment = lazy("specgate.dialects.directml.oracle.values_environment")
    directml_reader = lazy("specgate.dialects.directml.reader")
    graph = lazy("specgate.dialects.directml.serialized.graph")


class DirectML(BuiltInDialect, MemoryLayout, Documents, ModelFormat, Backend, Builds):
    """See `specgate.dialects.protocols`."""

    name = "directml"
    shape = 'DirectML ("type", "desc")'
    containers = ("desc", "Desc")
    largest_size = 2**32 - 1  # a UINT
    has_devices = True
    keys = (("dispatchables",), ("type", "desc"))
    marks = ("DML_OPERATOR_", '"dispatchables"')
    tensor_words: ClassVar[Mapping[str, str]] = {
        "DataType": "type", "Sizes": "sizes", "Strides": "strides", "TotalTensorSizeInBytes": "size_in_bytes",
        "GuaranteedBaseOffsetAlignment": "alignment", "Flags": "flags",
    }  # fmt: skip
    document_key = "dispatchables"
    document_name = "a DxDispatch model"

    def laid_out(self, descriptor: Descriptor, arrays: dict[str, Any]) -> dict[str, Any]:
        return cases.laid_out(descriptor, arrays)

    def operator_of(self, data: Mapping[str, Any]) -> str:
        return str(data.get("type", data.get("Type"))).removeprefix("DML_OPERATOR_")

    def vendor_name(self, operator: str) -> str:
        return directml_reader.operator_word(operator)

    def table_word(self, word: Any, enum: str | None) -> Any:
        return directml_reader.enum_word(word, enum)

    @property
    def vocabulary(self) -> Vocabulary:
        return VOCABULARY

    def least_bytes(self, bits: int, sizes: Sequence[int], strides: Sequence[int] | None) -> int:
        return minimum_size(bits, sizes, strides)

    def is_meant(self, item: Mapping[str, Any]) -> bool:
        kind = item.get("type", item.get("Type"))
        if not isinstance(kind, str):
            return False
        return kind.startswith("DML_OPERATOR_") or isinstance(item.get("desc", item.get("Desc")), dict)

    def entries(self, document: Mapping[str, Any], file: str) -> Iterator[tuple[str, Descriptor | NoTableEntry]]:
        return read.entries(document, file)

    def file_rules(self) -> Mapping[str, tuple[str, str, dict[str, str]]]:
        return edge_findings.RULES

    def document_findings(self, document: Mapping[str, Any], file: str) -> Iterator[Finding]:
        return edge_findings.edge_findings(document, file)

    def run_document(
        self,
        document: Mapping[str, Any],
        file: str,
        level: str | None,
        *,
        out: Callable[[str], None],
        write_files: bool,
        read_outside: bool,
        budget: Budget,
        basis: Basis,
    ) -> Outputs:
        return run.run_dx_model(
            read.read_dx_model(document, file=file),
            level or dialect(self.name).levels[-1],
            out=out,
            base_dir=os.path.dirname(file) or ".",  # noqa: PTH120
            write_files=write_files,
            read_outside=read_outside,
            budget=budget,
            basis=basis,
        )

    def document_of(self, descriptors: Sequence[Descriptor]) -> dict[str, Any]:
        return model.write_dx_model(dispatching.dispatching(descriptors))

    def source_for(
        self, language: str, operators: Sequence[str] = (), levels: Sequence[str] = (), *, text: bool = True
    ) -> str | None:
        if language == "csharp":
            return csharp.csharp_source()
        if language == "cpp":
            return header.write_header([*map(self.vendor_name, operators)] or None, [*levels] or None, text=text)
        return None

    def begins_model(self, start: bytes) -> bool:
        return graph.begins_graph(start)

    def graph(self, path: str, settings: LintSettings) -> Graph:
        return graph.graph_of_file(path)

    def graph_of_bytes(self, data: bytes, name: str, settings: LintSettings) -> Graph:
        return graph.graph_of_data(data, name)

    def oracle(self, level: str) -> Oracle:
        return directml_oracle.Builds(level)

    def values(self, level: str) -> ValuesBackend | None:
        try:
            return directml_oracle.BuildValues(level)
        except InputError:
            return None

    def builds(self) -> Iterator[list[str]]:
        for entry in install.status():
            row = [f"directml:{entry.build.level}", entry.build.system, entry.build.title]
            row.append("installed" if entry.installed else f"missing: {entry.command}")
            yield [*row, values_environment.value_status(entry.build.level)] if entry.build.system == "windows" else row

    def install(
        self, levels: str | None, *, system: str | None, values: bool, progress: Callable[[str], object]
    ) -> None:
        wanted_levels = levels or ("6.4" if values else "6.2")
        result: Any = system  # argparse allows only "linux" and "windows"
        value: Any = "all" if wanted_levels == "all" else [level.strip() for level in wanted_levels.split(",")]
        if not values:
            install.install_directml(value, system=result, progress=progress)
            return
        if system == "linux":
            raise InputError("values are computed with Windows builds; remove --system linux")
        values_environment.install_values(value, progress=progress)

    def askable(self, levels: Sequence[str]) -> tuple[list[str], list[str]]:
        from specgate.dialects.directml.oracle.install import install_command, status

        installed_levels = {entry.build.level for entry in status() if entry.installed}
        skipped = []
        for level in levels:
            if level not in builds.levels():
                skipped.append(f"directml:{level}: no public build has this level")
            elif level not in installed_levels:
                skipped.append(f"directml:{level}: not installed; {install_command([level])}")
        return [level for level in levels if level in installed_levels], skipped
