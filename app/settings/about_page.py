"""The about page: version, privacy, folders, libraries and their licences."""

from importlib import metadata
from pathlib import Path

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QGridLayout, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from app.widgets.plain_text import PlainLabel
from engine.catalog import models_folder
from engine.protocol.engine_process import log_path

PACKAGE = "specexec-desktop"


class AboutPage(QWidget):
    """The page that describes the program.

    Attributes:
        open_logs, open_models, open_settings: the buttons that open the folders of logs, models and settings.
        licences: the text field that lists the libraries with their licences.
    """

    def __init__(self, settings: Path, parent: QWidget | None = None) -> None:
        """settings: the path of the preferences file."""
        super().__init__(parent)
        title = PlainLabel(f"SpecExec Desktop {metadata.version(PACKAGE)}", self)
        title.setProperty("role", "title")
        text = PlainLabel(
            self.tr(
                "Chat with a model larger than your graphics card. Free software under the Apache License "
                "2.0. Everything runs on this machine: nothing you write in a chat leaves it, unless you add "
                "an engine elsewhere and choose one of its models; the header then says where it goes. No "
                "usage data is collected. The program connects to the Internet only for searches and "
                "downloads you start, for engines you add and, if you turn it on, to check for new versions."
            ),
            self,
        )
        text.setWordWrap(True)
        places = QGridLayout()
        places.setColumnStretch(1, 1)
        self.open_logs = self._place(places, self.tr("Logs"), log_path().parent)
        self.open_models = self._place(places, self.tr("Models"), models_folder())
        self.open_settings = self._place(places, self.tr("Settings"), settings.parent)
        self.licences = QPlainTextEdit("\n".join(parts()), self)
        self.licences.setReadOnly(True)
        self.licences.setTabChangesFocus(True)
        heading = PlainLabel(self.tr("Libraries"), self)
        heading.setProperty("role", "section")
        heading.setBuddy(self.licences)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(4, 4, 4, 0)
        layout.setSpacing(10)
        layout.addWidget(title)
        layout.addWidget(text)
        layout.addLayout(places)
        layout.addWidget(heading)
        layout.addWidget(self.licences, 1)

    def _place(self, places: QGridLayout, name: str, folder: Path) -> QPushButton:
        row = places.rowCount()
        where = PlainLabel(str(folder), self)
        where.setWordWrap(True)
        where.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        where.setProperty("role", "muted")
        button = QPushButton(self.tr("Open"), self)
        button.setAutoDefault(False)
        button.setAccessibleName(self.tr("Open: {}").format(name))
        button.clicked.connect(lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(folder)))
        places.addWidget(PlainLabel(name, self), row, 0)
        places.addWidget(where, row, 1)
        places.addWidget(button, row, 2)
        return button


def parts() -> list[str]:
    """Return the libraries this program requires, and those around torch if they are installed, with the
    versions and licences they declare."""
    required = metadata.requires(PACKAGE) or []
    needed = [line for line in required if "extra ==" not in line or 'extra == "torch"' in line]
    names = {line.split(";")[0].split(">")[0].split("=")[0].split("<")[0].strip() for line in needed}
    return [line for name in sorted(names, key=str.casefold) if (line := _part(name))]


def _part(name: str) -> str | None:
    try:
        declared = metadata.metadata(name).json
    except metadata.PackageNotFoundError:  # for another platform only, or in a runtime
        return None
    classifiers = [line.split(" :: ") for line in declared.get("classifier", ())]
    classified = [parts[-1] for parts in classifiers if parts[0] == "License"]
    licence = declared.get("license_expression") or ", ".join(classified) or declared.get("license", "")
    return f"{declared['name']} {declared['version']} · {str(licence).splitlines()[0]}"
