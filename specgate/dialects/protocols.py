"""The protocols of a dialect's package: `Reader` is required, every other one is optional.

A package derives one class from `Reader` and from each protocol that it implements, and names the class in the entry
points `specgate.dialects`. Modules are imported inside methods: every command loads the class, few use all of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from specgate.errors import InputError
from specgate.rules.language import PLAIN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from specgate.descriptors.core import Descriptor, Symbol
    from specgate.descriptors.files import NoTableEntry
    from specgate.execution.comparison import Compared
    from specgate.execution.memory import Budget
    from specgate.execution.observed import Outputs
    from specgate.linting.modified_model import Edited
    from specgate.linting.nodes import Graph
    from specgate.linting.settings import LintSettings
    from specgate.linting.versions import Versions
    from specgate.lowest.result import ModelMinimum
    from specgate.oracles.protocol import Oracle, ValuesBackend
    from specgate.rules.language import Vocabulary
    from specgate.runtimes.protocol import Runtime
    from specgate.spec.fields import FieldInfo
    from specgate.targets import Target
    from specgate.verdict import Basis, Edit, Finding

    FileRules = Mapping[str, tuple[str, str, dict[str, str]]]

__all__ = [
    "Backend", "Builds", "Documents", "Exporter", "LibraryObjects", "LowestLevel", "MemoryLayout",
    "ModelFixes", "ModelFormat", "Positional", "Reader", "Runnable",
]  # fmt: skip


class Reader:
    """Dicts to `Descriptor` and back.

    name: as in targets (``onnx:17``). shape: how a reader of a message recognizes its descriptors, with its title.
    specs: the folder with its ``levels.yaml`` and ``operators``, None for a dialect whose tables specgate ships.
    """

    name: ClassVar[str]
    shape: ClassVar[str]
    specs: ClassVar[Path | None] = None
    #: The message when a dialect does not implement a protocol; {name} is the dialect's.
    missing: ClassVar[str] = ""

    def recognises(self, data: Mapping[str, Any]) -> bool:
        """Return whether a dict is a descriptor in the words of this dialect."""
        raise NotImplementedError

    def read(self, data: Mapping[str, Any], place: str = "") -> Descriptor:
        """Return the Descriptor of a dict; raise InputError, naming `place`, or NoTable."""
        raise NotImplementedError

    def write(self, descriptor: Descriptor) -> dict[str, Any]:
        """Return a descriptor as a dict that `read` accepts."""
        raise NotImplementedError

    # Facts about its descriptors, with defaults.

    #: The keys of a dict under which it has fields; it may have them itself as well.
    containers: ClassVar[tuple[str, ...]] = ()
    #: The names of a tensor's members in descriptors, and those of `TensorDesc`; see `accepts_many`.
    tensor_words: ClassVar[Mapping[str, str]] = {"type": "type", "shape": "sizes", "value": "value"}
    #: The largest size, and the largest value of a field of the type ``uint``.
    largest_size: ClassVar[int] = 2**62
    #: Whether attributes of the type float are computed with as 32 bits, whatever number the descriptor has.
    single_floats: ClassVar[bool] = False
    #: Whether some types need a capability that a device reports.
    has_devices: ClassVar[bool] = False
    #: In files found in a folder: each set of keys, when all of them occur in a file, makes it worth loading.
    keys: ClassVar[tuple[tuple[str, ...], ...]] = ()
    #: Words that only descriptors of this dialect contain, for a file that cannot be loaded.
    marks: ClassVar[tuple[str, ...]] = ()

    @property
    def vocabulary(self) -> Vocabulary:
        """The attributes of tensors, functions of their layout and records that its tables and rules add."""
        return PLAIN

    def file_rules(self) -> FileRules:
        """Return the rules of whole files by name: severity, requirement, source."""
        return {}

    def operator_of(self, data: Mapping[str, Any]) -> str:
        """Return the operator's name in a dict that `recognises` accepts."""
        return str(data.get("type"))

    def is_meant(self, item: Mapping[str, Any]) -> bool:
        """Return whether a dict in a file found in a folder is meant as a descriptor of this dialect."""
        return self.recognises(item)

    def named(self, operator: str) -> str:
        """Return the tables' name of an operator as its vendor spells it."""
        return operator

    def spelt(self, word: Any, enum: str | None) -> Any:
        """Return the tables' word of an enum (None: the element types); raise InputError for what is not a word.

        A word that does not exist, and a number without a word, are returned unchanged.
        """
        if not isinstance(word, str):
            raise InputError(f"expected a word, found {word!r:.40}")
        return word


class Positional(Reader):
    """Descriptors with inputs by position; see `specgate.descriptors.positional`."""

    def attribute_value(self, info: FieldInfo, raw: Any) -> Any:
        """Return an attribute's value as the field's type; raise ValueError that says what is expected."""
        raise NotImplementedError

    def builds_read(self, kind: str, raw: Any) -> Any:
        """Return what builds read for a field of type `kind` if `raw` is of another kind, None for nothing."""
        del kind, raw
        return None


class LibraryObjects(Reader):
    """Objects of the vendor's library in place of dicts and files.

    node_class, model_class: the library's classes, as messages name them.
    """

    node_class: ClassVar[str]
    model_class: ClassVar[str]

    def descriptor_of(self, data: object) -> Descriptor | None:
        """Return the Descriptor of a node object, None for any other object; raise as `read`."""
        raise NotImplementedError

    def is_model(self, model: object) -> bool:
        """Return whether an object is a whole model of the library."""
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
        """Return how many bytes a tensor needs at least."""
        raise NotImplementedError


class Documents(Reader):
    """Models that are JSON or YAML documents.

    document_key: the key that makes a document such a model. document_name: a model's name in messages.
    """

    document_key: ClassVar[str]
    document_name: ClassVar[str]
    missing = "{name} has no documents that execute descriptors"

    def is_document(self, document: Any) -> bool:
        """Return whether a loaded JSON or YAML document is a model of this dialect."""
        return isinstance(document, dict) and isinstance(document.get(self.document_key), dict)

    def entries(self, document: Mapping[str, Any], file: str) -> Iterator[tuple[str, Descriptor | NoTableEntry]]:
        """Yield the descriptors of a document with their places; raise InputError."""
        raise NotImplementedError

    def document_findings(self, document: Mapping[str, Any], file: str) -> Iterable[Finding]:
        """Return findings on a document beyond its entries, such as on its edges."""
        return ()

    def run_document(
        self,
        document: Mapping[str, Any],
        file: str,
        level: str | None,
        *,
        out: Callable[[str], None],
        write_files: bool,
        budget: Budget,
        basis: Basis,
    ) -> Outputs:
        """Execute a document at a level, the newest if None, and return its outputs; raise InputError."""
        raise NotImplementedError

    def document_of(self, descriptors: Sequence[Descriptor]) -> dict[str, Any]:
        """Return a document that executes descriptors in their order, each with separate memory."""
        raise NotImplementedError


class ModelFormat(Reader):
    """Model files that are not text.

    suffixes: in lower case, with their dots. marker: bytes in the first KiB of each file. max_bytes: the most that
    standard input may hold. echoes: ids of findings that only repeat an error at the same node.
    """

    suffixes: ClassVar[tuple[str, ...]] = ()
    marker: ClassVar[bytes] = b""
    max_bytes: ClassVar[int] = 2**31 - 1
    echoes: ClassVar[tuple[str, ...]] = ()
    missing = "{name} has no model files"

    def begins_model(self, start: bytes) -> bool:
        """Return whether bytes without a name begin a model file. start: without white space before it."""
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
        """Return what a file requires of one target. versions: seen in the nodes, which are checked already."""
        return ()

    def pins(self, graph: Graph, size: Symbol) -> Iterable[str]:
        """Return the names that `--pin` must give sizes to, so that a dimension of this name has one."""
        return ()


class ModelFixes(ModelFormat):
    """Fixes of whole models, and what `lint --fix` changes."""

    missing = "a model of {name} is not changed"

    def fitted(self, graph: Graph, target: Target, runtime: Runtime | None, findings: list[Finding]) -> list[Finding]:
        """Return findings on nodes with fixes that name only what the target has. runtime: the target's."""
        raise NotImplementedError

    def with_edits(self, graph: Graph, findings: list[Finding]) -> list[Finding]:
        """Return findings on nodes with the edits of `lint --fix`, if some are safe."""
        raise NotImplementedError

    def edited(self, path: str, edits: Iterable[Edit]) -> Edited:
        """Return a file with the changes that findings on it propose; raise InputError."""
        raise NotImplementedError


class LowestLevel(Reader):
    """The lowest level of a whole model."""

    missing = "of a whole model of {name} the lowest level is not found, only of its descriptors"

    def minimum(self, model: object, settings: LintSettings | None, basis: Basis) -> ModelMinimum:
        """Return the lowest level of a model: a path, an object, or an input that was read already (`Given`)."""
        raise NotImplementedError


class Runnable(ModelFormat):
    """Model files that are executed."""

    missing = "a model of {name} is linted, not executed"

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
        """Execute a model file and return its outputs by name; raise InputError, NoTable, NoKernel.

        on_node: is called with how many of how many nodes are done. evaluate: computes a node for a runtime.
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
    ) -> Compared:
        """Execute a model file and compare its nodes with an implementation; as `run_model`."""
        raise NotImplementedError


class Backend(Reader):
    """Implementations that can be asked for verdicts and values."""

    missing = "{name} has no oracle: no implementation of it can be asked"

    def oracle(self, level: str) -> Oracle:
        """Return the implementations to ask at a level, to be closed after use; raise InputError without any."""
        raise NotImplementedError

    def oracle_of(self, implementation: str, level: str) -> Oracle:
        """Return one implementation alone that targets can ask for; raise InputError if it cannot be asked."""
        raise InputError(f"{self.name} cannot ask {implementation} alone")

    def values(self, level: str) -> ValuesBackend | None:
        """Return the backend that computes values at a level, None without one."""
        return None

    def askable(self, levels: Sequence[str]) -> tuple[list[str], list[str]]:
        """Return which of `levels` can be asked here, and for each of the others a line with the reason."""
        raise NotImplementedError


class Builds(Reader):
    """Builds of implementations that specgate installs (``specgate oracle``)."""

    missing = "{name} has no builds to install"

    def builds(self) -> Iterable[list[str]]:
        """Return a row for each known build: its name, and whether it is installed or how to install it."""
        raise NotImplementedError

    def install(
        self, levels: str | None, *, system: str | None, values: bool, progress: Callable[[str], object]
    ) -> None:
        """Install the builds of levels (``all``, or names with commas); `values`: those that execute, too."""
        raise NotImplementedError


class Exporter(Reader):
    """JSON Schemas and source files for other programs."""

    missing = "{name} has no JSON Schema of its descriptors"

    def descriptor_schema(self) -> dict[str, Any]:
        """Return the JSON Schema of its descriptors, by which editors complete them."""
        raise NotImplementedError

    def source_for(
        self, language: str, operators: Sequence[str] = (), levels: Sequence[str] = (), *, text: bool = True
    ) -> str | None:
        """Return a source file for programs that hold its structures, None for an unsupported language.

        language: ``csharp``, which prints what a program creates as descriptors; ``cpp``, which checks it by the tables
        of some operators and levels (none: all). text: whether its findings have sentences. Raises NoTable for an
        operator that does not exist, and InputError for an unknown level.
        """
        return None
