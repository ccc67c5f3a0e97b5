"""Which file: to export to, and to import from."""

import re
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QStandardPaths
from PySide6.QtWidgets import QFileDialog, QWidget

_FORBIDDEN = re.compile(r'[\x00-\x1f<>:"/\\|?*]+')  # in names, by Windows
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)", re.IGNORECASE)
_MOST_NBYTES = 120


def _tr(text: str) -> str:
    return QCoreApplication.translate("files", text)


def ask_where_to_export(parent: QWidget, title: str) -> Path | None:
    """None: nowhere."""
    kinds = {
        _tr("Markdown (*.md)"): "md",
        _tr("Plain text (*.txt)"): "txt",
        _tr("SpecExec Desktop chat, with every version (*.specexec-chat)"): "specexec-chat",
        _tr("JSON, with every version (*.json)"): "json",
    }
    return _ask_where(parent, _tr("Export"), title, kinds)


def ask_where_to_print(parent: QWidget, title: str) -> Path | None:
    return _ask_where(parent, _tr("Save as PDF"), title, {_tr("PDF (*.pdf)"): "pdf"})


def ask_what_to_import(parent: QWidget) -> Path | None:
    kinds = _tr("Chats (*.specexec-chat *.json *.zip)") + ";;" + _tr("All files (*)")
    chosen, _ = QFileDialog.getOpenFileName(
        parent, _tr("Import chats exported here or from ChatGPT"), _folder(), kinds
    )
    return Path(chosen) if chosen else None


def file_name(title: str) -> str:
    """A title as a name that every system takes, without an ending."""
    name = " ".join(_FORBIDDEN.sub(" ", title).split()).strip(" .")
    name = name.encode()[:_MOST_NBYTES].decode(errors="ignore").strip(" .")
    return name if name and not _RESERVED.fullmatch(name) else f"chat {name}".strip()


def _ask_where(parent: QWidget, caption: str, title: str, kinds: dict[str, str]) -> Path | None:
    """kinds: what the dialog calls a format, and its ending."""
    dialog = QFileDialog(parent, caption, _folder())
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setNameFilters(list(kinds))
    dialog.setDefaultSuffix(next(iter(kinds.values())))  # so that the question before overwriting is about it
    dialog.filterSelected.connect(lambda kind: dialog.setDefaultSuffix(kinds[kind]))
    dialog.selectFile(file_name(title))
    try:
        return Path(dialog.selectedFiles()[0]) if dialog.exec() else None
    finally:
        dialog.deleteLater()


def _folder() -> str:
    return QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
