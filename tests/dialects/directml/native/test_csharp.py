"""The C# file, compiled and run on operators, graphs and corrupt memory."""

from __future__ import annotations

import json
import random
import shutil
import struct
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import specgate
from specgate.cli import main
from specgate.dialects.directml.native.abi import abi
from specgate.dialects.directml.native.csharp import csharp_source
from specgate.dialects.directml.native.marshal import Image, image
from specgate.dialects.directml.native.pointer import from_pointer, graph_from_pointer
from specgate.dialects.directml.native.unmarshal import describe_image
from specgate.errors import InputError
from tests.dialects.directml.native.graphs import GRAPH
from tests.dialects.directml.native.loaded import Loaded, descriptions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

NONE = Image(b"", (), 0)
Question = tuple[str, int, Image]


@pytest.fixture(scope="module")
def print_with_csharp(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Sequence[Question]], list[Any]]:
    """Compile the file once; return a function that runs the program on images."""
    if shutil.which("mcs") is None or shutil.which("mono") is None:
        pytest.skip("no C# compiler is installed: apt-get install mono-mcs")
    folder = tmp_path_factory.mktemp("csharp")
    (folder / "SpecgateDml.cs").write_text(csharp_source(), encoding="utf-8")
    command = ["mcs", "-langversion:5", "-warn:4", "-warnaserror", "-out:reads.exe", "SpecgateDml.cs"]
    subprocess.run([*command, Path(__file__).with_name("Reads.cs")], cwd=folder, check=True, timeout=120)

    def run(questions: Sequence[Question]) -> list[Any]:
        with (folder / "images.bin").open("wb") as file:
            for kind, number, result in questions:
                assert result.root == 0
                file.write(struct.pack("<cqii", kind.encode(), number, len(result.data), len(result.pointers)))
                file.write(result.data + struct.pack(f"<{len(result.pointers)}i", *result.pointers))
        command = ["mono", "reads.exe", "images.bin"]
        done = subprocess.run(command, cwd=folder, check=True, timeout=240, capture_output=True, text=True)
        lines = done.stdout.splitlines()
        assert len(lines) == len(questions)
        return [json.loads(line, parse_constant=pytest.fail) for line in lines]

    return run


def verdict_of(descriptor: dict[str, Any], level: str) -> tuple[bool | None, list[str]]:
    verdict = specgate.check(descriptor, f"directml:{level}")
    return verdict.accepted, sorted(finding.id for finding in verdict.findings)


@pytest.mark.timeout(300)
def test_every_structure_prints_its_descriptor(print_with_csharp):
    result = print_with_csharp([("o", 0, image(descriptor)) for _, descriptor, _ in descriptions()])
    assert len(result) > 1000
    for (name, descriptor, level), json_of_it in zip(descriptions(), result, strict=True):
        assert json_of_it == describe_image(image(descriptor)), name
        assert verdict_of(json_of_it, level) == verdict_of(descriptor, level), name


@pytest.mark.timeout(300)
def test_corrupt_memory_prints_as_in_python_or_as_unreadable(print_with_csharp):
    pick = random.Random(7)
    outcome = []
    for _, descriptor, _ in pick.choices(descriptions(), k=600):
        item = image(descriptor)
        data, pointers = bytearray(item.data), set(item.pointers)
        for _ in range(pick.randint(1, 3)):
            at = 4 * pick.randrange(len(data) // 4)
            pointers -= {at, at - 4}
            struct.pack_into("<I", data, at, pick.choice([0, 2**31, 2**32 - 1]))
            if at - at % 8 in item.pointers:  # otherwise half of it would be an offset, which becomes an address
                struct.pack_into("<I", data, at ^ 4, 0)
        outcome.append(Image(bytes(data), tuple(sorted(pointers)), 0))
    refused = 0
    for item, result in zip(outcome, print_with_csharp([("o", 0, item) for item in outcome]), strict=True):
        try:
            describe_image(item)
        except InputError:
            continue  # memory after the image belongs to another program, so the result must only be valid JSON
        loaded = Loaded(item)
        try:
            assert result == from_pointer(loaded.address)
        except InputError:
            refused += 1
            assert '"unreadable: ' in json.dumps(result)
    assert refused > 50


def test_operator_type_and_structure_passed_separately(print_with_csharp):
    images = [image(descriptor) for _, descriptor, _ in descriptions()[::50]]
    assert print_with_csharp([("t", 0, item) for item in images]) == [describe_image(item) for item in images]


def test_unmapped_addresses_are_reported(print_with_csharp):
    addresses = [0, 8, -8, 2**63 - 1]
    result = print_with_csharp([("a", address, NONE) for address in addresses])
    messages = ["a null pointer", "0x8", "0xfffffffffffffff8", "0x7fffffffffffffff"]
    assert result == [{"type": f"unreadable: {each}", "desc": {}} for each in messages]
    graphs = print_with_csharp([("b", address, NONE) for address in addresses])
    assert [graph["dispatchables"]["graph"]["desc"] for graph in graphs] == [f"unreadable: {each}" for each in messages]


def test_check_names_unreadable_parts(print_with_csharp, tmp_path, capsys):
    new_image = image(descriptions("ONE_HOT")[0][1])
    offset = 16 + next(m.offset for m in abi().structure("ONE_HOT").members if m.name == "ValuesTensor")
    data = bytearray(new_image.data)
    struct.pack_into("<Q", data, offset, 0x10)
    (result,) = print_with_csharp([("o", 0, Image(bytes(data), tuple(set(new_image.pointers) - {offset}), 0))])
    assert result["desc"]["ValuesTensor"] == "unreadable: 0x10"
    (tmp_path / "d.json").write_text(json.dumps(result))
    assert main(["check", str(tmp_path / "d.json")]) == 2
    assert "ValuesTensor: expected a tensor description, found 'unreadable: 0x10'" in capsys.readouterr().err


def test_graph_prints_like_the_python_reader(print_with_csharp):
    operator = image(descriptions("ONE_HOT")[0][1])
    result = print_with_csharp([("r", 0x1000, operator), ("g", 0, GRAPH), ("f", 0x1000, NONE), ("g", 0, GRAPH)])
    loaded = Loaded(GRAPH)
    assert result[1] == graph_from_pointer(loaded.address, {0x1000: describe_image(operator)})
    assert result[3] == graph_from_pointer(loaded.address)


@pytest.mark.timeout(300)
def test_corrupt_graph_prints_as_in_python_or_as_unreadable(print_with_csharp):
    pick = random.Random(8)
    outcome = []
    for _ in range(100):
        data, pointers = bytearray(GRAPH.data), set(GRAPH.pointers)
        at = pick.choice(GRAPH.pointers)
        pointers.discard(at)
        struct.pack_into("<Q", data, at, pick.choice([0, 1, 7, 0x1000, 2**63]))
        outcome.append(Image(bytes(data), tuple(sorted(pointers)), 0))
    refused = 0
    for item, result in zip(outcome, print_with_csharp([("g", 0, item) for item in outcome]), strict=True):
        loaded = Loaded(item)
        try:
            assert result == graph_from_pointer(loaded.address)
        except InputError:
            refused += 1
            assert '"unreadable: ' in json.dumps(result)
    assert refused > 20


def test_the_command_writes_the_file(tmp_path, capsys):
    assert main(["export", "csharp", "-o", str(tmp_path / "SpecgateDml.cs")]) == 0
    assert (tmp_path / "SpecgateDml.cs").read_text(encoding="utf-8") == csharp_source()
    assert capsys.readouterr().out == f"{tmp_path / 'SpecgateDml.cs'} written\n"
    assert main(["export", "csharp"]) == 0
    assert capsys.readouterr().out == csharp_source()
    assert "@" not in csharp_source()


def test_other_dialects_have_no_structures(capsys):
    assert main(["export", "csharp", "--dialect", "onnx"]) == 2
    assert "onnx has no structures" in capsys.readouterr().err
