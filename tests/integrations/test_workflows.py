"""Workflows name existing parts, extras and files, with minimal permissions."""

from __future__ import annotations

import re
import tomllib

import pytest
import yaml

from tests.paths import ROOT

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_a_nightly_workflow_exists():
    assert "nightly" in [path.stem for path in WORKFLOWS]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_files_and_extras_of_workflows_exist(path):
    jobs = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]
    called = [job["uses"] for job in jobs.values() if "uses" in job]
    assert all((ROOT / name).is_file() for name in called)
    steps = [step for job in jobs.values() for step in job.get("steps", [])]
    texts = [step["run"] for step in steps if "run" in step]
    extras = {extra for text in texts for result in re.findall(r"\.\[(.*?)\]", text) for extra in result.split(",")}
    assert extras <= PROJECT["project"]["optional-dependencies"].keys()
    files = [word for text in texts if "pytest" in text for word in text.split() if word.startswith("tests/")]
    files += [word for text in texts for word in text.split() if word.startswith(("tests/", ".ci/"))]
    assert all((ROOT / file).exists() for file in files)
    assert texts
    assert all("uses" in step or "run" in step for step in steps)


def test_nightly_mutants_cover_every_mutated_module():
    parts = yaml.safe_load((ROOT / ".github/workflows/nightly.yml").read_text(encoding="utf-8"))["jobs"]["mutants"]
    named = parts["strategy"]["matrix"]["part"]
    changed = PROJECT["tool"]["mutmut"]["only_mutate"]
    assert sorted(named) == sorted(re.sub(r"^specgate/|(/\*)?\.py$", "", pattern) for pattern in changed)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_third_party_actions_are_pinned_to_commented_commits(path):
    for line in path.read_text(encoding="utf-8").splitlines():
        if "uses:" in line and "uses: ./" not in line:
            assert re.fullmatch(r"\s+(- )?uses: [\w.-]+/[\w.-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+", line), line


def test_each_action_has_the_same_version_in_all_workflows():
    lines = [line for path in WORKFLOWS for line in path.read_text(encoding="utf-8").splitlines() if "uses:" in line]
    result = {line.strip().removeprefix("- ") for line in lines}
    names = [line.partition("@")[0] for line in result]
    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_write_permissions_have_a_reason(path):
    text = path.read_text(encoding="utf-8")
    assert yaml.safe_load(text)["permissions"] == {"contents": "read"}
    more = [line for line in text.splitlines() if re.search(r": write\b", line)]
    assert all("  # " in line or "attestations: write" in line for line in more)
    assert bool(more) == (path.stem in ("docs", "release"))
    assert "secrets." not in text


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_scripts_get_event_data_through_variables_only(path):
    jobs = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]
    texts = [step["run"] for job in jobs.values() for step in job.get("steps", []) if "run" in step]
    assert not [text for text in texts if "${{" in text]


def test_every_supported_python_is_tested():
    classifiers = PROJECT["project"]["classifiers"]
    promised = [line.rpartition(" ")[2] for line in classifiers if re.search(r":: 3\.\d+$", line)]
    jobs = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"))["jobs"]
    assert jobs["linux"]["strategy"]["matrix"]["python"] == promised
    assert jobs["others"]["strategy"]["matrix"]["python"] == [promised[0], promised[-1]]
    assert PROJECT["project"]["requires-python"] == f">={promised[0]}"
