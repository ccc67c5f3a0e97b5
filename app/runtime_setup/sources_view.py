"""Package mirrors and a proxy, for networks without direct access to the Internet."""

from urllib.parse import urlsplit

from PySide6.QtWidgets import QFormLayout, QLineEdit, QWidget

from app.widgets.form_parts import Card, label
from app.widgets.theme import LINE_HEIGHT
from engine.errors import BadOption
from engine.runtime import Sources

WEB = ("http", "https")
PROXIES = (*WEB, "socks5", "socks5h")


class SourcesView(Card):
    """A card in which the user enters package mirrors and a proxy.

    Attributes:
        mirror, torch_mirror, proxy: the input fields for the addresses; an empty one stands for the default.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        text = self.tr("Every package is verified with a checksum from this program, whatever its source.")
        self.column.addWidget(label(text, "muted", self))
        self._form = QFormLayout()
        self._form.setHorizontalSpacing(18)
        self._form.setVerticalSpacing(8)
        self._form.setContentsMargins(0, 8, 0, 0)
        self._form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self.column.addLayout(self._form)
        self.mirror = self._line(self.tr("Package index mirror"), "https://mirror.example/simple/")
        self.torch_mirror = self._line(self.tr("PyTorch index mirror"), "https://mirror.example/whl/")
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
        """Return the sources as entered. Raises BadOption, which names the invalid address."""
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
                self.tr("{}: “{}” is not a valid address.").format(line.accessibleName(), text),
                self.tr("An address must start with {}.").format(
                    " / ".join(f"{scheme}://" for scheme in schemes)
                ),
            )
        return text
