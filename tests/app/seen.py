"""What a user sees of a widget, so that tests need not know its parts."""

from PySide6.QtWidgets import QLabel, QWidget


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
