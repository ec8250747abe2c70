"""The registration table in a library: layouts, type flags, files without one."""

from __future__ import annotations

import pytest

from specgate.errors import InputError
from tools.import_onnxruntime.library import registered_in

#: FLOAT and FLOAT16; UINT8; a list of FLOAT: numbered as before 1.20, and as in later releases.
NARROW = {"float16-32": 1 << 1 | 1 << 10, "uint8": 1 << 2, "list": 1 << 16}
WIDE = {"float16-32": 1 << 1 | 1 << 12, "uint8": 1 << 4, "list": 1 << 18}
EVERY = 2**64 - 1


def rows(flags: dict[str, int]) -> list[dict[str, object]]:
    plain = [{"name": f"Op{index}", "version": 1, "types": {"T": flags["float16-32"]}} for index in range(60)]
    return [
        *plain,
        {"name": "Resize", "version": 13, "types": {"T1": flags["uint8"], "T2": flags["float16-32"]},
         "inputs": [1, 2], "query": 5},
        {"name": "Shape", "version": 1, "types": {"T": flags["list"]}, "graph": 1},
        {"name": "Sum", "version": 8, "types": {"T": flags["float16-32"]}, "graph_inputs": 2},
        {"name": "Gelu", "version": 1, "domain": "com.microsoft", "types": {"T": flags["float16-32"]}},
    ]  # fmt: skip


@pytest.mark.parametrize(("size", "flags"), [(120, NARROW), (128, NARROW), (160, NARROW), (160, WIDE)])
def test_rows_of_each_layout(wheel, size: int, flags: dict[str, int]) -> None:
    release, stated = registered_in(wheel(rows(flags), size, "1.17.3", wide=flags is WIDE))
    assert release == "1.17.3"
    assert len(stated) == 64
    assert stated["ai.onnx", "Sum"][8, None]["graph_inputs"] == 2
    assert "graph_inputs" not in stated["ai.onnx", "Shape"][1, None]
    assert stated["ai.onnx", "Resize"] == {
        (13, None): {
            "types": {"T1": ["UINT8"], "T2": ["FLOAT", "FLOAT16"]}, "constant_inputs": [1, 2], "query": True,
        }
    }  # fmt: skip
    assert stated["ai.onnx", "Shape"][1, None] == {"types": {"T": ["seq(FLOAT)"]}, "graph": False, "query": False}
    assert ("com.microsoft", "Gelu") in stated


def test_all_types_exclude_strings_and_4_bit_sequences(wheel) -> None:
    every = [{"name": f"Op{index}", "version": 1, "types": {"T": EVERY}} for index in range(60)]
    types = registered_in(wheel(every))[1]["ai.onnx", "Op3"][1, None]["types"]["T"]
    assert {"INT4", "UINT4", "BOOL", "DOUBLE", "seq(BOOL)"} <= set(types)
    assert not {"STRING", "seq(STRING)", "seq(INT4)", "COMPLEX64"} & set(types)
    assert len(types) == 14 + 12


def test_other_files_are_rejected(wheel, tmp_path) -> None:
    with pytest.raises(InputError, match="expected a wheel of the runtime for Windows"):
        registered_in(tmp_path / "numpy-2.0.0-cp312-cp312-win_amd64.whl")
    with pytest.raises(InputError, match="cannot be read"):
        registered_in(tmp_path / "onnxruntime_directml-1.24.4-cp312-cp312-win_amd64.whl")
    with pytest.raises(InputError, match="no table of registrations was found in its libraries"):
        registered_in(wheel(rows(WIDE)[-4:]))
    broken = wheel([])
    broken.write_bytes(broken.read_bytes()[:40])
    with pytest.raises(InputError, match="cannot be read"):
        registered_in(broken)
