"""The header next to the vendor's DirectML.h: structures, numbers, levels, calls.

Nothing of the vendor is stored here. SPECGATE_DIRECTX_HEADERS names the `include` folder of
github.com/microsoft/DirectX-Headers; /usr/include is searched as well.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from specgate.dialects.directml.cpp.compilers import Compiler, compilers
from specgate.dialects.directml.cpp.header import write_header
from specgate.dialects.directml.native.abi import abi
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Iterator

HEADERS = next(
    (
        Path(folder)
        for folder in (os.environ.get("SPECGATE_DIRECTX_HEADERS"), "/usr/include")
        if folder and Path(folder, "directx", "DirectML.h").is_file()
    ),
    None,
)
pytestmark = pytest.mark.skipif(
    HEADERS is None,
    reason="THE VENDOR'S DirectML.h IS NOT COMPILED WITH: clone github.com/microsoft/DirectX-Headers and set "
    "SPECGATE_DIRECTX_HEADERS to its include folder",
)
INCLUDES = """
#ifdef _WIN32
#include <windows.h>
#else
#include <wsl/winadapter.h>
#include <wsl/wrladapter.h>
#endif
#define DML_TARGET_VERSION_USE_LATEST
#include <directx/d3d12.h>
#include <directx/DirectML.h>

#include <cstddef>

#include "specgate_dml.h"
"""
CALLS = """
HRESULT made(IDMLDevice* device, const DML_OPERATOR_DESC& desc, const IID& id, void** op) {
  if (auto why = specgate::check(desc, DML_FEATURE_LEVEL_5_0); !why.accepted) std::puts(why.text().c_str());
  if (!specgate::accepts(desc, DML_FEATURE_LEVEL_6_4)) return E_INVALIDARG;
  const HRESULT result = specgate::create_operator(device, DML_FEATURE_LEVEL_5_0, &desc, id, op);
  return FAILED(result) ? result : specgate::create_operator(device, &desc, id, op);
}
"""


def assert_all() -> Iterator[str]:
    table = dialect("directml")
    for name in table.operators:
        laid = abi().structure(name)
        real, own = f"DML_{name}_OPERATOR_DESC", f"specgate::abi::{laid.name}"
        yield f"sizeof({real}) == sizeof({own})"
        yield from (f"offsetof({real}, {m.name}) == offsetof({own}, {m.name})" for m in laid.members)
        yield f"DML_OPERATOR_{name} == {laid.number}"
    for level in table.levels:
        word = level.replace(".", "_")
        yield f"DML_FEATURE_LEVEL_{word} == specgate::detail::level_{word}"
    for real, own in (("TENSOR", "Tensor"), ("BUFFER_TENSOR", "BufferTensor"), ("OPERATOR", "Operator")):
        yield f"sizeof(DML_{real}_DESC) == sizeof(specgate::abi::{own}Desc)"


def compile_path(compiler: Compiler, folder: Path) -> None:
    (folder / "specgate_dml.h").write_text(write_header(), encoding="utf-8")
    lines = [f'static_assert({text}, "{text}");' for text in assert_all()]
    source = folder / "comparison.cpp"
    source.write_text("\n".join([INCLUDES, *lines, CALLS]), encoding="utf-8")
    stubs = [] if compiler.windows else ["-isystem", f"{HEADERS}/wsl/stubs"]
    missing = ["-D_Maybenull_="] if compiler.windows else []  # an annotation that mingw's sal.h does not have
    flags = ["-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", f"-I{folder}", "-isystem", str(HEADERS)]
    compiler.run([*flags, *stubs, *missing, str(source)])


@pytest.mark.parametrize("windows", [False, True], ids=["here", "Windows"])
def test_structures_numbers_and_calls_match_the_vendor_header(tmp_path: Path, windows: bool) -> None:
    compiler = next(compilers(windows=windows), None)
    if compiler is None:
        pytest.skip("NO C++ COMPILER that makes such programs is installed")
    compile_path(compiler, tmp_path)
