"""The dialog that asks where to write a file."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QStandardPaths
from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget

from app.widgets.plain_text import PlainMessageBox

_FORBIDDEN = re.compile(r'[\x00-\x1f<>:"/\\|?*]+')  # characters that Windows forbids in file names
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)", re.IGNORECASE)
_MAX_NBYTES = 120


def _tr(text: str) -> str:
    return QCoreApplication.translate("save_dialog", text)


def ask_where_to_save(
    parent: QWidget, caption: str, name: str, kinds: Mapping[str, str], folder: str = ""
) -> Path | None:
    """Return the chosen path, whose name ends in one of the suffixes; None if the user cancelled.

    A file that is there already is returned only if the user agrees that it is replaced.

    name: suggested name of the file, without a suffix. kinds: the suffix of each format, without its dot, by
        the name of the format in the dialog; the first is the usual one. folder: where the dialog begins;
        "": the user's documents.
    """
    suffixes = list(kinds.values())
    documents = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
    dialog = QFileDialog(parent, caption, folder or documents)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setNameFilters(list(kinds))
    # Before the dialog returns a file that exists, it asks whether to replace it, so it has to know the
    # suffix. It adds none to a name with a dot, such as “Qwen 2.5”. Of a suffix such as
    # “race.json”, it gets the end: dialogs of some systems may know no longer ones.
    dialog.setDefaultSuffix(_end_of(suffixes[0]))
    dialog.filterSelected.connect(lambda kind: dialog.setDefaultSuffix(_end_of(kinds[kind])))
    dialog.selectFile(f"{name}.{suffixes[0]}")
    try:
        while dialog.exec():
            chosen = Path(dialog.selectedFiles()[0])
            path = _with_suffix(chosen, kinds.get(dialog.selectedNameFilter(), suffixes[0]), suffixes)
            if path == chosen or not _is_there(path) or _may_replace(parent, path):
                return path
        return None
    finally:
        dialog.deleteLater()


def file_name(title: str, kind: str) -> str:
    """Return a title as a file name that every system accepts, without a suffix.

    kind: a word for what the file holds, for titles that are no names.
    """
    name = " ".join(_FORBIDDEN.sub(" ", title).split()).strip(" .")
    name = name.encode()[:_MAX_NBYTES].decode(errors="ignore").strip(" .")
    return name if name and not _RESERVED.fullmatch(name) else f"{kind} {name}".strip()


def _with_suffix(path: Path, suffix: str, suffixes: Iterable[str]) -> Path:
    """Return the path with the suffix added, unless its name ends in one of the suffixes already. An end of
    the suffix that is there already is not repeated."""
    name = path.name.lower()
    if any(_ends_in(name, known) for known in suffixes):
        return path
    has_end = _ends_in(name, _end_of(suffix))
    return path.with_name(f"{path.stem if has_end else path.name}.{suffix}")


def _ends_in(name: str, suffix: str) -> bool:
    """Whether a name has this suffix, and something before it."""
    return name.endswith(f".{suffix}") and name != f".{suffix}"


def _end_of(suffix: str) -> str:
    """Return what follows the last dot of a suffix."""
    return suffix.rpartition(".")[2]


def _is_there(path: Path) -> bool:
    """Whether a file is there, as far as can be told: whoever writes says what is wrong with the path."""
    try:
        return path.is_file()
    except OSError:
        return False


def _may_replace(parent: QWidget, path: Path) -> bool:
    """Ask whether a file may be replaced."""
    question = _tr("{} already exists. Replace it?").format(path.name)
    buttons = QMessageBox.StandardButton.Yes | QMessageBox.StandardButton.Cancel
    box = PlainMessageBox(QMessageBox.Icon.NoIcon, "", question, parent, buttons)
    box.button(QMessageBox.StandardButton.Yes).setText(_tr("Replace"))
    box.setDefaultButton(QMessageBox.StandardButton.Cancel)
    try:
        return box.exec() == QMessageBox.StandardButton.Yes
    finally:
        box.deleteLater()
