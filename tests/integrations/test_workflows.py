"""The workflows name parts, extras and files that exist."""

from __future__ import annotations

import re
import tomllib

import pytest
import yaml

from tests.paths import ROOT

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_there_is_a_nightly_run():
    assert "nightly" in [path.stem for path in WORKFLOWS]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_what_a_workflow_names_is_there(path):
    jobs = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]
    steps = [step for job in jobs.values() for step in job["steps"]]
    texts = [step["run"] for step in steps if "run" in step]
    extras = {extra for text in texts for found in re.findall(r"\.\[(.*?)\]", text) for extra in found.split(",")}
    assert extras <= PROJECT["project"]["optional-dependencies"].keys()
    files = [word for text in texts if "pytest" in text for word in text.split() if word.startswith("tests/")]
    assert all((ROOT / file).exists() for file in files)
    assert texts
    assert all("uses" in step or "run" in step for step in steps)


def test_the_nightly_run_takes_every_module_that_mutmut_changes():
    parts = yaml.safe_load((ROOT / ".github/workflows/nightly.yml").read_text(encoding="utf-8"))["jobs"]["mutants"]
    named = parts["strategy"]["matrix"]["part"]
    changed = PROJECT["tool"]["mutmut"]["only_mutate"]
    assert sorted(named) == sorted(re.sub(r"^specgate/|(/\*)?\.py$", "", pattern) for pattern in changed)
