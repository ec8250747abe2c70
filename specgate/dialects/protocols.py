"""Protocols that a dialect's package implements, and bases of built-in dialects."""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any, ClassVar

from specgate.errors import InputError
from specgate.rules.language import PLAIN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from specgate.descriptors.core import Descriptor, Symbol
    from specgate.descriptors.files import NoTableEntry
    from specgate.execution.comparison import ModelComparison
    from specgate.execution.memory import Budget
    from specgate.execution.observed import Outputs
    from specgate.linting.modified_model import ModifiedModel
    from specgate.linting.nodes import Graph
    from specgate.linting.settings import LintSettings
    from specgate.linting.versions import Versions
    from specgate.lowest.text import ModelMinimum
    from specgate.oracles.protocol import Oracle, ValuesBackend
    from specgate.rules.language import Vocabulary
    from specgate.runtimes.protocol import Runtime
    from specgate.spec.fields import FieldInfo
    from specgate.targets import Target
    from specgate.verdict import Basis, Edit, Finding

    FileRules = Mapping[str, tuple[str, str, dict[str, str]]]


class Reader:
    """Conversion between dicts and `Descriptor`.

    name: as in targets (``onnx:17``). shape: the dialect's title and characteristic keys, for messages. specs: the
    folder with its ``levels.yaml`` and ``operators``, None for built-in tables.
    """

    name: ClassVar[str]
    shape: ClassVar[str]
    specs: ClassVar[Path | None] = None
    #: The message when a dialect does not implement a protocol; {name} is the dialect's.
    missing: ClassVar[str] = ""

    def recognises(self, data: Mapping[str, Any]) -> bool:
        """Return whether a dict is a descriptor of this dialect."""
        raise NotImplementedError

    def read(self, data: Mapping[str, Any], place: str = "") -> Descriptor:
        """Return the Descriptor of a dict; raise InputError or NoTable.

        `place` locates the dict in messages.
        """
        raise NotImplementedError

    def write(self, descriptor: Descriptor) -> dict[str, Any]:
        """Return a descriptor as a dict that `read` accepts."""
        raise NotImplementedError

    # Properties of its descriptors, with defaults.

    #: Keys under which a dict may have fields, in addition to the top level.
    containers: ClassVar[tuple[str, ...]] = ()
    #: Names of a tensor's members in descriptors, and in `TensorDesc`; see `accepts_many`.
    tensor_words: ClassVar[Mapping[str, str]] = {"type": "type", "shape": "sizes", "value": "value"}
    #: Largest size, and largest value of a ``uint`` field.
    largest_size: ClassVar[int] = 2**62
    #: True if float attributes are computed in single precision.
    single_floats: ClassVar[bool] = False
    #: True if some types require an optional device capability.
    has_devices: ClassVar[bool] = False
    #: Sets of keys; a file found in a folder is loaded only if it contains all keys of one set.
    keys: ClassVar[tuple[tuple[str, ...], ...]] = ()
    #: Words that only descriptors of this dialect contain, for a file that cannot be loaded.
    marks: ClassVar[tuple[str, ...]] = ()

    @property
    def vocabulary(self) -> Vocabulary:
        """Return the tensor attributes, layout functions and records it adds."""
        return PLAIN

    def file_rules(self) -> FileRules:
        """Return the rules of whole files by name: severity, requirement, source."""
        return {}

    def operator_of(self, data: Mapping[str, Any]) -> str:
        """Return the operator's name in a dict that `recognises` accepts."""
        return str(data.get("type"))

    def is_meant(self, item: Mapping[str, Any]) -> bool:
        """Return whether a dict in a file is meant as one of its descriptors."""
        return self.recognises(item)

    def vendor_name(self, operator: str) -> str:
        """Return the tables' name of an operator as its vendor spells it."""
        return operator

    def table_word(self, word: Any, enum: str | None) -> Any:
        """Return the tables' name of an enumerator; InputError if not a word.

        enum: None for element types. An unknown word, and a number without a word, are returned unchanged.
        """
        if not isinstance(word, str):
            raise InputError(f"expected a word, found {word!r:.40}")
        return word


class Positional(Reader):
    """Descriptors with positional inputs.

    See `specgate.descriptors.positional`.
    """

    def attribute_value(self, info: FieldInfo, raw: Any) -> Any:
        """Convert an attribute's value to the field's type; ValueError if invalid."""
        raise NotImplementedError

    def builds_read(self, kind: str, raw: Any) -> Any:
        """Return what builds read for a value of another type, or None."""
        del kind, raw
        return None


class LibraryObjects(Reader):
    """Objects of the vendor's library, as alternatives to dicts and files.

    node_class, model_class: the library's classes, as messages name them.
    """

    node_class: ClassVar[str]
    model_class: ClassVar[str]

    def descriptor_of(self, data: object) -> Descriptor | None:
        """Return a node object's Descriptor, None for others; raise as `read`."""
        raise NotImplementedError

    def is_model(self, model: object) -> bool:
        """Return whether an object is a model of the library."""
        raise NotImplementedError

    def model_bytes(self, model: object) -> bytes | None:
        """Return a model object as a model file, None for any other object."""
        raise NotImplementedError


class MemoryLayout(Reader):
    """Tensors with strides and a size in bytes."""

    def laid_out(self, descriptor: Descriptor, arrays: dict[str, Any]) -> dict[str, Any]:
        """Return input arrays in which elements that share memory are equal."""
        raise NotImplementedError

    def least_bytes(self, bits: int, sizes: Sequence[int], strides: Sequence[int] | None) -> int:
        """Return the minimum size of a tensor in bytes."""
        raise NotImplementedError


class Documents(Reader):
    """Models that are JSON or YAML documents.

    document_key: the key that makes a document such a model. document_name: a model's name in messages.
    """

    document_key: ClassVar[str]
    document_name: ClassVar[str]
    missing = "{name} has no document format that executes descriptors"

    def is_document(self, document: Any) -> bool:
        """Return whether a JSON or YAML document is a model of this dialect."""
        return isinstance(document, dict) and isinstance(document.get(self.document_key), dict)

    def entries(self, document: Mapping[str, Any], file: str) -> Iterator[tuple[str, Descriptor | NoTableEntry]]:
        """Yield the descriptors of a document with their places; raise InputError."""
        raise NotImplementedError

    def document_findings(self, document: Mapping[str, Any], file: str) -> Iterable[Finding]:
        """Return findings on a document beyond its entries, such as edges."""
        return ()

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
        """Execute a document at a level (default: newest); return its outputs.

        Raises InputError.
        """
        raise NotImplementedError

    def document_of(self, descriptors: Sequence[Descriptor]) -> dict[str, Any]:
        """Return a document that executes descriptors in sequence.

        Each has separate memory.
        """
        raise NotImplementedError


class ModelFormat(Reader):
    """Binary or XML model files.

    suffixes: in lower case, with dots. marker: bytes in the first KiB of each file. max_bytes: the limit for standard
    input. echoes: ids of findings that only repeat an error at the same node.
    """

    suffixes: ClassVar[tuple[str, ...]] = ()
    marker: ClassVar[bytes] = b""
    max_bytes: ClassVar[int] = 2**31 - 1
    echoes: ClassVar[tuple[str, ...]] = ()
    missing = "{name} has no model format"

    def begins_model(self, start: bytes) -> bool:
        """Return whether bytes, without leading white space, begin a model file."""
        return False

    def graph(self, path: str, settings: LintSettings) -> Graph:
        """Return the nodes of a file; raise InputError."""
        raise NotImplementedError

    def graph_of_bytes(self, data: bytes, name: str, settings: LintSettings) -> Graph:
        """Return the nodes of a file's bytes. name: the file's name in messages."""
        raise InputError(f"a model of {self.name} is read from a file only", file=name)

    def file_findings(self, graph: Graph, targets: Sequence[Target], file: str | None) -> Iterable[Finding]:
        """Return findings on a file for all targets of this dialect together."""
        return ()

    def target_findings(self, graph: Graph, target: Target, files: list[str], versions: Versions) -> Iterable[Finding]:
        """Return a file's conflicts with one target.

        versions: summary of the nodes, which are already checked.
        """
        return ()

    def pins(self, graph: Graph, size: Symbol) -> Iterable[str]:
        """Return the names to pass to `--pin` so that a dimension has a size."""
        return ()


class ModelFixes(ModelFormat):
    """Fixes of whole models by `lint --fix`."""

    missing = "models of {name} cannot be modified"

    def limit_fixes(
        self, graph: Graph, target: Target, runtime: Runtime | None, findings: list[Finding]
    ) -> list[Finding]:
        """Return findings with fixes limited to what the target supports.

        runtime: the target's.
        """
        raise NotImplementedError

    def with_edits(self, graph: Graph, findings: list[Finding]) -> list[Finding]:
        """Return findings on nodes, with edits for `lint --fix` where safe."""
        raise NotImplementedError

    def apply_edits(self, path: str, edits: Iterable[Edit]) -> ModifiedModel:
        """Return a file with edits applied; raise InputError."""
        raise NotImplementedError


class LowestLevel(Reader):
    """Minimum level of whole models."""

    missing = "the lowest level of a whole {name} model is not supported, only of single descriptors"

    def minimum(self, model: object, settings: LintSettings | None, basis: Basis) -> ModelMinimum:
        """Return the minimum level of a model.

        model: a path, an object, or an input that is already read (`InputSource`).
        """
        raise NotImplementedError


class Runnable(ModelFormat):
    """Model files that can be executed."""

    missing = "models of {name} can be linted, but not executed"

    def run_model(
        self,
        path: str,
        arrays: Mapping[str, Any],
        target: Target | None,
        *,
        budget: Budget,
        on_node: Callable[[int, int], object],
        basis: Basis,
        evaluate: Callable[..., dict[str, Any]] | None = None,
    ) -> Outputs:
        """Execute a model file and return its outputs by name.

        on_node: receives the number of finished nodes and of all nodes. evaluate: computes a node for a runtime. Raises
        InputError, NoTable, NoKernel.
        """
        raise NotImplementedError

    def compare_model(
        self,
        path: str,
        arrays: Mapping[str, Any],
        implementation: str,
        target: Target | None,
        *,
        budget: Budget,
        on_node: Callable[[int, int], object],
        basis: Basis = "both",
    ) -> ModelComparison:
        """Execute a model file and compare its nodes; see `run_model`."""
        raise NotImplementedError


class Backend(Reader):
    """Implementations for verdicts and values."""

    missing = "{name} has no oracle, that is, no implementation to compare with"

    def oracle(self, level: str) -> Oracle:
        """Return the oracle for a level, to be closed after use.

        Raises InputError without an implementation.
        """
        raise NotImplementedError

    def oracle_of(self, implementation: str, level: str) -> Oracle:
        """Return the oracle for a single implementation, or raise InputError."""
        raise InputError(f"{self.name} cannot run {implementation} alone")

    def values(self, level: str) -> ValuesBackend | None:
        """Return the backend for values at a level, None without one."""
        return None

    def askable(self, levels: Sequence[str]) -> tuple[list[str], list[str]]:
        """Return the levels that have an oracle here, and a reason per other one."""
        raise NotImplementedError


class Builds(Reader):
    """Implementation builds that specgate installs (``specgate oracle``)."""

    missing = "{name} has no builds to install"

    def builds(self) -> Iterable[list[str]]:
        """Return a row per known build: name, and state or how to install it."""
        raise NotImplementedError

    def install(
        self, levels: str | None, *, system: str | None, values: bool, progress: Callable[[str], object]
    ) -> None:
        """Install the builds for levels (``all``, or comma-separated names).

        values: also install builds that execute.
        """
        raise NotImplementedError


class Exporter(Reader):
    """JSON Schemas and source files for other programs."""

    missing = "{name} has no JSON Schema of its descriptors"

    def descriptor_schema(self) -> dict[str, Any]:
        """Return the JSON Schema of its descriptors, for editors."""
        raise NotImplementedError

    def source_for(
        self, language: str, operators: Sequence[str] = (), levels: Sequence[str] = (), *, text: bool = True
    ) -> str | None:
        """Return a source file for other programs, None for other languages.

        language: ``csharp`` prints the operators that a program creates as descriptors; ``cpp`` checks them with the
        tables of some operators and levels (none: all). text: whether its findings have sentences. Raises NoTable for
        an unknown operator, and InputError for an unknown level.
        """
        return None


class BuiltInDialect(Exporter):
    """A dialect with the module `reader` in its package."""

    @property
    def _reader(self) -> Any:
        return importlib.import_module(f"specgate.dialects.{self.name}.reader")

    def recognises(self, data: Mapping[str, Any]) -> bool:
        recognised: bool = self._reader.is_descriptor(data)
        return recognised

    def read(self, data: Mapping[str, Any], place: str = "") -> Descriptor:
        descriptor: Descriptor = self._reader.read(data, place)
        return descriptor

    def write(self, descriptor: Descriptor) -> dict[str, Any]:
        document: dict[str, Any] = self._reader.write(descriptor)
        return document

    def descriptor_schema(self) -> dict[str, Any]:
        schema: dict[str, Any] = importlib.import_module(f"specgate.dialects.{self.name}.schema").schema()
        return schema


class Packaged(BuiltInDialect, Positional, Backend):
    """A dialect with one oracle for verdicts and values.

    implementations: the Python packages that must be installed.
    """

    implementations: ClassVar[tuple[str, ...]]

    def attribute_value(self, info: FieldInfo, raw: Any) -> Any:
        return self._reader.attribute_value(info, raw)

    def open_oracle(self, level: str) -> Oracle:
        """Return the oracle; all packages are installed."""
        raise NotImplementedError

    def oracle(self, level: str) -> Oracle:
        missing_packages = [name for name in self.implementations if importlib.util.find_spec(name) is None]
        if missing_packages:
            raise InputError(f"{' and '.join(missing_packages)} cannot be imported: pip install 'specgate-ml[oracles]'")
        return self.open_oracle(level)

    def values(self, level: str) -> ValuesBackend:
        return self.oracle(level)  # type: ignore[return-value]  # one class implements both protocols

    def askable(self, levels: Sequence[str]) -> tuple[list[str], list[str]]:
        return list(levels), []
