"""Error codes, however they are spelled."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specgate.cli import main
from specgate.codes import explain_codes
from specgate.errors import InputError
from specgate.spec.tables import dialect

CODES = dialect("directml").tables.codes
LOG = (
    r"D:\a\_work\1\s\onnxruntime\core\providers\dml\ExecutionProvider.cpp(962)\onnxruntime_pybind11_state.pyd"
    r"!00007FFABA30B0B1: (caller: 00007FFABA30B740) Exception(3) tid(5a68) {} Someone wrote this line in another language."
)
INVALID = [
    "0x80070057", "0X80070057", "80070057", "0x80070057L", "-2147024809", "2147942487", "  80070057 ", "hr=0x80070057",
    "The parameter is incorrect.", "the parameter is incorrect", "parameter is incorrect", LOG.format("80070057"),
    "RuntimeError: The parameter is incorrect.\n",
]  # fmt: skip


@pytest.mark.parametrize("text", INVALID)
def test_every_spelling_of_a_code(text: str) -> None:
    assert [(result.code, result.name) for result in explain_codes(text)] == [("0x80070057", "E_INVALIDARG")]


@pytest.mark.parametrize("code", CODES)
def test_every_code_by_its_number(code: str) -> None:
    number = int(code, 16)
    for text in (
        code,
        code.lower(),
        code[2:],
        code[2:].lower(),
        str(number),
        str(number - 2**32),
        LOG.format(code[2:]),
    ):
        assert code in [result.code for result in explain_codes(text)], text


@pytest.mark.parametrize(("code", "entry"), CODES.items(), ids=CODES)
def test_every_code_by_its_name_and_message(code: str, entry: dict[str, list[str]]) -> None:
    name = str(entry["name"]).split()[0]
    for text in (name, name.lower(), f"CreateOperator returned {name}.", *entry.get("texts", [])):
        assert code in [result.code for result in explain_codes(text)], text


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("hung", ["DXGI_ERROR_DEVICE_HUNG"]),
        ("device_re", ["DXGI_ERROR_DEVICE_REMOVED", "DXGI_ERROR_DEVICE_RESET"]),
        ("887A0005 then 887A0006", ["DXGI_ERROR_DEVICE_REMOVED", "DXGI_ERROR_DEVICE_HUNG"]),
    ],
)
def test_several_codes(text: str, names: list[str]) -> None:
    assert [result.name for result in explain_codes(text)] == names


@pytest.mark.parametrize("text", ["", "   ", "x" * 200_000])
def test_no_text_to_look_at(text: str) -> None:
    with pytest.raises(InputError, match="expected an error code such as 0x80070057"):
        explain_codes(text)


@pytest.mark.parametrize("text", ["0x1234", "E_NOPE", "00007FFABA30B0B1", "12345678", "all is well", "-99999999999999"])
def test_text_without_a_known_code(text: str) -> None:
    with pytest.raises(InputError, match="no known error code in"):
        explain_codes(text)


def test_unknown_code_with_a_similar_name() -> None:
    with pytest.raises(InputError) as raised:
        explain_codes("E_NOTIMPLEMENTED")
    assert str(raised.value) == "no known error code in 'E_NOTIMPLEMENTED'; did you mean E_NOTIMPL?"


def test_known_codes_are_listed_one_per_line() -> None:
    with pytest.raises(InputError) as raised:
        explain_codes("all is well")
    first, *codes = str(raised.value).splitlines()
    assert first == "no known error code in 'all is well'. Known codes:"
    assert codes == [f"  {code} {entry['name']}" for code, entry in CODES.items()]


@given(st.text(max_size=60))
def test_any_text_is_explained_or_rejected(text: str) -> None:
    try:
        assert explain_codes(text)
    except InputError as error:
        assert str(error)


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "The", "parameter", "is", "incorrect."]) == 0
    assert capsys.readouterr().out.startswith("0x80070057 E_INVALIDARG (DirectML)\n")
    assert main(["explain", "-2147024809", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["code"] == "0x80070057"
    assert main(["explain", "nothing of the kind"]) == 2


def test_sources_are_named() -> None:
    items = {source["name"] for source in dialect("directml").tables.entries["codes"]["sources"]}
    assert {entry["source"] for entry in CODES.values()} <= items
