"""The window's languages, by Qt's translation files in resources/translations."""

from pathlib import Path

from PySide6.QtCore import QLibraryInfo, QLocale, QTranslator
from PySide6.QtWidgets import QApplication

FOLDER = Path(__file__).parents[1] / "resources" / "translations"


def install(app: QApplication, language: str) -> None:
    """language: "system", or a locale's name such as "ko". Counts for widgets made from now on, and for
    numbers; a language that there is no file for is English."""
    for translator in app.findChildren(QTranslator):
        app.removeTranslator(translator)
        translator.deleteLater()
    locale = QLocale.system() if language == "system" else QLocale(language)
    QLocale.setDefault(locale)
    own = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
    for file, folder in (("qtbase", own), ("specexec", str(FOLDER))):
        translator = QTranslator(app)
        if translator.load(locale, file, "_", folder):
            app.installTranslator(translator)
