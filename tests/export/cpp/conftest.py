from __future__ import annotations

import pytest

from tests.export.cpp.native import OPERATORS, QUICK, Native, built, compiler


@pytest.fixture(scope="session")
def native(tmp_path_factory: pytest.TempPathFactory) -> Native:
    """Give the compiled header that most tests ask."""
    if compiler() is None:
        pytest.skip("no C++ compiler is installed: the header is not compiled")
    return built(tmp_path_factory.mktemp("cpp"), OPERATORS, QUICK)
