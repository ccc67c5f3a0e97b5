"""The cells of XLSX files as lines of CSV, one text for each sheet, by openpyxl. Formulas are not computed:
the values are those that were saved with them."""

import csv
import io
from typing import BinaryIO

from openpyxl import load_workbook

from app.documents.archive import opened
from app.documents.records import MAX_CHARACTERS, Document, Unreadable


def read(file: BinaryIO) -> Document:
    """Return a workbook's sheets, each beginning with its name. Raises Unreadable; openpyxl's own errors mean
    that the file is damaged."""
    with opened(file):
        pass  # it is no bomb
    file.seek(0)
    workbook = load_workbook(file, read_only=True, data_only=True, keep_links=False)
    pages, length = [], 0
    for sheet in workbook.worksheets:
        sheet.reset_dimensions()  # the file may state any
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        for row in sheet.iter_rows(values_only=True):
            values = ["" if value is None else str(value) for value in row]
            while values and not values[-1]:
                values.pop()
            if values:
                writer.writerow(values)
            if length + text.tell() > MAX_CHARACTERS:
                raise Unreadable("too_long")
        if text.tell():
            pages.append(f"{sheet.title}\n{text.getvalue()}")
            length += len(pages[-1])
        else:
            pages.append("")
    return Document("xlsx", pages)
