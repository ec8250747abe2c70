"""Any changed rule or row of a table makes an independent check fail.

The checks: the vendors' examples and the counterexamples, the executor (laws 1 and 2), the installed ``onnx.defs``, and
an independent transcription of the support tables.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

from specgate.descriptors.read import read_dict
from specgate.errors import Error, InputError, NoKernel
from specgate.execution.engine import execute_at
from specgate.generate.near_misses import broken_descriptors
from specgate.generate.walk import valid_descriptors
from specgate.spec import tables
from specgate.spec.lint import change_paths, example_problems
from specgate.testing.strategies import arrays
from specgate.validate import check
from specgate.validate.check import check_at
from tests.mutation.expected_boundaries import BOUNDARIES
from tests.mutation.expected_support import EXPECTED
from tests.mutation.mutants import mutants
from tests.properties.support import shown_operators

if TYPE_CHECKING:
    from collections.abc import Iterator

    from specgate.spec.dialect_spec import Dialect
    from specgate.spec.operator_spec import OperatorSpec

#: Mutants equivalent to the original table, with the reason.
_D = "depth.sizes[0] == 1"
EQUIVALENT = {
    "rule axis-size-one[0] is IndicesTensor.sizes[Axis] <= 1": "a size of 0 is refused by tensor/sizes-not-zero",
    "rule axis-range[1] since 10": "at 10 the older form holds too, and it is the narrower one",
    f"rule depth-one-element[0] is rank(depth) <= 0 or (rank(depth) == 1 and {_D})": "no rank is below 0",
    f"rule depth-one-element[0] is rank(depth) == 0 or (rank(depth) <= 1 and {_D})": "rank 0 is taken before",
    "rule output-sizes[0] is all((output.sizes[d] == indices.sizes[d if d <= new_axis else d - 1] "
    "for d in dims(output) if d != new_axis))": "d is never new_axis",
    "rule alignment[0] is tensor.GuaranteedBaseOffsetAlignment <= 0 or (power_of_two("
    "tensor.GuaranteedBaseOffsetAlignment) and tensor.GuaranteedBaseOffsetAlignment * 8 >= bits(tensor))": "it is unsigned",
    "rule alignment[0] is tensor.GuaranteedBaseOffsetAlignment == 0 or (power_of_two("
    "tensor.GuaranteedBaseOffsetAlignment) and tensor.GuaranteedBaseOffsetAlignment * 9 >= bits(tensor))": "of powers of "
    "two, 9 times reaches no width that 8 times does not",
}


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Iterator[object]:
    """Replace the real dialect by a mutated one."""

    def put(table: Dialect) -> None:
        monkeypatch.setitem(tables._dialects, table.name, table)
        check.clear_caches()

    yield put
    check.clear_caches()


def transcription(spec: OperatorSpec) -> str | None:
    """Compare support rows with the transcription, or with onnx.defs."""
    expected = EXPECTED.get((spec.dialect.name, spec.name))
    if expected is None:
        return onnx_definitions(spec) if spec.dialect.name == "onnx" else None
    if list(spec.table.only_rows) != list(expected):
        return "rows"
    for level, row in expected.items():
        for name, (ranks, types) in row.items():
            cell = spec.table.only_rows[level].get(name, {})
            result = cell.get("types")
            expected_value = types.split() if types else None
            if (sorted(result) if isinstance(result, list) else None) != (
                sorted(expected_value) if expected_value else None
            ):
                return f"{level} {name} types"
            if cell.get("ranks") != (list(ranks) if ranks else None):
                return f"{level} {name} ranks"
    return None


def onnx_definitions(spec: OperatorSpec) -> str | None:
    """Compare with the types of each version in the installed onnx package."""
    onnx = pytest.importorskip(
        "onnx", reason="THE ONNX ROWS ARE NOT MUTATED: pip install onnx (it is in the test extra)"
    )
    spelled = {info["tensor"]: name for name, info in spec.dialect.types.items()}
    schemas = {
        str(s.since_version): s
        for s in onnx.defs.get_all_schemas_with_history()
        if (s.domain, s.name) == ("", spec.name)
    }
    if sorted(schemas, key=int) != list(spec.table.only_rows):
        return "rows"
    for level, schema in schemas.items():
        sets = {t.type_param_str: {spelled[text] for text in t.allowed_type_strs} for t in schema.type_constraints}
        for formal in (*schema.inputs, *schema.outputs):
            cell = spec.table.only_rows[level].get(formal.name, {})
            if set(cell.get("types", ())) != sets[formal.type_str]:
                return f"{level} {formal.name} types"
    return None


def boundaries(spec: OperatorSpec) -> str | None:
    """Compare verdicts around each rule's limit with those worked out by hand."""
    for owner, example, changes, level, ids in BOUNDARIES:
        if owner != (spec.dialect.name, spec.name):
            continue
        data = change_paths(
            spec.table.examples[example]["descriptor"], {k: v for k, v in changes.items() if k != "outputs"}
        )
        if "outputs" in changes:
            data["outputs"] = changes["outputs"]
        verdict = check_at(read_dict(data, spec.dialect.name), level, "documented")
        names = {finding.id for finding in verdict.findings}
        if names != ids or (verdict.accepted is True) != (not ids):
            return f"{changes} at {level}: expected {sorted(ids)}, found {sorted(names)}"
    return None


def laws(spec: OperatorSpec) -> str | None:
    """Laws 1 and 2 on a few seeded descriptors at each row's first level and the newest."""
    for level in dict.fromkeys([*spec.rows, *list(spec.levels)[-1:]]):
        if level not in spec.levels:
            continue
        pick = Random(7).randint
        valid = valid_descriptors(spec, level)
        for _ in range(12):
            descriptor = valid.draw(pick)
            if executes(descriptor, level) is not False:
                continue
            return f"law 1 at {level}"
        broken = broken_descriptors(spec, level)
        resolved = spec.resolve(level)
        assert resolved is not None
        structural = {
            f"{spec.dialect.name}/{'tensor' if f.scope == 'tensor' else spec.name}/{f.name}"
            for f in (*resolved.rules, *resolved.tensor_rules)
            if f.structural
        }
        for breaks in structural & set(broken.aims):
            for _ in range(2):
                wrong = broken.draw(breaks, pick)
                if wrong is not None and executes(wrong.descriptor, level):
                    return f"law 2 at {level}: {breaks}"
    return None


def executes(descriptor, level: str) -> bool | None:
    """Return whether the executor computes it; None without arrays for it."""
    from hypothesis.errors import NonInteractiveExampleWarning

    try:
        with pytest.warns(NonInteractiveExampleWarning):
            arrays_by_name = arrays(descriptor, level).example()
    except (Error, pytest.fail.Exception):
        return None
    try:
        execute_at(descriptor, arrays_by_name, level, max_bytes=2**24)
    except InputError:
        return False
    except NoKernel:
        return None
    return True


def killer(spec: OperatorSpec) -> str | None:
    """Return the check that detects the wrong table, the cheapest first."""
    try:
        text = transcription(spec)
        if text is not None:
            return f"transcription: {text}"
        problem = next(example_problems(spec), None)
        if problem is not None:
            return f"examples: {problem}"
        missed = boundaries(spec)
        return f"boundaries: {missed}" if missed is not None else laws(spec)
    except (Error, ValueError) as error:  # the table does not load, or leaves no valid descriptor
        return f"tables: {error}"


#: Operators with transcribed rows and limits; OneHot of ONNX and OpenVINO has further checks.
TESTIFIED = [key for key in shown_operators() if key in EXPECTED or key[1] == "OneHot"]


@pytest.mark.slow
def test_every_listed_equivalent_mutant_exists() -> None:
    names = {name for dialect, operator in TESTIFIED for name, _ in mutants(tables.dialect(dialect), operator)}
    assert set(EQUIVALENT) <= names


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("dialect", "operator"), TESTIFIED, ids=str)
def test_no_mutant_survives(dialect: str, operator: str, use) -> None:
    table = tables.dialect(dialect)
    assert killer(table.operator(operator)) is None
    survivors, count = [], 0
    for name, mutant in mutants(table, operator):
        count += 1
        use(mutant)
        if name not in EQUIVALENT and killer(mutant.operator(operator)) is None:
            survivors.append(name)
    assert survivors == [], f"{len(survivors)} of {count} mutants survived"
