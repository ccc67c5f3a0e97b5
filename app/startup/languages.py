"""The window's languages, loaded from Qt's translation files in resources/translations."""

from PySide6.QtCore import QLibraryInfo, QLocale, QTranslator
from PySide6.QtWidgets import QApplication

from engine.assets import RESOURCES

FOLDER = RESOURCES / "translations"


def install(app: QApplication, language: str) -> None:
    """Set the language of all widgets created from now on, and the format of numbers.

    language: "system", or the name of a locale such as "ko". Texts without a translation are English.
    """
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
