"""The kind of a file: its content decides, and its name only where the content does not say."""

import zipfile
from pathlib import PurePath
from typing import BinaryIO

from app.documents.records import Kind, Unreadable

CLAIMS: dict[str, Kind] = {
    ".pdf": "pdf",
    ".docx": "docx",
    ".xlsx": "xlsx",
    ".epub": "epub",
    ".htm": "html",
    ".html": "html",
    ".xhtml": "html",
    ".png": "picture",
    ".jpg": "picture",
    ".jpeg": "picture",
    ".gif": "picture",
    ".bmp": "picture",
    ".webp": "picture",
}
HEAD_NBYTES = 1024  # a PDF may begin this late (ISO 32000-1, implementation note 13)
_PICTURES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"BM")
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # Office before 2007, and encrypted files of later ones
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")


def kind_of(file: BinaryIO, name: str) -> Kind:
    """Return the kind of a file and leave it at its beginning. name: its name, or the end of it.

    Raises Unreadable if it cannot be a document, or is not what its name says.
    """
    claimed = CLAIMS.get(PurePath(f"a{name}").suffix.lower())
    head = file.read(HEAD_NBYTES)
    file.seek(0)
    found = _found(file, head, claimed)
    file.seek(0)
    if found is None and claimed not in (None, "html"):
        raise Unreadable("wrong_kind")
    return found or claimed or "text"


def _found(file: BinaryIO, head: bytes, claimed: Kind | None) -> Kind | None:
    if head.startswith(b"%PDF-") or (claimed == "pdf" and b"%PDF-" in head):
        return "pdf"
    if head.startswith(_PICTURES) or (head[:4] == b"RIFF" and head[8:12] == b"WEBP"):
        return "picture"
    if head.startswith(_OLE):
        raise Unreadable("password" if _ENCRYPTED in file.read() else "old_format")
    return _packed(file, claimed) if head.startswith(b"PK\x03\x04") else None


def _packed(file: BinaryIO, claimed: Kind | None) -> Kind:
    """Return the kind of a ZIP archive."""
    try:
        with zipfile.ZipFile(file) as archive:
            names = set(archive.namelist())
    except (zipfile.BadZipFile, ValueError) as error:
        raise Unreadable("damaged") from error
    if any(name.endswith("vbaProject.bin") for name in names):
        raise Unreadable("macros")
    parts: dict[str, Kind] = {
        "word/document.xml": "docx",
        "xl/workbook.xml": "xlsx",
        "META-INF/container.xml": "epub",
    }
    for part, kind in parts.items():
        if part in names:
            return kind
    raise Unreadable("wrong_kind" if claimed else "archive")
