from pathlib import Path

import pytest
from PySide6.QtGui import QImage

from app.widgets.picture_file import write_png
from engine.errors import DiskProblem


def test_a_picture_that_cannot_be_made_replaces_nothing(tmp_path: Path) -> None:
    path = tmp_path / "mine.png"
    path.write_text("of the user")
    with pytest.raises(DiskProblem, match="cannot be written"):
        write_png(path, QImage())  # as Qt makes it where memory is short
    assert [each.name for each in tmp_path.iterdir()] == ["mine.png"]
    assert path.read_text() == "of the user"
