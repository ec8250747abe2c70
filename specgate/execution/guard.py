"""Checks before a kernel runs: element counts, types, ranks and guards."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from weakref import WeakKeyDictionary

from specgate.descriptors.core import TensorDesc, format_value
from specgate.errors import InputError, NoKernel
from specgate.execution.arguments import recipe_of
from specgate.execution.containers import arrays_in
from specgate.execution.kernels import is_carried
from specgate.execution.memory import MAX_DIMENSIONS
from specgate.execution.types import is_narrow
from specgate.rules.evaluate import Context, Undefined, evaluate
from specgate.rules.explain import decisive_parts
from specgate.rules.words import words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from specgate.descriptors.core import Descriptor
    from specgate.spec.fields import FieldInfo
    from specgate.spec.forms import RuleForm
    from specgate.spec.operator_spec import OperatorSpec


def require_counts(descriptor: Descriptor, spec: OperatorSpec, level: str) -> None:
    """Raise InputError where a count attribute differs from an array's length.

    Implementations read as many elements as the count states, whereas kernels read arrays only.
    """
    for name, info in spec.fields.items():
        stated_count = descriptor.fields.get(name)
        if not info.counts or stated_count is None or spec.field_at(name, level) is None:
            continue
        for counted_name in info.counts:
            length = _length(descriptor.fields.get(counted_name))
            if length is not None and stated_count != length:
                raise InputError(
                    f"is {format_value(stated_count)}, but {counted_name} has {length} elements", place=name
                )


def _length(value: Any) -> int | None:
    """Return the number of elements of a field, None if absent or unknown."""
    return len(value) if isinstance(value, list | tuple) else None


#: Accepted tensors, cached per operator and level.
_MAX_CACHED: Final = 1024


class _Guards(NamedTuple):
    """Guards of one operator at one level, and the tensors already accepted."""

    own: tuple[RuleForm, ...]
    shared: tuple[RuleForm, ...]
    read: frozenset[str]
    passed: set[tuple[str, TensorDesc]]


_guards: WeakKeyDictionary[OperatorSpec, dict[str, _Guards]] = WeakKeyDictionary()


def require_rows(descriptor: Descriptor, spec: OperatorSpec) -> None:
    """Raise InputError for a type, rank or value that no table row has.

    This applies to all levels. Raises NoKernel for a type that a row has but the kernel does not implement.
    """
    spec.support_union.require(descriptor)
    for name, missing_types in recipe_of(spec).get("unsupported_types", {}).items():
        for place, tensor in _tensors(name, descriptor.fields.get(name)):
            if tensor.type in missing_types:
                raise NoKernel(f"{spec.name} has no kernel for {place} of {tensor.type}")
    _require_narrow(descriptor, spec)


def _require_narrow(descriptor: Descriptor, spec: OperatorSpec) -> None:
    """Raise NoKernel for arithmetic on narrow-type inputs."""
    recipe, types = recipe_of(spec), spec.dialect.types
    for argument, entry in recipe["arrays"].items():
        if is_carried(recipe["kernel"], argument):
            continue
        for name in entry if isinstance(entry, list) else [entry]:
            for place, tensor in _tensors(name, descriptor.fields.get(name)):
                if tensor.type in types and is_narrow(spec.dialect, tensor.type):
                    raise NoKernel(f"{spec.name} has no kernel for {place} of {tensor.type}")


def require_guards(
    descriptor: Descriptor,
    arrays: Mapping[str, Any],
    spec: OperatorSpec,
    level: str,
    by: str | None = None,
    *,
    builds: bool = False,
) -> None:
    """Raise InputError where a guard fails at `level`.

    Unknown sizes come from `arrays`. Also raises for ranks above the supported maximum and for ranks that no row has.
    builds: omit guards that builds do not enforce, according to the implementation `by`.
    """
    for name, array in arrays.items():
        ranks = [item.ndim for item in arrays_in(array)]
        if max(ranks, default=0) > MAX_DIMENSIONS:
            message = f"has {max(ranks)} dimensions, more than the supported {MAX_DIMENSIONS}"
            raise InputError(message, place=name)
    unranked = {name: array for name, array in arrays.items() if _is_unranked(descriptor.fields.get(name))}
    if unranked:
        ranked = {
            name: _fill_sizes(descriptor.fields[name], array, with_elements=False) for name, array in unranked.items()
        }
        spec.support_union.require(replace(descriptor, fields={**descriptor.fields, **ranked}))
    guards = _find_guards(spec, level)
    if not guards.own and not guards.shared:
        return
    infos = spec.fields_at(level)
    fields = {name: descriptor.fields.get(name, info.default) for name, info in infos.items()}
    for name, array in arrays.items():
        fields[name] = _fill_sizes(fields.get(name), array, with_elements=f"{name}.value" in guards.read)
    if guards.shared:
        for name, value in fields.items():
            for place, tensor in _tensors(name, value):
                _require_tensor(tensor, place, infos[name], guards, spec, level)
    own_guards = guards.own
    if builds and own_guards:
        waived_rules = {name for overlay in spec.overlays if overlay.holds(level, by) for name in overlay.not_enforced}
        own_guards = tuple(form for form in own_guards if form.name not in waived_rules)
    if own_guards:
        _require(own_guards, Context(fields, spec.dialect.limits(level), spec.dialect.bits, spec.scope.defines), None)


def depends_on_arrays(descriptor: Descriptor, spec: OperatorSpec, level: str) -> bool:
    """Return whether guards depend on the arrays.

    They do where they read sizes that the descriptor leaves open, or elements.
    """
    tensors = (tensor for info in spec.inputs for _, tensor in _tensors(info.name, descriptor.fields.get(info.name)))
    paths = _find_guards(spec, level).read
    return any(f"{info.name}.value" in paths for info in spec.inputs) or not all(tensor.concrete for tensor in tensors)


def _require_tensor(
    tensor: TensorDesc, place: str, info: FieldInfo, guards: _Guards, spec: OperatorSpec, level: str
) -> None:
    key = (info.kind, tensor if tensor.value is None else tensor._replace(value=None))
    if key in guards.passed:
        return
    context = Context({"tensor": tensor}, spec.dialect.limits(level), spec.dialect.bits)
    _require([form for form in guards.shared if form.applies_to(info)], context, place)
    if len(guards.passed) < _MAX_CACHED:
        guards.passed.add(key)


def _find_guards(spec: OperatorSpec, level: str) -> _Guards:
    guards = _guards.setdefault(spec, {})
    if level not in guards:
        dialect = spec.dialect
        own_guards = dialect.rules_at(level, [form for form in spec.rule_forms if form.guard], ())
        shared = tuple(form for form in dialect.tensor_rules_at(level, "documented") if form.guard)
        guards[level] = _Guards(
            own_guards, shared, frozenset(path for form in own_guards for path in form.require.needs), set()
        )
    return guards[level]


def _fill_sizes(declared_value: Any, array: Any, *, with_elements: bool) -> Any:
    """Return a tensor with unknown sizes filled in from its array.

    Elements are filled in where rules read them.
    """
    if isinstance(declared_value, TensorDesc):
        if not hasattr(array, "shape"):
            return declared_value
        sized = declared_value if declared_value.concrete else declared_value._replace(sizes=array.shape)
        return sized._replace(value=tuple(array.ravel().tolist())) if with_elements else sized
    if isinstance(declared_value, list | tuple) and isinstance(array, list):
        return [
            _fill_sizes(tensor, item, with_elements=False) for tensor, item in zip(declared_value, array, strict=True)
        ]
    return declared_value


def _is_unranked(value: Any) -> bool:
    return any(tensor.sizes is None for _, tensor in _tensors("", value))


def _tensors(name: str, value: Any) -> Iterator[tuple[str, TensorDesc]]:
    if isinstance(value, TensorDesc):
        yield name, value
    elif isinstance(value, list | tuple):
        yield from ((f"{name}[{i}]", item) for i, item in enumerate(value) if isinstance(item, TensorDesc))


def _require(forms: Iterable[RuleForm], context: Context, place: str | None) -> None:
    for form in forms:
        if _fails(form, context):
            facts = words(decisive_parts(form.require, context), context, {"tensor": place} if place else None)
            raise InputError(f"{form.because or form.require.text}: {facts}", place=place)


def _fails(form: RuleForm, context: Context) -> bool:
    """Return whether a guard is known to fail.

    A guard that cannot be evaluated is left to the kernel.
    """
    try:
        for rule in (form.when, form.require):
            if rule is not None and any(context.absent(path) for path in rule.needs):
                return False
        if form.when is not None and evaluate(form.when, context) is not True:
            return False
        return evaluate(form.require, context) is False
    except Undefined:
        return False
