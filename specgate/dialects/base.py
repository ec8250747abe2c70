"""What specgate has to know of a dialect beside its tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from specgate.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from specgate.descriptors.core import Descriptor, Symbol
    from specgate.descriptors.files import NoTableEntry
    from specgate.execution.compared import Compared
    from specgate.execution.memory import Budget
    from specgate.execution.observed import Outputs
    from specgate.linting.edited import Edited
    from specgate.linting.minimum import ModelMinimum
    from specgate.linting.nodes import Graph
    from specgate.linting.settings import LintSettings
    from specgate.linting.versions import Versions
    from specgate.oracles.protocol import Oracle, ValuesBackend
    from specgate.placement.findings import RuntimeFindings
    from specgate.rules.language import Vocabulary
    from specgate.spec.fields import FieldInfo
    from specgate.targets import Target
    from specgate.verdict import Basis, Edit, Finding, Verdict

__all__ = ["DialectPackage"]


class DialectPackage:
    """One dialect. A package of your own derives from this class and names it in the entry points `specgate.dialects`.

    name: as in targets (``onnx:17``). shape: how a reader of a message recognises its descriptors, with its title.
    specs: the folder with its ``levels.yaml`` and ``operators``, None for a dialect whose tables specgate ships.

    Only these and the methods that raise NotImplementedError are needed: the others have what holds for a dialect
    without such a thing. Everything is imported when it is first needed: a package is found by each command, and used
    by few.
    """

    name: ClassVar[str]
    shape: ClassVar[str]
    specs: ClassVar[Path | None] = None

    def recognises(self, data: Mapping[str, Any]) -> bool:
        """Return whether a dict is a descriptor in the words of this dialect."""
        raise NotImplementedError

    def read(self, data: Mapping[str, Any], place: str = "") -> Descriptor:
        """Return the Descriptor of a dict; raise InputError, naming `place`, or NoTable."""
        raise NotImplementedError

    def operator_of(self, data: Mapping[str, Any]) -> str:
        """Return the operator's name as a dict that `recognises` takes has it."""
        return str(data.get("type"))

    def write(self, descriptor: Descriptor) -> dict[str, Any]:
        """Return a descriptor as a dict that `read` takes."""
        raise NotImplementedError

    def attribute_value(self, info: FieldInfo, raw: Any) -> Any:
        """Return an attribute's value as the field's type; raise ValueError that says what is expected.

        Of a dialect whose descriptors have inputs by position (see `specgate.descriptors.positional`).
        """
        raise NotImplementedError

    def builds_read(self, kind: str, raw: Any) -> Any:
        """Return what builds read for a field of type `kind` where `raw` is of another kind, None for nothing."""
        del kind, raw
        return None

    #: What its descriptors call the members of a tensor, by which `TensorDesc` has them; see `accepts_many`.
    tensor_words: ClassVar[Mapping[str, str]] = {"type": "type", "shape": "sizes", "value": "value"}

    def named(self, operator: str) -> str:
        """Return the name that the tables have for an operator as its vendor spells it."""
        return operator

    def spelt(self, word: Any, enum: str | None) -> Any:
        """Return the word of an enum (None: the element types) as the tables have it; raise InputError for no word.

        A word that does not exist, and the number of none, come back as they are.
        """
        if not isinstance(word, str):
            raise InputError(f"expected a word, found {word!r:.40}")
        return word

    #: The keys of a dict under which it has fields; it may have them itself as well.
    containers: ClassVar[tuple[str, ...]] = ()
    #: The most that a size, or a field of the type ``uint``, may be.
    largest_size: ClassVar[int] = 2**62
    #: The class of its vendor's library that `descriptor_of` takes, as messages name it.
    node_class: ClassVar[str] = ""
    #: Whether attributes of the type float are computed with as 32 bits, whatever number was given.
    single_floats: ClassVar[bool] = False
    #: Whether some types need a capability that a device reports.
    has_devices: ClassVar[bool] = False

    def descriptor_schema(self) -> dict[str, Any]:
        """Return the JSON Schema of its descriptors, by which editors complete them; raise InputError without one."""
        raise InputError(f"{self.name} has no JSON Schema of its descriptors")

    def descriptor_of(self, data: object) -> Descriptor | None:
        """Return the Descriptor of an object of the vendor's library, None for any other object; raise as `read`."""
        return None

    def laid_out(self, descriptor: Descriptor, arrays: dict[str, Any]) -> dict[str, Any]:
        """Return input arrays with elements that share memory made equal, where tensors have a layout in memory."""
        return arrays

    @property
    def vocabulary(self) -> Vocabulary:
        """What the dialect adds to tables and rules: a tensor's attributes, functions of its layout, records."""
        from specgate.rules.language import PLAIN

        return PLAIN

    def least_bytes(self, bits: int, sizes: Sequence[int], strides: Sequence[int] | None) -> int:
        """Return how many bytes a tensor needs at least, where descriptors declare how many it has."""
        return 0

    # Descriptors in JSON and YAML files that were found in a folder, not named.

    #: Each set of keys, when all of them occur in a file, makes it worth loading.
    keys: ClassVar[tuple[tuple[str, ...], ...]] = ()
    #: Words that nothing but descriptors has, for a file that cannot be loaded.
    marks: ClassVar[tuple[str, ...]] = ()

    def is_meant(self, item: Mapping[str, Any]) -> bool:
        """Return whether a dict of such a file is meant as a descriptor, beyond the words that other formats have."""
        return self.recognises(item)

    # Models that are JSON or YAML documents.

    #: The key that makes a document such a model, and what one is called ("a DxDispatch model").
    document_key: ClassVar[str] = ""
    document_name: ClassVar[str] = ""

    def is_document(self, document: Any) -> bool:
        """Return whether a loaded JSON or YAML document is a model of this dialect."""
        key = self.document_key
        return bool(key) and isinstance(document, dict) and isinstance(document.get(key), dict)

    def entries(self, document: Mapping[str, Any], file: str) -> Iterator[tuple[str, Descriptor | NoTableEntry]]:
        """Yield the descriptors of such a document with their places; raise InputError.

        Of a dialect that has a `document_key`.
        """
        raise NotImplementedError

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
        """Execute such a document at a level, the newest if None, and return its outputs; raise InputError.

        basis: whose values.
        """
        raise InputError(f"a model of {self.name} is judged, not executed", file=file)

    def document_of(self, descriptors: Sequence[Descriptor]) -> dict[str, Any]:
        """Return such a document that executes descriptors in their order, each with memory of its own."""
        raise InputError(f"{self.name} has no documents that execute descriptors")

    def source_for(
        self, language: str, operators: Sequence[str] = (), levels: Sequence[str] = (), *, text: bool = True
    ) -> str | None:
        """Return a source file for programs that hold its structures, None where it has none in that language.

        language: ``csharp``, which prints what a program creates as descriptors; ``cpp``, which judges that by the
        tables of some operators and levels (none: all). text: whether its findings have sentences.
        Raises NoTable for an operator that does not exist, and InputError for an unknown level.
        """
        return None

    # Model files of another format.

    #: Of the files that `graph` reads, in lower case, with their dots; and what the first KiB of each of them holds.
    suffixes: ClassVar[tuple[str, ...]] = ()
    marker: ClassVar[bytes] = b""
    #: How large such a file may be that comes through standard input.
    max_bytes: ClassVar[int] = 2**31 - 1
    #: The class of the vendor's library that `model_bytes` takes, as messages name it.
    model_class: ClassVar[str] = ""
    #: Ids of findings that only repeat what an error at the same node says.
    echoes: ClassVar[tuple[str, ...]] = ()

    def begins_model(self, start: bytes) -> bool:
        """Return whether bytes without a name begin such a file. start: without white space before it."""
        return False

    def is_model(self, model: object) -> bool:
        """Return whether an object is a whole model of the vendor's library."""
        return False

    def model_bytes(self, model: object) -> bytes | None:
        """Return an object of the vendor's library as such a file, None for any other object."""
        return None

    def graph(self, path: str, settings: LintSettings) -> Graph:
        """Return the nodes of such a file; raise InputError."""
        raise InputError(f"{self.name} has no model files", file=path)

    def graph_of_bytes(self, data: bytes, name: str, settings: LintSettings) -> Graph:
        """Return the nodes of such a file that was read already. name: what it is called in messages."""
        raise InputError(f"a model of {self.name} is read from a file only", file=name)

    def edited(self, path: str, edits: Iterable[Edit]) -> Edited:
        """Return such a file with the changes that findings on it propose; raise InputError."""
        raise InputError(f"a model of {self.name} is not changed", file=path)

    def file_rules(self) -> Mapping[str, tuple[str, str, dict[str, str]]]:
        """Return the rules of whole files by their names: severity, what is asked for, and where that stands."""
        return {}

    def rule_groups(self) -> Mapping[str, Mapping[str, tuple[str, str, dict[str, str]]]]:
        """Return rules whose ids do not begin with the dialect's name, by the first two parts of their ids."""
        return {}

    def document_findings(self, document: Mapping[str, Any], file: str) -> Iterable[Finding]:
        """Return what is to be said of a document beyond its entries (see `entries`), such as of what joins them."""
        return ()

    def file_findings(self, graph: Graph, targets: Sequence[Target], file: str | None) -> Iterable[Finding]:
        """Return what is to be said of a file and all targets of this dialect together."""
        return ()

    def target_findings(self, graph: Graph, target: Target, files: list[str], versions: Versions) -> Iterable[Finding]:
        """Return what a file asks of one target. versions: what was seen of the nodes, which are judged already."""
        return ()

    def runtime_findings(
        self, graph: Graph, target: Target, device: frozenset[str] | None, file: str | None
    ) -> RuntimeFindings | None:
        """Return what decides which findings are errors for a release of a runtime, None for another target."""
        return None

    def runtime_verdict(
        self, descriptor: Descriptor, version: str, page: Verdict, target: Target, device: frozenset[str] | None
    ) -> Verdict:
        """Return what a release of a runtime does with one node. page: the verdict by the tables of the dialect."""
        return page

    def fitted(self, graph: Graph, target: Target, findings: list[Finding]) -> list[Finding]:
        """Return findings on nodes of a file with fixes that name only what the target has."""
        return findings

    def with_edits(self, graph: Graph, findings: list[Finding]) -> list[Finding]:
        """Return findings on nodes of a file, with what `lint --fix` changes where something is safe."""
        return findings

    def pins(self, graph: Graph, size: Symbol) -> Iterable[str]:
        """Return the names that `--pin` must give sizes to, so that a dimension of this name has one."""
        return ()

    def minimum(self, model: object, settings: LintSettings | None, basis: Basis) -> ModelMinimum:
        """Return the lowest level of a model: a path, an object, or what was read already (`Given`)."""
        raise InputError(f"of a whole model of {self.name} the lowest level is not found, only of its descriptors")

    def run_model(
        self,
        path: str,
        arrays: Mapping[str, Any],
        target: Target | None,
        *,
        budget: Budget,
        on_note: Callable[[str], object],
        on_node: Callable[[int, int], object],
        basis: Basis,
    ) -> Outputs:
        """Execute a model file and return its outputs by name; raise InputError, NoTable, NoKernel.

        basis: whose values.
        on_note: is called with each line that qualifies the outputs; on_node: with how many of how many nodes are done.
        """
        raise InputError(f"a model of {self.name} is linted, not executed", file=path)

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
        """Execute a model file and hold its nodes against an implementation; as `run_model`."""
        raise InputError(f"models of {self.name} are not held against other implementations", file=path)

    # Runtimes, which place the nodes of models.

    def runtime_target(self, name: str, wanted: str) -> Target | None:
        """Return the target ``NAME:WANTED`` of a runtime's package, None for what is none; raise InputError."""
        return None

    def runtime_rows(self) -> Iterable[dict[str, Any]]:
        """Return what `specgate targets` lists of the releases of runtimes."""
        return ()

    def tables_beside(self) -> Mapping[str, str]:
        """Return the hash of what the tables of each runtime say, by its name."""
        return {}

    # Implementations that can be asked.

    def oracle(self, level: str) -> Oracle:
        """Return the implementations to ask at a level, to be closed after use; raise InputError without any."""
        raise InputError(f"{self.name} has no oracle: no implementation of it can be asked")

    def oracle_of(self, implementation: str, level: str) -> Oracle:
        """Return one implementation alone that targets can ask for; raise InputError where it cannot be asked."""
        raise InputError(f"{self.name} cannot ask {implementation} alone")

    def values(self, level: str) -> ValuesBackend | None:
        """Return what computes values at a level, None where nothing does or it is not installed."""
        return None

    def askable(self, levels: Sequence[str]) -> tuple[list[str], list[str]]:
        """Return which of `levels` can be asked here, and for each of the others a line that says why not."""
        return [], [f"{self.name}:{level}: {self.name} has no oracle" for level in levels]

    # Builds of implementations that specgate installs itself (``specgate oracle``).

    def builds(self) -> Iterable[list[str]]:
        """Return a row for each known build: what it is, and whether it is installed or how to install it."""
        return ()

    def install(
        self, levels: str | None, *, system: str | None, values: bool, progress: Callable[[str], object]
    ) -> None:
        """Install the builds of levels (``all``, or names with commas); with `values` what executes, too."""
        raise InputError(f"{self.name} has no builds to install")

    def record(
        self, level: str, operator: str, to: str, *, cases: int, seed: int, progress: Callable[[str], object]
    ) -> None:
        """Write what a build computes for drawn cases into the folder `to`."""
        raise InputError(f"{self.name} has no builds whose values could be recorded")

    # Tables written from what the vendor's package states of its operators (``specgate spec import``).

    @property
    def has_importer(self) -> bool:
        """Whether tables are written from a package of the vendor or compared with one."""
        kind = type(self)
        given = (kind.import_tables, kind.compare_tables)
        return given != (DialectPackage.import_tables, DialectPackage.compare_tables)

    def import_tables(self, to: str | None, say: Callable[[str], object], operators: Sequence[str] = ()) -> None:
        """Write the tables of a folder, those that specgate uses if None; raise InputError where nothing can.

        operators: those to begin a table for, where the package states too little to write one whole.
        """
        raise InputError(f"the tables of {self.name} are not imported from a package")

    def compare_tables(self, to: str | None, say: Callable[[str], object]) -> bool:
        """Say where such tables differ from the package, and return whether they do."""
        raise InputError(f"the tables of {self.name} are not imported from a package")
