"""Text in pictures, read by Tesseract where the user has installed it. Nothing is installed or downloaded.

Tesseract gets the picture as it is kept, written by this program, not the file of a stranger.
"""

import shutil
import tempfile
from contextlib import suppress

from msgspec import structs

from app.documents.child import output_of
from app.documents.records import Document, Unreadable
from engine.hub import Stop

PROGRAM = "tesseract"
NO_LANGUAGES = ("osd", "equ")  # data for the direction of scripts and for formulas
MOST_LANGUAGES = 6  # each one more takes longer


def with_text(document: Document, stop: Stop) -> Document:
    """Return a picture with the text in it, as far as there is one and Tesseract can read it. Takes some
    seconds. Raises Stopped."""
    program = shutil.which(PROGRAM)
    if not document.picture or program is None:
        return document
    with suppress(Unreadable, OSError), tempfile.TemporaryFile() as file:
        listed, _ = output_of([program, "--list-langs"], file, stop)
        languages = [name for name in listed.decode().split("\n")[1:] if name and name not in NO_LANGUAGES]
        file.write(document.picture)
        file.seek(0)
        command = [program, "stdin", "stdout", "-l", "+".join(languages[:MOST_LANGUAGES])]
        output, status = output_of(command, file, stop)
        text = output.decode("utf-8", "replace").strip()
        if status == 0 and text:
            return structs.replace(document, pages=[text])
    return document
