"""Text files that the user drops or pastes into the composer."""

from pathlib import Path

from PySide6.QtCore import QCoreApplication, QMimeData

from app import formatting

MAX_NBYTES = 2 << 20
MARKS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}  # at the start of a file: what it is written in


class NotText(Exception):
    """A file that cannot be sent; the message is a sentence for the user."""


def _tr(text: str) -> str:
    return QCoreApplication.translate("text_files", text)


def files_in(data: QMimeData) -> list[Path]:
    """Return the files of this machine that were dropped or pasted."""
    return [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()]


def read(path: Path) -> str:
    """Return a file's name and its text, fenced as code, to send to the model. Raises NotText."""
    if path.is_dir():
        raise NotText(_tr("{} is a folder; drop the files in it.").format(path.name))
    if not path.is_file():
        raise NotText(_tr("{} is not a file that can be read.").format(path.name))
    try:
        with path.open("rb") as file:
            content = file.read(MAX_NBYTES + 1)
    except OSError as error:
        raise NotText(_tr("{} cannot be read: {}.").format(path.name, error.strerror)) from error
    if len(content) > MAX_NBYTES:
        most = formatting.nbytes(MAX_NBYTES)
        raise NotText(_tr("{} is larger than {}; drop a part of it.").format(path.name, most))
    text = _decoded(content)
    if text is None:
        raise NotText(_tr("{} is not a text file.").format(path.name))
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{path.name}\n{fence}\n{text.rstrip()}\n{fence}"


def _decoded(content: bytes) -> str | None:
    """Return the text of a file; None if it is not text."""
    try:
        text = content.decode(MARKS.get(content[:2], "utf-8-sig"))
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text
