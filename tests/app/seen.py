"""What a user sees of a widget, so that tests need not know its parts."""

import re

from PySide6.QtWidgets import QAbstractButton, QLabel, QLineEdit, QPlainTextEdit, QTextEdit, QWidget

# Words that live in the panel and in the tool tips.
JARGON = re.compile(
    r"\b(draft\w*|bonus|b?float\d+|speculat\w*|decod\w*|kv|cache|logits?|iterations?|verif\w*|verdict|nodes?|"
    r"trees?|target|prefill|layers?|heads?|kernels?|tokenizer|quanti\w*|weights?|embedded|seed|budget)\b",
    re.IGNORECASE,
)


def labels(widget: QWidget) -> list[str]:
    """Return the texts of the labels of `widget` that are not hidden in it, except empty ones."""
    shown = [label for label in widget.findChildren(QLabel) if label.isVisibleTo(widget)]
    return [label.text() for label in shown if label.text()]


def label(widget: QWidget, text: str) -> QLabel:
    """Return the label of `widget` that contains `text` and is not hidden in it."""
    (found,) = [
        label for label in widget.findChildren(QLabel) if label.isVisibleTo(widget) and text in label.text()
    ]
    return found


def says(widget: QWidget, text: str) -> bool:
    """Tell whether a label of `widget` that is not hidden in it contains `text`."""
    return any(text in shown for shown in labels(widget))


def texts(widget: QWidget) -> list[str]:
    """Return all texts that can be read in `widget` now, also those of fields that are empty."""
    found: list[str] = []
    for part in widget.findChildren(QWidget):
        match part if part.isVisible() else None:
            case QLabel() | QAbstractButton():
                found.append(part.text())
            case QLineEdit():
                found += [part.text(), part.placeholderText()]
            case QPlainTextEdit() | QTextEdit():
                found += [part.toPlainText(), part.placeholderText()]
    return [text for text in found if text]
