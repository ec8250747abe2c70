from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings

from specgate.conform.render.shared import render
from specgate.conform.result import KINDS, SCHEMA_VERSION
from tests.conform.samples import EMPTY, results, sample

SCHEMA = json.loads(files("specgate.conform.render").joinpath("conform.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def objects(schema: dict[str, Any]) -> list[dict[str, Any]]:
    return [schema, *(part for part in schema["$defs"].values() if "properties" in part)]


def test_schema_is_valid_and_requires_every_property():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["properties"]["schema"]["const"] == SCHEMA_VERSION
    assert SCHEMA["$defs"]["difference"]["properties"]["kind"]["enum"] == list(KINDS)
    for part in objects(SCHEMA):
        assert part["required"] == list(part["properties"])


def test_result_is_rendered_unchanged():
    data = json.loads(render(sample()))
    assert data == json.loads(json.dumps(sample().as_dict()))
    assert data["unexplained"] == 11


def test_every_member_is_described():
    data = json.loads(render(sample()))
    parts = SCHEMA["$defs"]
    assert set(data) == set(SCHEMA["properties"])
    for name, part in (("tallies", "tally"), ("differences", "difference"), ("rules", "rule"), ("values", "values")):
        assert set(data[name][0]) == set(parts[part]["properties"])


def test_an_empty_campaign_is_valid():
    VALIDATOR.validate(json.loads(render(EMPTY)))


@pytest.mark.parametrize("member", ["kind", "descriptor", "count"])
def test_the_schema_rejects_a_difference_without(member):
    data = json.loads(render(sample()))
    del data["values"][1]["differing"][0][member]
    with pytest.raises(jsonschema.ValidationError, match=member):
        VALIDATOR.validate(data)


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(results)
def test_json_is_valid_ascii_for_any_output_of_implementations(result):
    text = render(result)
    assert text.isascii()
    assert text.replace("\n", "").isprintable()
    assert "##" not in text
    data = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    VALIDATOR.validate(data)
    json.dumps(data, ensure_ascii=False).encode("utf-8")  # no lone surrogate is left
    assert [d["count"] for d in data["differences"]] == [d.count for d in result.differences]
