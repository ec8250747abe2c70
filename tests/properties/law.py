"""The law between validator and executor, for one descriptor.

Accepted: it executes, and the outputs have the declared types and sizes. Rejected: execution raises `InputError`, or
all failed rules are loose, which the table marks as computable although rejected.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from math import prod
from random import Random
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.conform.cases import pool_of
from specgate.descriptors.core import TensorDesc
from specgate.descriptors.read import read_dict, write_dict
from specgate.errors import Error, InputError, NoKernel, NoTable
from specgate.execution.containers import convert_container, is_container, make_container
from specgate.execution.engine import execute_at
from specgate.execution.types import as_array, integer_range, numpy_type
from specgate.generate.moves import replace_tensors
from specgate.generate.repair import repair_descriptor
from specgate.generate.seeds import examples_at, make_concrete
from specgate.generate.walk import valid_descriptors
from specgate.validate.check import accepts
from specgate.validate.row import explain_at
from tests.drawing import shown_descriptors
from tests.properties.support import MAX_BYTES, list_unclaimed
from tests.properties.zero_sizes import dimensions_of, empty_out

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from specgate.descriptors.core import Descriptor
    from specgate.spec.operator_spec import OperatorSpec

__all__ = ["Answer", "ask", "cases_of", "empty_cases_of", "with_arrays"]

#: Elements of all tensors together; larger ones are not executed.
SMALL: Final = 2**14
_SPECIAL: Final = (0.0, -0.0, 1.0, -1.0, 0.5, -1.5, 2.0, 3.0, 100.0, 1e30, float("nan"), float("inf"), float("-inf"))
#: Messages of executions outside the law: too large, or too slow.
_TOO_LARGE: Final = (
    "more than the limit of",
    "out of memory",
    "larger than any array",
    "max_seconds",
    "more than the supported",
    "the bytes are not an image",  # that are drawn at random
)
_TEXTS: Final = ("", "on", "a b", "\u00e9")


@dataclass(frozen=True, slots=True)
class Answer:
    """The outcome for one descriptor.

    kind: ``held``, ``loose``, ``skipped`` (too large, or without a kernel), or a violation: ``crash``, ``refused``
    (although accepted), ``differs`` (outputs are not as declared), ``computed`` (although rejected). why: rules or the
    message.
    """

    kind: str
    why: str = ""
    rules: tuple[str, ...] = ()

    @property
    def violation(self) -> bool:
        return self.kind in {"crash", "refused", "differs", "computed"}


def cases_of(
    spec: OperatorSpec, level: str, count: int, seed: str, *, search: bool = False
) -> Iterator[tuple[Descriptor, dict[str, Any]]]:
    """Yield about `count` descriptors with arrays: the table's, and changes of them.

    search: also valid ones and ones with one error that a search over the table finds.
    """
    random = Random(f"{seed}/{spec.name}/{level}")
    return with_arrays(spec, level, _descriptors(spec, level, count, seed, search=search), random)


def empty_cases_of(
    spec: OperatorSpec, level: str, count: int | None, seed: str
) -> Iterator[tuple[Descriptor, dict[str, Any]]]:
    """Yield descriptors with sizes of 0 and arrays.

    count: their number, all if None. Each dimension of each accepted example, and of pairs of them. Rejected ones come
    a second time, repaired.
    """
    descriptors = _empty_out(spec, level, Random(f"{seed}/{spec.name}/{level}"), every=count is None)
    return with_arrays(spec, level, islice(descriptors, count), Random(f"{seed}/{spec.name}/{level}"))


def _empty_out(spec: OperatorSpec, level: str, random: Random, *, every: bool) -> Iterator[Descriptor]:
    sides = [side for side in [spec.resolve(level)] if side is not None]
    shown = [descriptor for descriptor in map(make_concrete, examples_at(spec, level)) if accepts(descriptor, level)]
    bases = [descriptor for descriptor in shown if _small(descriptor)] or valid_descriptors(
        spec, level, proven=False
    ).descriptors
    pairs = [(descriptor, *dimension) for descriptor in bases for dimension in dimensions_of(descriptor)]
    random.shuffle(pairs)
    second = [
        random.choice(list(empty_out(descriptor, spec, at, axis)))
        for descriptor, at, axis in pairs[: None if every else 4]
    ]
    pairs += [(descriptor, *random.choice(left)) for descriptor in second if (left := dimensions_of(descriptor))]
    outputs = {info.name for info in spec.outputs}
    seen = set()
    for base, place, axis in pairs:
        for descriptor in empty_out(base, spec, place, axis):
            open_outputs = {p: t for p, t in descriptor.tensors() if p.partition("[")[0] in outputs}
            unsized = replace_tensors(descriptor, {p: t._replace(sizes=None) for p, t in open_outputs.items()})
            rejected = every and accepts(descriptor, level) is False
            better = repair_descriptor(descriptor, sides, random.randint, _has_no_elements) if rejected else None
            for each in (descriptor, better, unsized if spec.dialect.infers_outputs else None):
                key = repr(each and each.fields)
                if each is not None and key not in seen:
                    seen.add(key)
                    yield each


def _has_no_elements(descriptor: Descriptor) -> bool:
    return any(0 in (tensor.sizes or ()) for _, tensor in descriptor.tensors())


def _small(descriptor: Descriptor) -> bool:
    return sum(prod(_sizes(tensor)) for _, tensor in descriptor.tensors()) <= SMALL


def with_arrays(
    spec: OperatorSpec, level: str, descriptors: Iterable[Descriptor], random: Random
) -> Iterator[tuple[Descriptor, dict[str, Any]]]:
    """Yield the descriptors that can be executed, with arrays for their inputs."""
    shown = list(_shown_inputs(spec))
    for result in descriptors:
        if result.version not in {None, level} or _has_unused_layout(spec, result):
            continue
        try:
            if not _small(result):
                continue
            read_dict(write_dict(result), spec.dialect.name)
            descriptor = _with_constants(spec, result, random)
            drawn = _arrays(spec, descriptor, shown, random)
        except (NoKernel, InputError):  # no array can hold such elements, or there are none
            continue
        facts = _with_elements(spec, descriptor, drawn)
        yield (_unknown_sizes(spec, facts) if random.randrange(10) == 9 else facts), drawn  # 0 is what shrinks to


def _has_unused_layout(spec: OperatorSpec, descriptor: Descriptor) -> bool:
    """Return whether a tensor has a memory layout, as in dialects with tensor rules."""
    if spec.dialect.tables.tensor.rules:
        return False
    return any(t.strides is not None or t.size_in_bytes is not None for _, t in descriptor.tensors())


def _descriptors(spec: OperatorSpec, level: str, count: int, seed: str, *, search: bool) -> Iterator[Descriptor]:
    yield from islice(shown_descriptors(spec, level, count, seed), count)
    if search:
        try:
            pool = pool_of(spec, level, seed)
        except InputError:  # nothing valid is found
            return
        yield from pool.valid
        yield from (drawn.descriptor for drawn in pool.broken)


def ask(spec: OperatorSpec, descriptor: Descriptor, arrays: Mapping[str, Any], level: str) -> Answer:
    """Check one descriptor and its arrays against the law."""
    resolved = spec.resolve(level)
    assert resolved is not None
    descriptor = list_unclaimed(descriptor)
    failures = explain_at(descriptor, resolved)
    failed = [f for f in failures if not f.unknown]
    rules = tuple(sorted({f.rule for f in failed}))
    try:
        outputs = execute_at(descriptor, arrays, level, max_bytes=MAX_BYTES)
    except InputError as error:
        if not failures and any(words in str(error) for words in _TOO_LARGE):
            return Answer("skipped", str(error))
        if failures:
            return Answer("held")
        if any(is_container(spec.dialect, tensor.type) for _, tensor in descriptor.tensors()):
            return Answer("skipped", str(error))  # no descriptor states the contents of a sequence or an optional
        return Answer("refused", str(error))
    except (NoKernel, NoTable) as error:
        return Answer("skipped", str(error))
    except Exception as error:
        verdict = "rejected" if failed else "undecided" if failures else "accepted"
        return Answer("crash", f"{verdict}: {type(error).__name__}: {error}", rules)
    if not failures:
        wrong = _differs(spec, descriptor, outputs, level)
        if wrong:
            return Answer("differs", wrong)
        observed = accepts(descriptor, level, "observed")
        return Answer("held") if observed is not False else Answer("loose", "builds", ("(builds alone refuse it)",))
    if not failed:
        return Answer("held")
    tight = sorted({f.rule for f in failed if f.structural})
    return Answer("computed", ", ".join(tight), rules) if tight else Answer("loose", "", rules)


def _differs(spec: OperatorSpec, descriptor: Descriptor, outputs: Mapping[str, Any], level: str) -> str:
    """Return how outputs of an accepted descriptor differ from its declaration."""
    for info in spec.layout(level).outputs:
        declared = descriptor.fields.get(info.name)
        if declared is None:
            continue
        if info.name not in outputs:
            return f"{info.name} is not computed"
        tensors = [declared] if isinstance(declared, TensorDesc) else list(declared)
        items = [outputs[info.name]] if isinstance(declared, TensorDesc) else list(outputs[info.name])
        if len(tensors) != len(items):
            return f"{info.name}: {len(items)} tensors for {len(tensors)}"
        for tensor, array in zip(tensors, items, strict=True):
            if is_container(spec.dialect, tensor.type):
                convert_container(array, str(tensor.type), spec.dialect, info.name)
                continue
            if tensor.type is not None and array.dtype != numpy_type(spec.dialect, tensor.type):
                return f"{info.name} is {array.dtype} for {tensor.type}"
            if tensor.concrete and array.shape != tensor.sizes:
                return f"{info.name} is {array.shape} for {tensor.sizes}"
    return ""


def _shown_inputs(spec: OperatorSpec) -> Iterator[tuple[str, TensorDesc, Any]]:
    """Yield the examples' tensors that have elements."""
    for example in spec.table.examples.values():
        try:
            descriptor = read_dict(example["descriptor"], spec.dialect.name)
        except Error:
            continue
        for name, value in example.get("inputs", {}).items():
            tensor = descriptor.fields.get(name)
            if isinstance(tensor, TensorDesc):
                yield name, tensor, value


def _sizes(tensor: TensorDesc) -> tuple[int, ...]:
    return tuple(size for size in tensor.sizes or () if isinstance(size, int))


def _arrays(
    spec: OperatorSpec, descriptor: Descriptor, shown: list[tuple[str, TensorDesc, Any]], random: Random
) -> dict[str, Any]:
    wild = random.randrange(3) == 0

    def inner(word: str) -> NDArray[Any]:
        return _fill(numpy_type(spec.dialect, word), (2, 3), random, wild=wild)

    def make(name: str, tensor: TensorDesc) -> Any:
        if is_container(spec.dialect, tensor.type):
            return make_container(str(tensor.type), spec.dialect, inner, random.randrange(4))
        if tensor.type not in spec.dialect.types:
            raise InputError("no type")
        dtype, shape = numpy_type(spec.dialect, tensor.type), _sizes(tensor)
        items = [tensor.value] if tensor.value is not None and random.randrange(6) else []
        if random.randrange(8):
            items += [value for n, t, value in shown if n == name and (t.type, t.sizes) == (tensor.type, tensor.sizes)]
        for value in items[:1]:
            return as_array(value, dtype, None, name).reshape(shape)
        return _fill(dtype, shape, random, wild=wild)

    entries: dict[str, Any] = {}
    for info in spec.inputs:
        value = descriptor.fields.get(info.name)
        if isinstance(value, TensorDesc):
            try:
                entries[info.name] = make(info.name, value)
            except ValueError:
                raise InputError("a constant of another size") from None
        elif value is not None:
            entries[info.name] = [make(info.name, tensor) for tensor in value]
    for info in spec.attributes:
        contents = descriptor.fields.get(info.name)
        if info.type == "tensor-proto" and isinstance(contents, TensorDesc) and contents.type in spec.dialect.types:
            if contents.value is None:
                raise InputError("an attribute whose elements are not at hand")
            as_array(
                list(contents.value), numpy_type(spec.dialect, contents.type), None, info.name
            )  # refused as an input's
    return entries


def _with_constants(spec: OperatorSpec, descriptor: Descriptor, random: Random) -> Descriptor:
    """Return it with elements for empty tensors in attributes, as files have them."""
    fields = dict(descriptor.fields)
    for info in spec.attributes:
        value = fields.get(info.name)
        if info.type == "tensor-proto" and isinstance(value, TensorDesc) and value.concrete and value.value is None:
            drawn = _fill(numpy_type(spec.dialect, str(value.type)), _sizes(value), random, wild=False)
            fields[info.name] = value._replace(value=tuple(drawn.ravel().tolist()))
    return replace(descriptor, fields=fields)


def _fill(dtype: np.dtype[Any], shape: tuple[int, ...], random: Random, *, wild: bool) -> NDArray[Any]:
    """Small integers, or any values of the type, including special ones."""
    count = prod(shape)
    if dtype.kind == "O":
        flat: NDArray[Any] = np.empty(count, object)
        flat[:] = [random.choice(_TEXTS) for _ in range(count)]
        return flat.reshape(shape)
    with np.errstate(all="ignore"):
        if not wild:
            low = 0 if dtype.kind in "ub" or random.randrange(3) else -3
            return np.array([random.randint(low, 4) for _ in range(count)]).reshape(shape).astype(dtype)
        ends = integer_range(dtype)
        if ends is not None:
            picks = [n for n in (*ends, 0, 1, 2, ends[1] // 2) if n <= ends[1]]
            return np.array([random.choice(picks) for _ in range(count)], dtype).reshape(shape)
        return np.array([random.choice(_SPECIAL) for _ in range(count)]).reshape(shape).astype(dtype)


def _unknown_sizes(spec: OperatorSpec, descriptor: Descriptor) -> Descriptor:
    """Return it without sizes of inputs and outputs, which execution reads from arrays."""
    fields = dict(descriptor.fields)
    for info in (*spec.inputs, *spec.outputs):
        tensor = fields.get(info.name)
        if isinstance(tensor, TensorDesc) and tensor.sizes is not None:
            fields[info.name] = tensor._replace(sizes=(None,) * len(tensor.sizes), strides=None, size_in_bytes=None)
    return replace(descriptor, fields=fields, plain=False)


def _with_elements(spec: OperatorSpec, descriptor: Descriptor, drawn: Mapping[str, Any]) -> Descriptor:
    """Return it with the drawn elements as constants, if rules read any."""
    read = {path.removesuffix(".value") for form in spec.rule_forms for path in form.require.needs if "." in path}
    fields = dict(descriptor.fields)
    for name in read & drawn.keys():
        if isinstance(fields[name], TensorDesc) and isinstance(drawn[name], np.ndarray):
            fields[name] = fields[name]._replace(value=tuple(drawn[name].ravel().tolist()))
    return replace(descriptor, fields=fields, plain=False)
