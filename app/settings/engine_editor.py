"""The card in which an engine elsewhere is added or changed."""

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QFileDialog, QFormLayout, QHBoxLayout, QLineEdit, QWidget

from app import formatting
from app.background import Work
from app.widgets.flow import Flow
from app.widgets.form_parts import Card, add_line, button, label
from app.widgets.notice import Problem
from app.widgets.plain_text import plain
from app.widgets.theme import LINE_HEIGHT
from engine.errors import SpecExecError
from engine.hub import Stop
from engine.remote import engines
from engine.remote.engines import AddedEngine
from engine.remote.models import RemoteModel, models

MOST_LISTED = 8  # models that a test names


class EngineEditor(Card):
    """The fields of one engine, with buttons that test and save it.

    Attributes:
        name, address, key, certificate: the input fields.
        allow_clear: whether the key may be sent unencrypted; shown where it would be.
        test, save, leave: the buttons.
        outcome: says what a test has found.
        problem: shows why a test or saving failed.

    Signals:
        saved: str, the name of the engine; str, a notice for the user, or ""
        left: the user does not want to save
    """

    saved = Signal(str, str)
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._work = Work(self)
        self._edited: AddedEngine | None = None
        self._title = label(role="name", parent=self)
        self._form = QFormLayout()
        self._form.setContentsMargins(0, 8, 0, 0)
        self._form.setHorizontalSpacing(18)
        self._form.setVerticalSpacing(8)
        self._form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        self._form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self.name = add_line(self._form, self.tr("Name"), self.tr("How you want to call it"), self)
        self.address = add_line(self._form, self.tr("Address"), "https://host:8000/v1", self)
        self.key = add_line(self._form, self.tr("Key"), "", self)
        self.key.setEchoMode(QLineEdit.EchoMode.Password)
        self.certificate = QLineEdit(self)
        self._choose = button(self.tr("Choose…"), self.tr("Choose the certificate"), self)
        self._add_certificate()
        self.allow_clear = QCheckBox(self.tr("Send the key unencrypted"), self)
        self.test = button(self.tr("Test"), self.tr("Test: list the models of this engine"), self)
        self.save = button(self.tr("Save"), parent=self)
        self.leave = button(self.tr("Cancel"), parent=self)
        self.outcome = label(role="muted", parent=self)
        self.problem = Problem(self)
        self._build()
        for line in (self.name, self.address):
            line.textChanged.connect(self._allow)
        self.test.clicked.connect(self._test)
        self.save.clicked.connect(self._save)
        self.leave.clicked.connect(self._leave)
        self._choose.clicked.connect(self._ask_certificate)

    def _add_certificate(self) -> None:
        name, usual = self.tr("Certificate"), self.tr("The system's")
        self.certificate.setMinimumHeight(LINE_HEIGHT)
        self.certificate.setAccessibleName(name)
        self.certificate.setPlaceholderText(usual)
        self.certificate.setToolTip(
            self.tr(
                "A file with the certificate that signs the server's own, in PEM, if the system has it not"
            )
        )
        row = QHBoxLayout()
        row.addWidget(self.certificate, 1)
        row.addWidget(self._choose)
        self._form.addRow(label(name, parent=self), row)

    def _build(self) -> None:
        about = self.tr(
            "Chats with a model of this engine are sent to it. The key is stored in this system's keyring, "
            "and is sent only there."
        )
        buttons = Flow()
        for each in (self.save, self.test, self.leave):
            buttons.addWidget(each)
        self.column.addWidget(self._title)
        self.column.addWidget(label(about, "muted", self))
        self.column.addLayout(self._form)
        self.column.addWidget(self.allow_clear)
        self.column.addSpacing(6)
        self.column.addLayout(buttons)
        self.column.addWidget(self.outcome)
        self.column.addWidget(self.problem)

    def edit(self, engine: AddedEngine | None) -> None:
        """Show the fields of an engine; None: of a new one."""
        self._edited = engine
        shown = engine or AddedEngine("", "")
        self._title.setText(shown.name if engine else self.tr("Add an engine"))
        for line, text in (
            (self.name, shown.name),
            (self.address, shown.address),
            (self.key, ""),
            (self.certificate, shown.certificate),
        ):
            line.setText(text)
        kept = self.tr("Unchanged") if engine else self.tr("None, if it asks for none")
        self.key.setPlaceholderText(kept)
        self.key.setToolTip(plain(kept))
        self.allow_clear.setChecked(shown.allow_clear)
        self.save.setText(self.tr("Save") if engine else self.tr("Add"))
        self.save.setAccessibleName(self.save.text())
        self._clear()
        self._allow()

    def stop(self) -> None:
        """Discard the outcome of a test."""
        self._work.forget("test")
        self.test.setEnabled(bool(self.address.text().strip()))

    @property
    def _engine(self) -> AddedEngine:
        """The engine as entered; one that is tested may have no name yet."""
        return AddedEngine(
            self.name.text().strip() or self.tr("New engine"),
            self.address.text(),
            self.certificate.text().strip(),
            self.allow_clear.isChecked() and not self.allow_clear.isHidden(),
        )

    def _clear(self) -> None:
        self.outcome.hide()
        self.problem.clear()

    def _allow(self) -> None:
        address = self.address.text().strip()
        self.test.setEnabled(bool(address))
        self.save.setEnabled(bool(address and self.name.text().strip()))
        self.allow_clear.setVisible(address.lower().startswith("http://"))

    def _test(self) -> None:
        self._clear()
        engine, key, edited = self._engine, self.key.text(), self._edited

        def ask(stop: Stop) -> list[RemoteModel]:
            meant = engines.checked(engine)
            given = engines.checked_key(key)
            if not given and edited is not None and engines.is_same_server(edited, meant):
                given = engines.key_of(edited.name) or ""
            return models(meant, given or None, stop)

        self.test.setEnabled(False)
        self.outcome.setText(self.tr("Asking for its models…"))
        self.outcome.show()
        self._work.run("test", ask, self._show_models, self._fail)

    def _show_models(self, found: list[RemoteModel]) -> None:
        self.test.setEnabled(True)
        names = [model.id for model in found[:MOST_LISTED]]
        if len(found) > MOST_LISTED:
            names.append(self.tr("and {} more").format(formatting.number(len(found) - MOST_LISTED)))
        self.outcome.setText(self.tr("It answers. Models: {}").format(", ".join(names)))
        self.outcome.show()

    def _save(self) -> None:
        self._clear()
        engine, key, edited = self._engine, self.key.text().strip(), self._edited
        self.save.setEnabled(False)
        self._work.run(
            "save",
            lambda stop: (
                engines.change(edited.name, engine, key or None) if edited else engines.add(engine, key)
            ),
            lambda notice: self.saved.emit(engine.name, notice),
            self._fail,
        )

    def _fail(self, error: SpecExecError) -> None:
        self.outcome.hide()
        self._allow()
        self.problem.show_error(error)

    def _leave(self) -> None:
        self.stop()
        self.left.emit()

    def _ask_certificate(self) -> None:
        dialog = QFileDialog(self, self.certificate.accessibleName(), str(Path.home()))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.certificate.setText)
        dialog.open()
