from __future__ import annotations

import pytest

from tests.export.cpp.native import OPERATORS, QUICK, Native, build, compiler


@pytest.fixture(scope="session")
def native(tmp_path_factory: pytest.TempPathFactory) -> Native:
    """Return the compiled header that most tests use."""
    if compiler() is None:
        pytest.skip("no C++ compiler is installed: the header is not compiled")
    return build(tmp_path_factory.mktemp("cpp"), OPERATORS, QUICK)
