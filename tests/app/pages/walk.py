"""Walks through all pages and gathers the findings."""

import argparse
import re
from pathlib import Path

from PySide6.QtCore import QTranslator
from PySide6.QtWidgets import QWidget

from app.startup.application import make_application
from app.widgets import theme
from tests.app.pages.access import unreachable
from tests.app.pages.fit import misfits
from tests.app.pages.stage import stage
from tests.app.pages.tour import visit

NO_PLACES = str.maketrans("", "", "{}%()*")


def walk(folder: Path, given: argparse.Namespace) -> dict[str, object]:
    """Return the number of pages that were visited, in all languages that are asked for, and the findings of
    each page that has any."""
    app = make_application()
    font = app.font()
    font.setPointSizeF(font.pointSizeF() * given.fonts / 100)
    app.setFont(font)
    theme.choose(app, given.theme)
    found: dict[str, list[str]] = {}
    pages: list[str] = []
    for language in given.language or ["en"]:

        def look(name: str, page: QWidget, language: str = language) -> None:
            page_name = f"{language}: {name}"
            pages.append(page_name)
            if given.pictures:
                photograph(page, given.pictures / f"{slug(page_name)}.png")
            if problems := [*misfits(page), *unreachable(page)]:
                found[page_name] = problems

        own = folder / language
        own.mkdir()
        with stage(app, own, look, language) as here:
            if given.long:
                app.installTranslator(LongTexts(app))
            visit(here)
    return {"pages": len(pages), "found": found}


class LongTexts(QTranslator):
    """Translates every text into one that is a third longer, as German is."""

    def translate(self, context: str, text: str, note: str | None = None, n: int = -1) -> str:
        if not text or not any(letter.isalpha() for letter in text):
            return text
        words = text.split(" ")
        extra = -(-len(words) // 3)
        more = (words[-1 - number % len(words)] for number in range(extra))
        return " ".join([*words, *(word.translate(NO_PLACES).lower() or "so" for word in more)])

    def isEmpty(self) -> bool:
        return False


def slug(name: str) -> str:
    return re.sub(r"[^\w]+", "-", name).strip("-")


def photograph(page: QWidget, file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    page.window().grab().save(str(file))
