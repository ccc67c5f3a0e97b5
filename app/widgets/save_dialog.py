"""The dialog that asks where to write a file."""

from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QStandardPaths
from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget

from app.widgets.plain_text import PlainMessageBox


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
    suffix = next(iter(kinds.values()))
    documents = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
    dialog = QFileDialog(parent, caption, folder or documents)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setNameFilters(list(kinds))
    # Before the dialog returns a file that exists, it asks whether to replace it, so it has to know the
    # suffix. It adds none to a name with a dot, such as “Qwen 2.5”.
    dialog.setDefaultSuffix(suffix)
    dialog.filterSelected.connect(lambda kind: dialog.setDefaultSuffix(kinds[kind]))
    dialog.selectFile(f"{name}.{suffix}")
    try:
        while dialog.exec():
            chosen = Path(dialog.selectedFiles()[0])
            path = _with_suffix(chosen, dialog.defaultSuffix(), kinds)
            if path == chosen or not _is_there(path) or _may_replace(parent, path):
                return path
        return None
    finally:
        dialog.deleteLater()


def _with_suffix(path: Path, suffix: str, kinds: Mapping[str, str]) -> Path:
    """Return the path with the suffix added, unless its name ends in one of the suffixes already."""
    name = path.name.lower()
    has_one = any(name.endswith(f".{known}") and name != f".{known}" for known in kinds.values())
    return path if has_one else path.with_name(f"{path.name}.{suffix}")


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
