"""Stubs of constructors: generated from the tables, with enum words as types."""

from __future__ import annotations

import ast
import importlib
import inspect
import shutil
import subprocess
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from specgate import make
from specgate.dialects import BUILT_IN
from specgate.make.factory import annotation
from specgate.spec.tables import dialect
from tests.paths import ROOT
from tools.stubs import stub_text, write_stubs

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.slow
def test_a_type_checker_reads_the_stubs(tmp_path: Path) -> None:
    """A copy of the installed package, whose stubs are generated from today's tables."""
    shutil.copytree(ROOT / "specgate", tmp_path / "specgate", ignore=shutil.ignore_patterns("_specs", "*.pyi"))
    write_stubs(tmp_path / "specgate" / "make")
    (tmp_path / "use.py").write_text(
        "from specgate import make\n"
        "x = make.tensor('FLOAT32', [1, 2])\n"
        "reveal_type(make.onnx.Relu(X=x))\n"
        "make.directml.ACTIVATION_RELU(InputTensor=x)\n"
        "make.openvino.ReLU(nothing=x)\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "mypy", "--config-file=", "--follow-imports=silent", "use.py"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert 'note: Revealed type is "specgate.descriptors.core.Descriptor"' in run.stdout
    errors = [line.partition("error: ")[2] for line in run.stdout.splitlines() if "use.py" in line and "error" in line]
    assert errors == [
        'Missing named argument "OutputTensor" for "ACTIVATION_RELU"  [call-arg]',
        'Unexpected keyword argument "nothing" for "ReLU"  [call-arg]',
    ]


@pytest.mark.parametrize("name", ["directml", "onnx"])
def test_words_are_types(name: str) -> None:
    """Fields with words have exactly these in the stub, under their name there."""
    module = ast.parse(stub_text(name))
    aliases = {
        node.target.id: ast.literal_eval(node.value.slice)
        for node in module.body
        if isinstance(node, ast.AnnAssign)
        and isinstance(node.target, ast.Name)
        and isinstance(node.value, ast.Subscript)
    }
    stated = {
        (node.name, argument.arg): ast.unparse(argument.annotation or ast.Constant(None))
        for node in module.body
        if isinstance(node, ast.FunctionDef)
        for argument in node.args.kwonlyargs
    }
    fields = 0
    for (operator, field), kind in stated.items():
        info = dialect(name).operator(operator).fields[field]
        if not info.words:
            assert "Literal" not in kind
            assert not kind.startswith("_")
            continue
        fields += 1
        words = aliases[kind.removesuffix(" | None").removeprefix("list[").removesuffix("]")]
        assert ((words,) if isinstance(words, str) else words) == info.words
    assert fields > 20


def test_the_modules_can_be_imported() -> None:
    for name in BUILT_IN:
        module = importlib.import_module(f"specgate.make.{name}")
        assert getattr(make, name) is module
        assert find_spec(f"specgate.make.{name}") is module.__spec__
        assert module.__name__ == f"specgate.make.{name}"
        with pytest.raises(AttributeError):
            module.__path__  # noqa: B018
    with pytest.raises(ImportError):
        importlib.import_module("specgate.make.nothing")
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        make.nothing  # noqa: B018


def test_completion_offers_enum_words() -> None:
    info = dialect("directml").operator("CONVOLUTION").fields["Mode"]
    assert annotation(info) == 'Literal["CONVOLUTION", "CROSS_CORRELATION"]'
    assert inspect.signature(make.directml.CONVOLUTION).parameters["Mode"].annotation == annotation(info)


def test_a_nested_operator_is_a_descriptor() -> None:
    info = dialect("directml").operator("CONVOLUTION").fields["FusedActivation"]
    assert annotation(info) == "Descriptor"
    assert annotation(dialect("directml").operator("ELEMENT_WISE_ABS").fields["ScaleBias"]) == "ScaleBias"


@pytest.mark.parametrize("name", BUILT_IN)
def test_docstrings_describe_fields(name: str) -> None:
    """In the stub and at run time, except for line breaks."""
    result = {
        node.name: " ".join((ast.get_docstring(node) or "").split())
        for node in ast.parse(stub_text(name)).body
        if isinstance(node, ast.FunctionDef)
    }
    message = 0
    for operator, text in result.items():
        doc = inspect.getdoc(getattr(getattr(make, name), operator)) or ""
        assert text == " ".join(doc.replace('"', "'").split())
        spec = dialect(name).operator(operator)
        assert doc.startswith(spec.table.summary)
        message += sum(f"{field}: {info.doc}" in doc for field, info in spec.fields.items() if info.doc)
    assert message > 3  # the package states it for few attributes of ONNX
