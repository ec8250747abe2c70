"""The table of structures is complete, consistent, and laid out as by a C compiler."""

from __future__ import annotations

import pytest

from specgate.dialects.directml.native import abi as abi_module
from specgate.dialects.directml.native.abi import abi, parse_kind
from specgate.errors import InputError, NoTable
from specgate.spec.tables import dialect

STRUCTURES = [abi().structure(name) for name in abi().operators]


def test_every_operator_occurs_once_in_numeric_order():
    assert [structure.number for structure in STRUCTURES] == list(range(1, 178))
    assert len({structure.name for structure in STRUCTURES}) == 177


def test_operator_numbers_increase_with_the_feature_level():
    levels = dialect("directml").levels
    positions = [levels.index(structure.since) for structure in STRUCTURES]
    assert positions == sorted(positions)


def test_members_reference_existing_members():
    for structure in STRUCTURES:
        members = {member.name: member for member in structure.members}
        assert any(member.base == "output" for member in structure.members), structure.name
        for member in structure.members:
            where = (structure.name, member.name)
            if member.count is not None:
                assert members[member.count].base == "uint", where
                assert member.name in members[member.count].counts, where
            if member.base == "enum":
                assert member.of in abi().enums, where
            if member.base == "scalar":
                assert members[str(member.of)].of == "TENSOR_DATA_TYPE", where
            assert not member.optional or member.pointer, where


def test_members_do_not_overlap_and_are_aligned():
    for structure in STRUCTURES:
        end = 0
        for member in structure.members:
            wide = member.pointer or member.base == "scalar"
            assert member.offset >= end, (structure.name, member.name)
            assert member.offset % (8 if wide else 4) == 0, (structure.name, member.name)
            end = member.offset + (8 if wide or member.base == "size-2d" else 4)
        assert 0 <= structure.size - end < 8, structure.name


@pytest.mark.parametrize(
    ("operator", "size", "offsets"),  # as a C++ compiler lays out the structures of DirectML.h
    [
        ("ONE_HOT", 32, {"Axis": 24}),
        ("LSTM", 120, {"ActivationDescCount": 88, "ActivationDescs": 96, "Direction": 104, "CoupleInputForget": 116}),
        ("UPSAMPLE_2D", 32, {"ScaleSize": 16, "InterpolationMode": 24}),
        ("FILL_VALUE_SEQUENCE", 32, {"ValueDataType": 8, "ValueStart": 16, "ValueDelta": 24}),
        ("JOIN", 32, {"InputCount": 0, "InputTensors": 8, "OutputTensor": 16, "Axis": 24}),
    ],
)
def test_layouts_that_were_measured(operator, size, offsets):
    structure = abi().structure(operator)
    assert structure.size == size
    assert {m.name: m.offset for m in structure.members if m.name in offsets} == offsets


def test_type_numbers_match_the_tables():
    types = dialect("directml").types
    assert {k: v for k, v in abi().enums["TENSOR_DATA_TYPE"].items() if v} == {k: v["value"] for k, v in types.items()}


def test_operators_are_found_by_long_name_and_alias():
    assert abi().structure("DML_OPERATOR_ONE_HOT") is abi().structure("ONE_HOT")
    assert abi().structure("SCATTER_ELEMENTS") is abi().structure("SCATTER")


def test_an_unknown_operator_has_no_table():
    with pytest.raises(NoTable, match="no operator 'ONE_COLD'"):
        abi().structure("ONE_COLD")


@pytest.mark.parametrize("text", ["", "unit", "uint[", "uint?[N]", "enum:", "uint[N]x"])
def test_a_misspelt_kind_is_rejected(text):
    with pytest.raises(ValueError, match="unknown kind"):
        parse_kind(text)


def test_kinds_are_parsed():
    assert parse_kind("uint[DimensionCount]?") == ("uint", None, "DimensionCount", True)
    assert parse_kind("enum:REDUCE_FUNCTION") == ("enum", "REDUCE_FUNCTION", None, False)


def test_a_missing_table_is_reported(monkeypatch, tmp_path):
    monkeypatch.setattr(abi_module, "_PLACES", (tmp_path,))
    abi.cache_clear()
    with pytest.raises(InputError, match=r"abi/directml\.yaml"):
        abi()
    abi.cache_clear()
