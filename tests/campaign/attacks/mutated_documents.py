"""Damaged PDF, DOCX, XLSX and EPUB files, pages and pictures: read, or refused by name, within the limits."""

import io
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from PySide6.QtGui import QImage

from app.documents.child import TIME_LIMIT_S, read_file
from app.documents.records import MAX_CHARACTERS, Unreadable
from engine.hub import Stop
from tests.app.documents import specimens
from tests.campaign.attack import SURVIVED, Outcome, Try, Verdict
from tests.campaign.mutation import damaged

FIXED = 5
LIMIT_S = TIME_LIMIT_S + 15


@contextmanager
def prepared(folder: Path) -> Iterator[Try]:
    sound = _specimens(folder)

    def once(random: Random) -> Outcome:
        source = random.choice(sound)
        path = folder / f"tried{random.choice((source.suffix, source.suffix, '.txt', '.pdf', '.html'))}"
        path.write_bytes(_spoilt(source.read_bytes(), random))
        began = time.monotonic()
        try:
            document = read_file(path, Stop())
        except Unreadable as error:
            return Outcome(Verdict.NAMED, error.fault)
        finally:
            seconds = time.monotonic() - began
            path.unlink()
        if seconds > TIME_LIMIT_S + 5:
            return Outcome(Verdict.RAW, f"{path.name} took {seconds:.0f} s")
        if sum(map(len, document.pages)) > MAX_CHARACTERS:
            return Outcome(Verdict.RAW, f"{path.name} has more text than is allowed")
        return SURVIVED

    yield once


def _specimens(folder: Path) -> list[Path]:
    page, picture = folder / "sound.html", folder / "sound.png"
    page.write_text(specimens.PAGE)
    image = QImage(64, 48, QImage.Format.Format_RGB32)
    image.fill(0x336699)
    image.save(str(picture))
    return [
        specimens.pdf(folder / "sound.pdf", ["One page.", "Another page.", "The last page."]),
        specimens.docx(folder / "sound.docx"),
        specimens.xlsx(folder / "sound.xlsx"),
        specimens.epub(folder / "sound.epub"),
        page,
        picture,
    ]


def _spoilt(content: bytes, random: Random) -> bytes:
    """Return a file with damage, of an archive often in one of its parts only."""
    if not content.startswith(b"PK") or random.random() < 0.3:
        return damaged(content, random)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    spoilt = random.choice(sorted(parts))
    parts[spoilt] = damaged(parts[spoilt], random)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return packed.getvalue()
