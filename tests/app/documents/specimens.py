"""Real files of each kind, small, made by hand or by the library that everybody uses."""

import datetime
import io
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from openpyxl import Workbook
from pypdf import PdfWriter

CONTAINER = """<?xml version="1.0"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
<rootfiles><rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles>
</container>"""
PACKAGE = """<?xml version="1.0"?>
<package xmlns="http://www.idpf.org/2007/opf" version="3.0"><manifest>
<item id="two" href="part%202.xhtml" media-type="application/xhtml+xml"/>
<item id="one" href="one.xhtml" media-type="application/xhtml+xml"/>
<item id="style" href="style.css" media-type="text/css"/>
</manifest><spine><itemref idref="one"/><itemref idref="two"/><itemref idref="style"/></spine></package>"""
WORDS = """<?xml version="1.0" encoding="UTF-8"?>
<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>
<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>Rivers</w:t></w:r></w:p>
<w:p><w:r><w:t xml:space="preserve">The Nile is </w:t></w:r><w:r><w:t>long.</w:t><w:br/><w:t>한강</w:t></w:r>
<w:del><w:r><w:delText>Deleted.</w:delText></w:r></w:del></w:p>
<w:p><w:pPr><w:numPr/></w:pPr><w:r><w:t>Rhine</w:t></w:r></w:p>
<w:tbl><w:tr><w:tc><w:p><w:r><w:t>km</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>6,650</w:t></w:r></w:p></w:tc></w:tr>
</w:tbl></w:body></w:document>"""
PAGE = """<!DOCTYPE html><html><head><title>Rivers</title><style>p {}</style></head><body>
<h1>Rivers &amp; lakes</h1><p>The <b>Nile</b>
is long.</p><ul><li>Rhine</li></ul><script>alert("no")</script><pre>a
  b</pre><table><tr><td>km</td><td>6650</td></tr></table></body></html>"""


def pdf(path: Path, pages: Sequence[str]) -> Path:
    """Write a PDF with one line of text, in ASCII, on each page (ISO 32000-1, 7.5)."""
    count = len(pages)
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Count {count} /Kids [{' '.join(f'{4 + 2 * i} 0 R' for i in range(count))}] >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for i, text in enumerate(pages):
        drawn = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET"
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792]"
            f" /Resources << /Font << /F1 3 0 R >> >> /Contents {5 + 2 * i} 0 R >>"
        )
        objects.append(f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream")
    body, places = bytearray(b"%PDF-1.4\n"), []
    for number, content in enumerate(objects, 1):
        places.append(len(body))
        body += f"{number} 0 obj\n{content}\nendobj\n".encode("ascii")
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    tail = (
        f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
        f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(body)}\n%%EOF\n"
    )
    path.write_bytes(body + tail.encode("ascii"))
    return path


def locked_pdf(path: Path) -> Path:
    writer = PdfWriter(clone_from=pdf(path, ["secret"]))
    writer.encrypt("password", algorithm="RC4-128")
    writer.write(path)
    return path


def packed(path: Path, parts: Mapping[str, str | bytes]) -> Path:
    """Write a ZIP archive."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


def docx(path: Path) -> Path:
    return packed(path, {"[Content_Types].xml": "<Types/>", "word/document.xml": WORDS})


def epub(path: Path) -> Path:
    return packed(
        path,
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": CONTAINER,
            "OEBPS/book.opf": PACKAGE,
            "OEBPS/one.xhtml": "<html><body><h2>One</h2><p>It begins.</p></body></html>",
            "OEBPS/part 2.xhtml": "<html><body><p>It ends.</p></body></html>",
            "OEBPS/style.css": "p {}",
        },
    )


def xlsx(path: Path) -> Path:
    workbook = Workbook()
    rivers = workbook.active
    rivers.title = "Rivers"
    rivers.append(["name", "km", "since"])
    rivers.append(["Nile, the", 6650, datetime.date(2020, 2, 1)])
    lakes = workbook.create_sheet("호수")
    lakes["B3"] = "Baikal"
    content = io.BytesIO()
    workbook.save(content)
    path.write_bytes(content.getvalue())
    return path
