"""Every colour and the few style rules, in one place: a light and a dark set, text at 4.5:1 or more."""

from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFont, QPalette
from PySide6.QtWidgets import QApplication


@dataclass(frozen=True, slots=True)
class Tokens:
    """Colours by what they are for, as #rrggbb."""

    window: str
    surface: str  # where text is read and written
    raised: str  # what stands out on a surface: a question, code, a growing node
    border: str
    outline: str  # shapes that carry meaning (3:1 on surface)
    text: str
    muted: str
    accent: str
    on_accent: str
    bonus: str
    on_bonus: str
    danger: str
    time_draft: str
    time_target: str
    time_wait: str
    time_other: str
    code_keyword: str
    code_string: str
    code_number: str
    code_comment: str


LIGHT = Tokens(
    window="#f4f4f1",
    surface="#fcfcfa",
    raised="#eaebe6",
    border="#d8d9d3",
    outline="#8a9089",
    text="#1d2225",
    muted="#565e63",
    accent="#0b6b5d",
    on_accent="#ffffff",
    bonus="#9a4a06",
    on_bonus="#ffffff",
    danger="#a4262c",
    time_draft="#5a78c8",
    time_target="#0b6b5d",
    time_wait="#c07a1e",
    time_other="#8a9089",
    code_keyword="#7a2e8c",
    code_string="#2b6119",
    code_number="#8f3f0a",
    code_comment="#5a6166",
)

DARK = Tokens(
    window="#17191b",
    surface="#1d2022",
    raised="#2a2e31",
    border="#363b3f",
    outline="#757d83",
    text="#e4e7e8",
    muted="#a2aab0",
    accent="#58c7b1",
    on_accent="#08231e",
    bonus="#f0b45e",
    on_bonus="#2a1a02",
    danger="#ff9389",
    time_draft="#8aa6ee",
    time_target="#58c7b1",
    time_wait="#f0b45e",
    time_other="#757d83",
    code_keyword="#d6a4ea",
    code_string="#a5d48b",
    code_number="#f0b887",
    code_comment="#a0a8ad",
)


def current() -> Tokens:
    """The set in use, by the application's palette: style rules make a widget's own one transparent."""
    window = QApplication.palette().color(QPalette.ColorRole.Window)
    return DARK if window.lightness() < 128 else LIGHT


def smaller(font: QFont) -> QFont:
    """For text in pictures."""
    font.setPointSizeF(font.pointSizeF() * 0.88)
    return font


def palette(colours: Tokens) -> QPalette:
    role = QPalette.ColorRole
    made = QPalette()
    for roles, colour in (
        ([role.Window], colours.window),
        ([role.Base, role.Button, role.AlternateBase, role.ToolTipBase], colours.surface),
        ([role.WindowText, role.Text, role.ButtonText, role.ToolTipText], colours.text),
        ([role.PlaceholderText], colours.muted),
        ([role.Highlight, role.Link, role.Accent], colours.accent),
        ([role.HighlightedText], colours.on_accent),
        ([role.Mid], colours.border),
    ):
        for each in roles:
            made.setColor(each, QColor(colour))
    for each in (role.WindowText, role.Text, role.ButtonText):
        made.setColor(QPalette.ColorGroup.Disabled, each, QColor(colours.outline))
    return made


def follow_system(app: QApplication) -> None:
    """Dress the application as the desktop is, light or dark, now and whenever that changes."""
    app.setStyle("Fusion")
    hints = app.styleHints()
    hints.colorSchemeChanged.connect(lambda scheme: dress(app, scheme))
    dress(app, hints.colorScheme())


def dress(app: QApplication, scheme: Qt.ColorScheme) -> None:
    colours = DARK if scheme == Qt.ColorScheme.Dark else LIGHT
    app.setPalette(palette(colours))
    app.setStyleSheet(style_sheet(colours))


def style_sheet(c: Tokens) -> str:
    return f"""
    QToolTip {{ color: {c.text}; background: {c.surface}; border: 1px solid {c.border}; padding: 4px; }}
    QFrame#model_bar {{ background: {c.surface}; border: none; border-bottom: 1px solid {c.border}; }}
    QFrame#panel {{ background: {c.surface}; border: none; border-left: 1px solid {c.border}; }}
    QFrame#composer {{ background: {c.surface}; border: 1px solid {c.outline}; border-radius: 10px; }}
    QFrame#composer[active="true"] {{ border-color: {c.accent}; }}
    QFrame#composer QPlainTextEdit {{ background: transparent; border: none; }}
    QFrame#question {{ background: {c.raised}; border-radius: 10px; }}
    QFrame#notice {{ background: {c.surface}; border: 1px solid {c.border}; border-left: 4px solid {c.danger};
                     border-radius: 4px; }}
    QTextBrowser {{ background: transparent; border: none; }}
    QScrollArea, QWidget#column {{ background: transparent; border: none; }}
    QLabel[role="muted"] {{ color: {c.muted}; }}
    QLabel[role="figure"] {{ font-size: 20px; font-weight: 600; }}
    QLabel[role="title"] {{ font-size: 21px; font-weight: 600; }}
    QLabel[role="name"] {{ font-weight: 600; }}
    QLabel[role="danger"] {{ color: {c.danger}; font-weight: 600; }}
    QLabel[role="caption"] {{ color: {c.muted}; font-size: 12px; }}
    QProgressBar {{ background: {c.raised}; border: none; border-radius: 2px; max-height: 4px; }}
    QProgressBar::chunk {{ background: {c.accent}; border-radius: 2px; }}
    QPushButton {{ background: {c.surface}; border: 1px solid {c.border}; border-radius: 6px;
                   padding: 5px 12px; }}
    QPushButton:hover {{ background: {c.raised}; }}
    QPushButton:focus {{ border: 1px solid {c.accent}; }}
    QPushButton:disabled {{ color: {c.outline}; }}
    QPushButton:checked {{ background: {c.raised}; }}
    QPushButton[role="main"] {{ background: {c.accent}; color: {c.on_accent}; border: 1px solid {c.accent};
                                font-weight: 600; }}
    QPushButton[role="main"]:focus {{ border: 2px solid {c.text}; padding: 4px 11px; }}
    QPushButton[role="main"]:disabled {{ background: {c.raised}; color: {c.muted};
                                         border-color: {c.raised}; }}
    QPushButton[role="suggestion"] {{ text-align: left; padding: 9px 14px; }}
    QSplitter::handle {{ background: transparent; }}
    QScrollBar:vertical {{ background: transparent; width: 10px; margin: 0; }}
    QScrollBar::handle:vertical {{ background: {c.border}; border-radius: 4px; min-height: 28px;
                                   margin: 1px; }}
    QScrollBar::handle:vertical:hover {{ background: {c.outline}; }}
    QScrollBar::add-line, QScrollBar::sub-line, QScrollBar::add-page, QScrollBar::sub-page
        {{ background: transparent; border: none; height: 0; width: 0; }}
    """
