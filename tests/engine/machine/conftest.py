from pathlib import Path

import platformdirs
import pytest


@pytest.fixture(autouse=True)
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the user's data folder, which does not exist yet."""
    folder = tmp_path / "data" / "specexec-desktop"
    monkeypatch.setattr(platformdirs, "user_data_path", lambda *args, **kwargs: folder)
    return folder
