"""Text in pictures is read where Tesseract is installed: by a stand-in, and by itself if it is there."""

import os
import shutil
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QImage, QPainter

from app.documents import picture
from app.documents.picture_text import PROGRAM, with_text
from app.documents.records import Document
from engine.hub import Stop

PICTURE = Document("picture", picture=b"what was kept")
STAND_IN = """#!{python}
import sys
if "--list-langs" in sys.argv:
    print("List of available languages in ... (4):", "chi_sim", "eng", "equ", "osd", sep="\\n")
    sys.exit()
print(sys.stdin.read(), *sys.argv[1:])
{ends}
"""
needs_scripts = pytest.mark.skipif(os.name != "posix", reason="the stand-in is a script")


def put(folder: Path, monkeypatch: pytest.MonkeyPatch, ends: str = "") -> None:
    path = folder / PROGRAM
    path.write_text(STAND_IN.format(python=sys.executable, ends=ends))
    path.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))


def test_without_the_program_a_picture_stays_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert with_text(PICTURE, Stop()) == PICTURE


@needs_scripts
def test_the_text_is_asked_for_in_the_languages_that_are_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, monkeypatch)
    assert with_text(PICTURE, Stop()).pages == ["what was kept stdin stdout -l chi_sim+eng"]
    text = Document("text", ["No picture"])
    assert with_text(text, Stop()) == text


@needs_scripts
@pytest.mark.parametrize("ends", ["sys.exit(1)", "sys.stdout.write('x' * 200_000_000)"])
def test_a_program_that_fails_leaves_the_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ends: str
) -> None:
    put(tmp_path, monkeypatch, ends)
    assert with_text(PICTURE, Stop()) == PICTURE


@pytest.mark.skipif(shutil.which(PROGRAM) is None, reason="Tesseract is not installed")
def test_tesseract_reads_a_line() -> None:
    image = QImage(900, 160, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.white)
    painter = QPainter(image)
    painter.setFont(QFont("DejaVu Sans", 40))
    painter.drawText(image.rect(), Qt.AlignmentFlag.AlignCenter, "Invoice 4711")
    painter.end()
    assert with_text(picture.document_of(image), Stop()).pages == ["Invoice 4711"]
