"""Each kind of file is read as text, and what cannot be read is named."""

import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtGui import QImage

from app.conversation import file_words
from app.documents import reader
from app.documents.records import MAX_SIDE, Document, Unreadable
from tests.app.documents import specimens


def read(path: Path) -> Document:
    with path.open("rb") as file:
        return reader.read(file, path.suffix)


def test_text_is_read_in_utf_8_and_utf_16(tmp_path: Path) -> None:
    code, note, table = tmp_path / "merge.py", tmp_path / "나무.md", tmp_path / "rivers.csv"
    code.write_bytes("\ufeffdef merge():\n    pass\n".encode())
    note.write_bytes("숲\n".encode("utf-16"))
    assert read(code) == Document("text", ["def merge():\n    pass\n"])
    assert read(note).pages == ["숲\n"]
    table.write_bytes('name;km\r\n"Nile, the";6650\r\n'.encode("utf-8-sig"))
    assert read(table).pages[0].split() == ["name;km", '"Nile,', 'the";6650']


def test_a_pdf_is_read_by_page(tmp_path: Path) -> None:
    document = read(specimens.pdf(tmp_path / "a.pdf", ["First page", "Second page"]))
    assert (document.kind, document.pages) == ("pdf", ["First page", "Second page"])


def test_a_docx_keeps_headings_lists_and_tables(tmp_path: Path) -> None:
    document = read(specimens.docx(tmp_path / "a.docx"))
    assert document.pages == ["# Rivers\n\nThe Nile is long.\n한강\n\n- Rhine\n\nkm | 6,650"]


def test_an_xlsx_is_read_by_sheet(tmp_path: Path) -> None:
    document = read(specimens.xlsx(tmp_path / "a.xlsx"))
    assert document.pages == [
        'Rivers\nname,km,since\n"Nile, the",6650,2020-02-01 00:00:00\n',
        "호수\n,Baikal\n",
    ]


def test_an_epub_is_read_in_the_order_of_its_spine(tmp_path: Path) -> None:
    document = read(specimens.epub(tmp_path / "a.epub"))
    assert document.pages == ["## One\n\nIt begins.", "It ends."]


def test_html_is_read_as_a_reader_sees_it(tmp_path: Path) -> None:
    page = tmp_path / "a.html"
    page.write_text(specimens.PAGE)
    text = read(page).pages[0]
    assert "# Rivers & lakes\n\nThe Nile is long." in text
    assert "- Rhine" in text
    assert "```\na\n  b\n```" in text
    assert "| km | 6650" in text
    assert "alert" not in text
    page.write_bytes('<meta charset="euc-kr"><p>한강</p>'.encode("euc-kr"))
    assert read(page).pages == ["한강"]


def test_a_picture_is_made_smaller(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    image = QImage(2 * MAX_SIDE, MAX_SIDE, QImage.Format.Format_RGB32)
    image.fill(0x336699)
    image.save(str(path))
    document = read(path)
    kept = QImage.fromData(document.picture)
    assert (document.kind, document.pages) == ("picture", [])
    assert (kept.width(), kept.height()) == (MAX_SIDE, MAX_SIDE // 2)
    assert kept.pixelColor(9, 9).rgb() & 0xFFFFFF == 0x336699


def test_content_decides_over_the_name(tmp_path: Path) -> None:
    assert read(specimens.pdf(tmp_path / "a.txt", ["Text"])).kind == "pdf"
    assert read(specimens.docx(tmp_path / "a")).kind == "docx"


BOMB = """<?xml version="1.0"?><!DOCTYPE w [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>
<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:p>&b;</w:p></w:document>"""
OUTSIDE = BOMB.replace('<!ENTITY a "ha">', '<!ENTITY a SYSTEM "file:///etc/passwd">')
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)


def _encrypted_zip(path: Path) -> Path:
    """An archive whose parts say that they are encrypted."""
    content = bytearray(specimens.docx(path).read_bytes())
    place = 0
    while (place := content.find(b"PK\x01\x02", place)) >= 0:
        content[place + 8] |= 1
        place += 4
    path.write_bytes(content)
    return path


def _png_of_many_points(path: Path) -> Path:
    image = QImage(1, 1, QImage.Format.Format_RGB32)
    image.fill(0)
    image.save(str(path))
    content = bytearray(path.read_bytes())
    content[16:24] = (60_000).to_bytes(4, "big") * 2
    content[29:33] = zlib.crc32(content[12:29]).to_bytes(4, "big")
    path.write_bytes(content)
    return path


HOSTILE: dict[str, tuple[str, Callable[[Path], object]]] = {
    "binary": ("not_text", lambda folder: (folder / "a.bin").write_bytes(b"\x89PN\xff")),
    "zeros": ("not_text", lambda folder: (folder / "a.txt").write_bytes(bytes(100))),
    "empty": ("no_text", lambda folder: (folder / "a.txt").write_bytes(b" \n")),
    "scan": ("no_text", lambda folder: specimens.pdf(folder / "a.pdf", ["", ""])),
    "not a pdf": ("wrong_kind", lambda folder: (folder / "a.pdf").write_text("hello")),
    "not a docx": ("wrong_kind", lambda folder: specimens.packed(folder / "a.docx", {"a.exe": "MZ"})),
    "not a picture": ("wrong_kind", lambda folder: (folder / "a.png").write_text("hello")),
    "many pages": ("too_many_pages", lambda folder: specimens.pdf(folder / "a.pdf", ["x"] * 10_000)),
    "locked pdf": ("password", lambda folder: specimens.locked_pdf(folder / "a.pdf")),
    "locked zip": ("password", lambda folder: _encrypted_zip(folder / "a.docx")),
    "locked office": (
        "password",
        lambda folder: (folder / "a.xlsx").write_bytes(OLE + "EncryptedPackage".encode("utf-16-le")),
    ),
    "old office": ("old_format", lambda folder: (folder / "a.doc").write_bytes(OLE)),
    "docm": (
        "macros",
        lambda folder: specimens.packed(
            folder / "a.docm", {"word/document.xml": specimens.WORDS, "word/vbaProject.bin": b"x"}
        ),
    ),
    "xlsm as xlsx": (
        "macros",
        lambda folder: specimens.packed(folder / "a.xlsx", {"xl/workbook.xml": "", "xl/vbaProject.bin": b""}),
    ),
    "archive": ("archive", lambda folder: specimens.packed(folder / "a.zip", {"a.txt": "hello"})),
    "zip bomb": (
        "bomb",
        lambda folder: specimens.packed(folder / "a.docx", {"word/document.xml": bytes(4 << 20)}),
    ),
    "entities": ("bomb", lambda folder: specimens.packed(folder / "a.docx", {"word/document.xml": BOMB})),
    "other files": (
        "bomb",
        lambda folder: specimens.packed(folder / "a.docx", {"word/document.xml": OUTSIDE}),
    ),
    "broken xml": (
        "damaged",
        lambda folder: specimens.packed(folder / "a.docx", {"word/document.xml": "<w:doc"}),
    ),
    "broken zip": ("damaged", lambda folder: (folder / "a.xlsx").write_bytes(b"PK\x03\x04" + bytes(50))),
    "book without a package": (
        "damaged",
        lambda folder: specimens.packed(folder / "a.epub", {"META-INF/container.xml": "<a/>"}),
    ),
    "huge picture": ("too_large", lambda folder: _png_of_many_points(folder / "a.png")),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_cannot_be_read_ends_in_a_sentence(tmp_path: Path, name: str) -> None:
    fault, write = HOSTILE[name]
    write(tmp_path)
    (path,) = tmp_path.iterdir()
    with pytest.raises(Unreadable) as caught:
        read(path)
    assert caught.value.fault == fault
    sentence = file_words.why_unreadable(caught.value.fault, path.name)
    assert sentence.startswith(path.name)
    assert sentence.endswith(".")
    assert "{" not in sentence
