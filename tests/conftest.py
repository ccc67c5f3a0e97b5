"""No test reads or writes what the user's own programs keep."""

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def data_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Also of the processes that tests start (platformdirs, on Linux)."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("data", "config"):
            patch.setenv(f"XDG_{name.upper()}_HOME", str(tmp_path_factory.mktemp(name)))
        yield
