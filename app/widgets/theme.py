"""All colours and style rules: a light and a dark palette with text contrast of at least 4.5:1."""

from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFont, QFontInfo, QPalette
from PySide6.QtWidgets import QApplication

from engine.assets import RESOURCES

# The mark of all message boxes about problems, also of those that Qt's file dialog opens by itself.
PROBLEM = (RESOURCES / "icons" / "problem.svg").as_posix()


@dataclass(frozen=True, slots=True)
class Palette:
    """Colours by purpose, as #rrggbb."""

    window: str
    surface: str  # behind text that is read or edited
    raised: str  # areas that stand out on a surface: a question, code, a node under construction
    border: str
    outline: str  # shapes that carry meaning, with a contrast of 3:1 on `surface`
    text: str
    muted: str
    accent: str
    on_accent: str
    bonus: str
    on_bonus: str
    danger: str
    found: str  # behind search matches
    time_draft: str
    time_target: str
    time_wait: str
    time_other: str
    source_draft: str  # source_*: for tokens, by the drafter that proposed them
    source_ngram: str
    source_recycling: str
    source_lookahead: str
    source_heads: str
    code_keyword: str
    code_name: str
    code_string: str
    code_number: str
    code_comment: str


LIGHT = Palette(
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
    found="#f7dc8c",
    time_draft="#5a78c8",
    time_target="#0b6b5d",
    time_wait="#c07a1e",
    time_other="#8a9089",
    source_draft="#4568c4",
    source_ngram="#b8326f",
    source_recycling="#7f4bb8",
    source_lookahead="#5c7a14",
    source_heads="#b4531f",
    code_keyword="#7a2e8c",
    code_name="#1f5590",
    code_string="#2b6119",
    code_number="#8f3f0a",
    code_comment="#5a6166",
)

DARK = Palette(
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
    found="#5e4a12",
    time_draft="#8aa6ee",
    time_target="#58c7b1",
    time_wait="#f0b45e",
    time_other="#757d83",
    source_draft="#8aa6ee",
    source_ngram="#f08ab8",
    source_recycling="#c79bea",
    source_lookahead="#b2cc5c",
    source_heads="#f09a70",
    code_keyword="#d6a4ea",
    code_name="#8fbdf5",
    code_string="#a5d48b",
    code_number="#f0b887",
    code_comment="#a0a8ad",
)


def current() -> Palette:
    """Return the palette in use.

    The application's window colour decides, because style rules make that of a widget transparent.
    """
    window = QApplication.palette().color(QPalette.ColorRole.Window)
    return DARK if window.lightness() < 128 else LIGHT


_zoom = 1.0
_desktop_points: list[float] = []  # size of the desktop's font, once it is known


def enlarge(app: QApplication, percent: int) -> None:
    """Show all text of the program in this size, in percent of the desktop's."""
    global _zoom
    font = app.font()
    if not _desktop_points:
        _desktop_points.append(font.pointSizeF())
    if _zoom == percent / 100:
        return
    _zoom = percent / 100
    font.setPointSizeF(_desktop_points[0] * _zoom)
    app.setFont(font)
    app.setStyleSheet(style_sheet(current(), QFontInfo(app.font()).pointSizeF()))


def enlarged(pixels: int) -> int:
    """Return a length that belongs to text, such as its width, in the present size of text."""
    return round(pixels * _zoom)


def smaller(font: QFont) -> QFont:
    """Make `font` smaller, for captions and text in pictures, and return it."""
    font.setPointSizeF(font.pointSizeF() * 0.88)
    return font


def mixed(one: str, other: str, share: float) -> str:
    """Return the first colour with a share of the other."""
    first, second = QColor(one), QColor(other)
    pairs = (
        (first.red(), second.red()),
        (first.green(), second.green()),
        (first.blue(), second.blue()),
    )
    return QColor(*(round(a + share * (b - a)) for a, b in pairs)).name()


def palette(colours: Palette) -> QPalette:
    """Return `colours` as a Qt palette."""
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
        for colour_role in roles:
            made.setColor(colour_role, QColor(colour))
    for text_role in (role.WindowText, role.Text, role.ButtonText):
        made.setColor(QPalette.ColorGroup.Disabled, text_role, QColor(colours.outline))
    return made


def follow_system(app: QApplication) -> None:
    """Apply the desktop's light or dark scheme, now and whenever it changes."""
    app.setStyle("Fusion")
    hints = app.styleHints()
    hints.colorSchemeChanged.connect(lambda scheme: dress(app, scheme))
    dress(app, hints.colorScheme())


def choose(app: QApplication, theme: str) -> None:
    """Apply a theme: "light", "dark", or "system". Window frames follow if the desktop supports it."""
    scheme = {"light": Qt.ColorScheme.Light, "dark": Qt.ColorScheme.Dark}.get(theme, Qt.ColorScheme.Unknown)
    app.styleHints().setColorScheme(scheme)
    dress(app, app.styleHints().colorScheme() if scheme == Qt.ColorScheme.Unknown else scheme)


def dress(app: QApplication, scheme: Qt.ColorScheme) -> None:
    """Apply the palette and style sheet of a colour scheme."""
    colours = DARK if scheme == Qt.ColorScheme.Dark else LIGHT
    made = palette(colours)
    app.setPalette(made)
    # Fusion draws the frames of these widgets in a darker shade of the window colour, which is invisible
    # on a dark background.
    made.setColor(QPalette.ColorRole.Window, QColor(colours.outline).lighter(140))
    for framed in ("QAbstractSpinBox", "QComboBox", "QSlider", "QCheckBox"):
        app.setPalette(made, framed)  # type: ignore[arg-type]  # accepts str, contrary to the stub
    app.setStyleSheet(style_sheet(colours, QFontInfo(app.font()).pointSizeF()))


def style_sheet(c: Palette, points: float = 10.0) -> str:
    """Return the application's style sheet in the colours of `c`. points: the size of usual text."""
    return f"""
    QToolTip {{ color: {c.text}; background: {c.surface}; border: 1px solid {c.border}; padding: 4px; }}
    QFrame#model_bar {{ background: {c.surface}; border: none; border-bottom: 1px solid {c.border}; }}
    QFrame#panel {{ background: {c.surface}; border: none; border-left: 1px solid {c.border}; }}
    QFrame#composer {{ background: {c.surface}; border: 1px solid {c.outline}; border-radius: 10px; }}
    QFrame#composer[active="true"] {{ border-color: {c.accent}; }}
    QFrame#composer QPlainTextEdit {{ background: transparent; border: none; }}
    QFrame#composer QToolButton {{ background: transparent; border: 1px solid transparent;
                                   border-radius: 6px; padding: 1px; }}
    QFrame#composer QToolButton#attach {{ padding: 5px; }}
    QFrame#composer QToolButton:hover {{ background: {c.raised}; }}
    QFrame#composer QToolButton:focus {{ border-color: {c.accent}; }}
    QFrame#chip {{ background: {c.surface}; border: 1px solid {c.outline}; border-radius: 8px; }}
    QFrame#composer QFrame#chip {{ background: {c.raised}; }}
    QFrame#question {{ background: {c.raised}; border-radius: 10px; }}
    QFrame#notice {{ background: {c.surface}; border: 1px solid {c.border}; border-left: 4px solid {c.danger};
                     border-radius: 4px; }}
    QFrame#notice[tone="offer"] {{ border-left-color: {c.accent}; }}
    QFrame#rule {{ background: {c.border}; border: none; }}
    QTextBrowser {{ background: transparent; border: none; }}
    QScrollArea, QWidget#column {{ background: transparent; border: none; }}
    QLabel[role="muted"] {{ color: {c.muted}; }}
    QLabel[role="figure"] {{ font-size: {1.5 * points:.1f}pt; font-weight: 600; }}
    QLabel[role="title"] {{ font-size: {1.6 * points:.1f}pt; font-weight: 600; }}
    QLabel[role="name"] {{ font-weight: 600; }}
    QLabel[role="danger"] {{ color: {c.danger}; font-weight: 600; }}
    QLabel[role="caption"] {{ color: {c.muted}; font-size: {0.92 * points:.1f}pt; }}
    QLabel[role="section"] {{ font-weight: 600; color: {c.accent}; padding: 12px 0 2px 0;
                              qproperty-indent: 0; }}
    QLabel[role="key"] {{ background: {c.raised}; border: 1px solid {c.border}; border-radius: 4px;
                          padding: 1px 7px; }}
    QTabWidget::pane {{ border: none; border-top: 1px solid {c.border}; }}
    QTabBar {{ qproperty-drawBase: 0; }}
    QTabBar::tab {{ background: transparent; color: {c.muted}; border: none; padding: 6px 2px;
                    margin-right: 18px; border-bottom: 2px solid transparent; }}
    QTabBar::tab:selected {{ color: {c.text}; border-bottom: 2px solid {c.accent}; }}
    QTabBar::tab:hover {{ color: {c.text}; }}
    QTabBar::tab:focus {{ border-bottom: 2px solid {c.text}; }}
    QFrame#panel QToolButton, QFrame#model_bar QToolButton, QDialog#settings QToolButton
        {{ background: {c.surface}; border: 1px solid {c.border}; border-radius: 6px; padding: 3px 9px; }}
    QFrame#model_bar QToolButton, QDialog#settings QToolButton {{ padding: 4px; }}
    QFrame#panel QToolButton:hover, QFrame#panel QToolButton:checked, QFrame#model_bar QToolButton:hover,
    QFrame#model_bar QToolButton:checked, QDialog#settings QToolButton:hover {{ background: {c.raised}; }}
    QFrame#panel QToolButton:focus, QFrame#model_bar QToolButton:focus, QDialog#settings QToolButton:focus
        {{ border: 1px solid {c.accent}; }}
    QFrame#panel QToolButton:disabled {{ color: {c.outline}; }}
    QFrame#model_bar QToolButton#model_button {{ border: 1px solid transparent; font-weight: 600;
                                                 padding: 3px 6px; }}
    QFrame#model_bar QToolButton#model_button:focus {{ border: 1px solid {c.accent}; }}
    QFrame#model_bar QToolButton#place_sign {{ background: transparent; border: 1px solid transparent;
        border-radius: 5px; color: {c.muted}; font-size: {0.92 * points:.1f}pt; padding: 0 4px; }}
    QFrame#model_bar QToolButton#place_sign[elsewhere="true"] {{ border-color: {c.bonus};
        background: {mixed(c.surface, c.bonus, 0.16)}; color: {c.text}; font-weight: 600; }}
    QFrame#model_bar QToolButton#place_sign:focus {{ border-color: {c.accent}; }}
    QFrame#model_picker, QFrame#figures, QFrame#instructions
        {{ background: {c.surface}; border: 1px solid {c.outline}; }}
    QFrame#chip {{ border: none; border-radius: 6px; }}
    QFrame#chip[role="set"] {{ background: {c.raised}; }}
    QFrame#instructions QPlainTextEdit {{ background: {c.surface}; border: 1px solid {c.outline};
                                          border-radius: 6px; padding: 3px 6px; }}
    QFrame#instructions QPlainTextEdit:focus {{ border-color: {c.accent}; }}
    QListView#models, QListView#presets {{ background: transparent; border: none; outline: none; }}
    QListView#models::item, QListView#presets::item {{ padding: 4px 6px; border-radius: 4px; }}
    QListView#models::item:selected, QListView#presets::item:selected
        {{ background: {c.raised}; color: {c.text}; }}
    QListView#models::item:hover, QListView#presets::item:hover {{ background: {c.raised}; }}
    QListView#models::item:disabled {{ background: transparent; color: {c.muted}; }}
    QProgressBar {{ background: {c.raised}; border: none; border-radius: 2px; max-height: 4px; }}
    QProgressBar::chunk {{ background: {c.accent}; border-radius: 2px; }}
    QPushButton {{ background: {c.surface}; border: 1px solid {c.border}; border-radius: 6px;
                   padding: 5px 12px; }}
    QPushButton:hover {{ background: {c.raised}; }}
    QPushButton:focus {{ border: 1px solid {c.accent}; outline: none; }}
    QPushButton:disabled {{ color: {c.outline}; }}
    QPushButton:checked {{ background: {c.raised}; }}
    QPushButton[role="main"] {{ background: {c.accent}; color: {c.on_accent}; border: 1px solid {c.accent};
                                font-weight: 600; }}
    QPushButton[role="main"]:focus {{ border: 2px solid {c.text}; padding: 4px 11px; }}
    QPushButton[role="main"]:disabled {{ background: {c.raised}; color: {c.muted};
                                         border-color: {c.raised}; }}
    QPushButton[role="suggestion"] {{ text-align: left; padding: 9px 14px; }}
    QFrame#panel QTreeWidget {{ background: transparent; border: none; }}
    QFrame#panel QHeaderView::section {{ background: transparent; color: {c.muted}; border: none;
                                         padding: 4px 6px; }}
    QFrame#sidebar {{ background: {c.window}; border: none; border-right: 1px solid {c.border}; }}
    QFrame#sidebar QToolButton {{ background: transparent; border: 1px solid transparent; border-radius: 6px;
                                  padding: 4px; }}
    QFrame#sidebar QToolButton:hover {{ background: {c.raised}; }}
    QFrame#sidebar QToolButton:focus {{ border-color: {c.accent}; }}
    QToolButton::menu-indicator {{ image: none; }}
    QTreeView#chats, QListView#found {{ background: transparent; border: none; outline: none; }}
    QLineEdit#rename {{ background: {c.surface}; color: {c.text}; border: 1px solid {c.accent};
                        border-radius: 6px; padding: 0 8px; }}
    QFrame[role="card"], QFrame[role="recommended"] {{ background: {c.surface}; border: 1px solid {c.border};
                                                      border-radius: 8px; }}
    QFrame[role="recommended"] {{ border: 2px solid {c.accent}; }}
    QLabel[role="heading"] {{ font-size: {1.2 * points:.1f}pt; font-weight: 600; }}
    QLabel[role="step"] {{ color: {c.muted}; }}
    QLabel[role="current_step"] {{ color: {c.accent}; font-weight: 600; }}
    QFrame#wizard_foot {{ background: {c.surface}; border: none; border-top: 1px solid {c.border}; }}
    QTableView#pairs, QListWidget#choices {{ background: {c.surface}; border: 1px solid {c.border};
                                             border-radius: 6px; outline: none; }}
    QTableView#pairs:focus, QListWidget#choices:focus {{ border-color: {c.accent}; }}
    QTableView#pairs::item {{ padding: 0 8px; border: none; }}
    QListWidget#choices::item {{ padding: 7px 10px; border: none; }}
    QTableView#pairs::item:selected, QListWidget#choices::item:selected {{ background: {c.accent};
                                                                           color: {c.on_accent}; }}
    QListWidget#choices::indicator {{ width: 12px; height: 12px; background: {c.surface};
                                      border: 1px solid {c.outline}; border-radius: 3px; }}
    QTableView#pairs QHeaderView::section {{ background: {c.surface}; color: {c.muted}; border: none;
                                             border-bottom: 1px solid {c.border}; padding: 7px 8px; }}
    QDialog#settings QLineEdit, QDialog#settings QPlainTextEdit, QDialog#file_preview QPlainTextEdit
        {{ background: {c.surface}; border: 1px solid {c.outline}; border-radius: 6px; padding: 3px 6px; }}
    QDialog#settings QLineEdit:focus, QDialog#settings QPlainTextEdit:focus,
    QDialog#file_preview QPlainTextEdit:focus {{ border-color: {c.accent}; }}
    QDialog#wizard QLineEdit, QDialog#prompt_fields QLineEdit,
    QDialog#settings QFrame[role="card"] QLineEdit
        {{ background: {c.surface}; border: 1px solid {c.outline}; border-radius: 6px; padding: 0 8px; }}
    QDialog#wizard QLineEdit:focus, QDialog#prompt_fields QLineEdit:focus,
    QDialog#settings QFrame[role="card"] QLineEdit:focus
        {{ border-color: {c.accent}; }}
    QMessageBox {{ background: {c.surface}; messagebox-critical-icon: url("{PROBLEM}");
                   messagebox-warning-icon: url("{PROBLEM}"); messagebox-question-icon: none;
                   messagebox-information-icon: none; }}
    QMessageBox QLabel#qt_msgbox_label {{ font-weight: 600; }}
    QDialogButtonBox {{ dialogbuttonbox-buttons-have-icons: 0; }}
    QFrame#note_bar {{ background: {c.surface}; border: none; border-top: 1px solid {c.border}; }}
    QFrame#find_bar {{ background: {c.surface}; border: none; border-bottom: 1px solid {c.border}; }}
    QFrame#find_bar QLineEdit {{ background: {c.window}; border: 1px solid {c.border}; border-radius: 6px;
                                 padding: 4px 8px; }}
    QFrame#find_bar QLineEdit:focus {{ border-color: {c.accent}; }}
    QFrame#find_bar QToolButton {{ background: transparent; border: 1px solid transparent; border-radius: 6px;
                                   padding: 4px; }}
    QFrame#find_bar QToolButton:hover, QFrame#find_bar QToolButton:checked {{ background: {c.raised}; }}
    QFrame#find_bar QToolButton:focus {{ border-color: {c.accent}; }}
    QFrame#search_palette {{ background: {c.surface}; border: 1px solid {c.outline}; border-radius: 10px; }}
    QFrame#search_palette QLineEdit {{ background: transparent; border: none; font-size: {1.2 * points:.1f}pt;
                                       border-bottom: 1px solid {c.border}; padding: 14px 16px; }}
    QSplitter::handle {{ background: transparent; }}
    QScrollBar:vertical {{ background: transparent; width: 10px; margin: 0; }}
    QScrollBar::handle:vertical {{ background: {c.border}; border-radius: 4px; min-height: 28px;
                                   margin: 1px; }}
    QScrollBar::handle:vertical:hover {{ background: {c.outline}; }}
    QScrollBar:horizontal {{ background: transparent; height: 8px; margin: 0; }}
    QScrollBar::handle:horizontal {{ background: {c.outline}; border-radius: 3px; min-width: 28px;
                                     margin: 1px; }}
    QScrollBar::handle:horizontal:focus, QScrollBar::handle:horizontal:hover {{ background: {c.accent}; }}
    QScrollBar::add-line, QScrollBar::sub-line, QScrollBar::add-page, QScrollBar::sub-page
        {{ background: transparent; border: none; height: 0; width: 0; }}
    """
