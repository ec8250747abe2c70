"""Every engine gives the answers in specs/logic.yaml.

These are the evaluator, the explaining path, and the compiled checkers.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from specgate.descriptors.core import Descriptor, TensorDesc, tensor
from specgate.dialects.directml.vocabulary import ScaleBias, Size2D
from specgate.rules.compile import compile_resolved
from specgate.rules.evaluate import UNKNOWN, Context, Undefined, evaluate
from specgate.spec.build import dialect_files
from specgate.spec.yamlio import load_yaml
from specgate.validate.row import explain_at
from tests.paths import SPECS

if TYPE_CHECKING:
    from collections.abc import Callable

    from specgate.spec.operator_spec import OperatorSpec

LOGIC = load_yaml((SPECS / "logic.yaml").read_text(encoding="utf-8"), "logic.yaml")[0]
CASES = [pytest.param(case, id=f"{case['in']}: {case['expression']}") for case in LOGIC["cases"]]
ANSWERS = {True: True, False: False, "unknown": UNKNOWN, "broken": Undefined, "not-applicable": None}


def read_context(context: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the field specs and the descriptor's values that a context describes."""
    specs: dict[str, Any] = {}
    values: dict[str, Any] = {}
    for name, raw in context["fields"].items():
        specs[name] = {
            "kind": "input" if "attribute" not in raw else "attribute",
            "type": raw.get("attribute", "tensor[]" if "tensors" in raw else "tensor"),
        }
        specs[name].update({key: raw[key] for key in ("optional", "default") if key in raw})
        if not raw.get("given", True):
            continue
        if "attribute" in raw:
            values[name] = read_attribute(raw["attribute"], raw["value"])
        elif "tensors" in raw:
            values[name] = [read_tensor(each) for each in raw["tensors"]]
        else:
            values[name] = read_tensor(raw)
    return specs, values


def read_attribute(kind: str, value: Any) -> Any:
    """Return an attribute's value; operators here have no fields."""
    match kind:
        case "size-2d":
            return Size2D(**value)
        case "scale-bias":
            return ScaleBias(**value)
        case "operator":
            return Descriptor("scratch", value, {})
        case "operator[]":
            return [Descriptor("scratch", name, {}) for name in value]
    return value


def read_tensor(raw: dict[str, Any]) -> TensorDesc:
    value = raw.get("value")
    return tensor(
        raw["type"],
        raw["sizes"],
        strides=raw.get("strides"),
        size_in_bytes=raw.get("size"),
        alignment=raw.get("alignment"),
        flags=raw.get("flags"),
        value=value if value is None or isinstance(value, list) else [value],
    )


@pytest.fixture
def case_spec(make_spec: Callable[..., OperatorSpec]) -> Callable[[dict[str, Any]], tuple[OperatorSpec, Descriptor]]:
    def make(case: dict[str, Any]) -> tuple[OperatorSpec, Descriptor]:
        context = LOGIC["contexts"][case["in"]]
        fields, values = read_context(context)
        spec = make_spec(fields, {"case": case["expression"]}, limits=context["limits"], define=context["define"])
        for value in values.values():
            for fused in value if isinstance(value, list) else [value]:
                if isinstance(fused, Descriptor):
                    own = {"operator": fused.operator, "fields": {}, "support": {"1.0": {}}}
                    spec.dialect.tables.operators[fused.operator] = own
        return spec, Descriptor("scratch", "SCRATCH", values)

    return make


def judge(spec: OperatorSpec, descriptor: Descriptor) -> Any:
    """Answer as in the file: None if the rule does not apply, Undefined without a value."""
    fields = {name: descriptor.fields.get(name, info.default) for name, info in spec.fields.items()}
    context = Context(fields, spec.dialect.limits("3.0"), spec.dialect.bits, spec.scope.defines)
    rule = spec.rule_forms[0].require
    if any(context.absent(path) for path in rule.needs):
        return None
    try:
        return evaluate(rule, context)
    except Undefined:
        return Undefined


@pytest.mark.parametrize("case", CASES)
def test_evaluator_agrees_with_the_file(case, case_spec) -> None:
    assert judge(*case_spec(case)) is ANSWERS[case["answer"]]


@pytest.mark.parametrize("case", CASES)
def test_explaining_path_agrees_with_the_file(case, case_spec) -> None:
    spec, descriptor = case_spec(case)
    resolved = spec.resolve("3.0")
    assert resolved is not None
    failures = explain_at(descriptor, resolved)
    expected = {True: [], "not-applicable": [], False: [False], "broken": [False], "unknown": [True]}
    assert [failure.unknown for failure in failures] == expected[case["answer"]]


@pytest.mark.slow
@pytest.mark.parametrize("case", [c for c in CASES if c.values[0]["in"] == "known"])  # type: ignore[index]
def test_compiled_path_agrees_with_the_file(case, case_spec) -> None:
    spec, descriptor = case_spec(case)
    assert descriptor.plain
    resolved = spec.resolve("3.0")
    assert resolved is not None
    assert compile_resolved(resolved)(descriptor.fields) is (case["answer"] in {True, "not-applicable"})


def test_file_has_unique_cases_of_each_answer() -> None:
    keys = Counter((case["in"], case["expression"]) for case in LOGIC["cases"])
    assert [key for key, count in keys.items() if count > 1] == []
    assert all({"in", "expression", "answer"} == set(case) for case in LOGIC["cases"])
    answers = Counter(str(case["answer"]) for case in LOGIC["cases"])
    assert set(answers) == {"True", "False", "unknown", "broken", "not-applicable"}
    assert min(answers.values()) >= 8
    assert sum(answers.values()) >= 80


def test_file_is_rejected_for_a_dialects() -> None:
    assert not any(
        path.name == "logic.yaml" for d in ("directml", "onnx", "openvino") for path in dialect_files(SPECS / d)
    )
