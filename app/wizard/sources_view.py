"""Where packages come from, for networks that lead nowhere else."""

from urllib.parse import urlsplit

from PySide6.QtWidgets import QFormLayout, QLineEdit, QWidget

from app.wizard.parts import LINE_HEIGHT, Card, label
from engine.errors import BadOption
from engine.runtime import Sources

WEB = ("http", "https")
PROXIES = (*WEB, "socks5", "socks5h")


class SourcesView(Card):
    """
    Attributes:
        mirror, torch_mirror, proxy: addresses, "" where the usual way is taken.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        text = self.tr(
            "Every package is compared with the checksum that this program came with, wherever it comes from."
        )
        self.column.addWidget(label(text, "muted", self))
        self._form = QFormLayout()
        self._form.setHorizontalSpacing(18)
        self._form.setVerticalSpacing(8)
        self._form.setContentsMargins(0, 8, 0, 0)
        self._form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self.column.addLayout(self._form)
        self.mirror = self._line(self.tr("Mirror of the package index"), "https://mirror.example/simple/")
        self.torch_mirror = self._line(self.tr("Mirror of PyTorch's index"), "https://mirror.example/whl/")
        self.proxy = self._line(self.tr("Proxy"), "http://proxy.example:3128")

    def _line(self, name: str, example: str) -> QLineEdit:
        line = QLineEdit(self)
        line.setMinimumHeight(LINE_HEIGHT)
        line.setPlaceholderText(example)
        line.setAccessibleName(name)
        self._form.addRow(label(name, parent=self), line)
        return line

    def show_sources(self, sources: Sources) -> None:
        self.mirror.setText(sources.mirror)
        self.torch_mirror.setText(sources.torch_mirror)
        self.proxy.setText(sources.proxy)

    def sources(self) -> Sources:
        """Raises BadOption, naming what is no address."""
        return Sources(
            self._address(self.mirror, WEB),
            self._address(self.torch_mirror, WEB),
            self._address(self.proxy, PROXIES),
        )

    def _address(self, line: QLineEdit, schemes: tuple[str, ...]) -> str:
        text = line.text().strip()
        try:
            parts = urlsplit(text)
            is_address = parts.scheme in schemes and bool(parts.hostname)
        except ValueError:
            is_address = False
        if text and not is_address:
            raise BadOption(
                self.tr("{}: “{}” is no address.").format(line.accessibleName(), text),
                self.tr("It begins with {}.").format(" / ".join(f"{scheme}://" for scheme in schemes)),
            )
        return text
