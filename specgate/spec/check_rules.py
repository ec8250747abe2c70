"""What the checks say that no table holds: of whole files, of the configuration, and of nodes beside their rules."""

from __future__ import annotations

from typing import Final

from specgate.spec.model_rules import rules_of_group

__all__ = ["NODE_RULES", "OWN_RULES", "file_rule"]

OWN_RULES: Final = {
    "no-target": "a file is judged for at least one target of its dialect",
    "nothing-judged": "of a file at least one node is judged",
    "target-idle": "a target judges something in the files that it is given for",
    "ignore-expired": "an ignore holds until its date; after that it silences nothing and is to be removed",
    "ignore-stale": "an ignore silences something; one that matches nothing is to be removed",
    "baseline-stale": "a baseline knows only findings that still occur; otherwise it is to be written again",
}
NODE_RULES: Final = {
    "changed": "what a node uses is the same at the target's version of the operator as at the model's",
    "version": "a node is written for a level that the target has",
    "type-release": "the release that a target names knows a tensor's type",
    "device-capability": "the device reports the capability that a tensor's type needs",
}


def file_rule(rule: str) -> str | None:
    """Return what a check without a table says, by its id (``onnx/model/cycle``); None for any other id."""
    group, _, name = rule.rpartition("/")
    if group == "specgate":
        return OWN_RULES.get(name)
    found = rules_of_group(group).get(name)
    if found is not None or group.endswith("/model"):
        return None if found is None else found[1]
    return NODE_RULES.get(name) if "/" in group else None
