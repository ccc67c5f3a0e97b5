"""The style rules of all windows, and the theme that is in use."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFont, QFontInfo, QPalette
from PySide6.QtWidgets import QApplication

from app.widgets.palettes import DARK, DARK_CONTRAST, LIGHT, LIGHT_CONTRAST, Palette
from engine.assets import RESOURCES

# The mark of all message boxes about problems, also of those that Qt's file dialog opens by itself.
PROBLEM = (RESOURCES / "icons" / "problem.svg").as_posix()

LINE_HEIGHT = 30  # pixels; makes input fields as high as buttons

_SCHEMES = {"light": Qt.ColorScheme.Light, "dark": Qt.ColorScheme.Dark}
_BY_WINDOW = {each.window: each for each in (LIGHT, DARK, LIGHT_CONTRAST, DARK_CONTRAST)}
_chosen = "system"


def current() -> Palette:
    """Return the palette in use.

    The application's window colour decides, because style rules make that of a widget transparent.
    """
    window = QApplication.palette().color(QPalette.ColorRole.Window)
    return _BY_WINDOW.get(window.name(), DARK if window.lightness() < 128 else LIGHT)


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
    """Apply the desktop's scheme, light or dark, and its contrast, now and whenever they change."""
    app.setStyle("Fusion")
    hints = app.styleHints()
    hints.colorSchemeChanged.connect(lambda: _follow(app))
    hints.accessibility().contrastPreferenceChanged.connect(lambda: _follow(app))
    _follow(app)


def choose(app: QApplication, theme: str) -> None:
    """Apply a theme: "light", "dark", "contrast", or "system". Window frames follow if the desktop supports
    it. High contrast is light or dark as the desktop is; "system" has high contrast if the desktop does."""
    global _chosen
    _chosen = theme
    app.styleHints().setColorScheme(_SCHEMES.get(theme, Qt.ColorScheme.Unknown))
    _follow(app)


def _follow(app: QApplication) -> None:
    """Apply the chosen theme, as far as it leaves that open in the desktop's colours."""
    wants_contrast = _chosen == "contrast" or (_chosen == "system" and asks_for_contrast(app))
    dress(app, _SCHEMES.get(_chosen) or app.styleHints().colorScheme(), contrast=wants_contrast)


def asks_for_contrast(app: QApplication) -> bool:
    """Return whether the desktop is set to high contrast, if it tells."""
    hints = app.styleHints()  # kept, because what it returns does not outlive it
    return hints.accessibility().contrastPreference() == Qt.ContrastPreference.HighContrast


def dress(app: QApplication, scheme: Qt.ColorScheme, *, contrast: bool = False) -> None:
    """Apply the palette and style sheet of a colour scheme. contrast: those of high contrast."""
    is_dark = scheme == Qt.ColorScheme.Dark
    usual, strong = (DARK, DARK_CONTRAST) if is_dark else (LIGHT, LIGHT_CONTRAST)
    colours = strong if contrast else usual
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
    line = f"{c.line}px solid"
    return f"""
    QToolTip {{ color: {c.text}; background: {c.surface}; border: {line} {c.border}; padding: 4px; }}
    QFrame#model_bar {{ background: {c.surface}; border: none; border-bottom: {line} {c.border}; }}
    QFrame#panel {{ background: {c.surface}; border: none; border-left: {line} {c.border}; }}
    QFrame#composer {{ background: {c.surface}; border: {line} {c.outline}; border-radius: 10px; }}
    QFrame#composer[active="true"] {{ border-color: {c.accent}; }}
    QFrame#composer QPlainTextEdit {{ background: transparent; border: none; }}
    QFrame#composer QToolButton {{ background: transparent; border: {line} transparent;
                                   border-radius: 6px; padding: 1px; }}
    QFrame#composer QToolButton#attach {{ padding: 5px; }}
    QFrame#composer QToolButton:hover {{ background: {c.raised}; }}
    QFrame#composer QToolButton:focus {{ border-color: {c.accent}; }}
    QFrame#chip {{ background: {c.surface}; border: {line} {c.outline}; border-radius: 8px; }}
    QFrame#composer QFrame#chip {{ background: {c.raised}; }}
    QFrame#question {{ background: {c.raised}; border-radius: 10px; }}
    QFrame#notice {{ background: {c.surface}; border: {line} {c.border}; border-left: 4px solid {c.danger};
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
    QLabel[role="key"] {{ background: {c.raised}; border: {line} {c.border}; border-radius: 4px;
                          padding: 1px 7px; }}
    QTabWidget::pane {{ border: none; border-top: {line} {c.border}; }}
    QTabBar {{ qproperty-drawBase: 0; outline: none; }}
    QTabBar::tab {{ background: transparent; color: {c.muted}; border: none; padding: 6px 2px;
                    margin-right: 18px; border-bottom: 2px solid transparent; }}
    QTabBar::tab:selected {{ color: {c.text}; border-bottom: 2px solid {c.accent}; }}
    QTabBar::tab:hover {{ color: {c.text}; }}
    QTabBar::tab:focus {{ border-bottom: 2px solid {c.text};
                          background: {mixed(c.surface, c.accent, 0.16)}; }}
    QFrame#panel QToolButton, QFrame#model_bar QToolButton, QDialog#settings QToolButton
        {{ background: {c.surface}; border: {line} {c.border}; border-radius: 6px; padding: 3px 9px; }}
    QFrame#model_bar QToolButton, QDialog#settings QToolButton {{ padding: 4px; }}
    QFrame#panel QToolButton:hover, QFrame#panel QToolButton:checked, QFrame#model_bar QToolButton:hover,
    QFrame#model_bar QToolButton:checked, QDialog#settings QToolButton:hover {{ background: {c.raised}; }}
    QFrame#panel QToolButton:focus, QFrame#model_bar QToolButton:focus, QDialog#settings QToolButton:focus
        {{ border: {line} {c.accent}; }}
    QFrame#panel QToolButton:disabled {{ color: {c.outline}; }}
    QFrame#model_bar QToolButton#model_button {{ border: {line} transparent; font-weight: 600;
                                                 padding: 3px 6px; }}
    QFrame#model_bar QToolButton#model_button:focus {{ border: {line} {c.accent}; }}
    QFrame#model_bar QToolButton#place_sign {{ background: transparent; border: {line} transparent;
        border-radius: 5px; color: {c.muted}; font-size: {0.92 * points:.1f}pt; padding: 0 4px; }}
    QFrame#model_bar QToolButton#place_sign[elsewhere="true"] {{ border-color: {c.bonus};
        background: {mixed(c.surface, c.bonus, 0.16)}; color: {c.text}; font-weight: 600; }}
    QFrame#model_bar QToolButton#place_sign:focus {{ border-color: {c.accent}; }}
    QFrame#model_picker, QFrame#figures, QFrame#instructions
        {{ background: {c.surface}; border: {line} {c.outline}; }}
    QFrame#chip {{ border: none; border-radius: 6px; }}
    QFrame#chip[role="set"] {{ background: {c.raised}; }}
    QFrame#instructions QPlainTextEdit {{ background: {c.surface}; border: {line} {c.outline};
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
    QPushButton {{ background: {c.surface}; border: {line} {c.border}; border-radius: 6px;
                   padding: 5px 12px; }}
    QPushButton:hover {{ background: {c.raised}; }}
    QPushButton:focus {{ border: {line} {c.accent}; outline: none; }}
    QPushButton:disabled {{ color: {c.outline}; }}
    QPushButton:checked {{ background: {c.raised}; }}
    QPushButton[role="main"] {{ background: {c.accent}; color: {c.on_accent}; border: {line} {c.accent};
                                font-weight: 600; }}
    QPushButton[role="main"]:focus {{ border: 2px solid {c.text}; padding: 4px 11px; }}
    QPushButton[role="main"]:disabled {{ background: {c.raised}; color: {c.muted};
                                         border-color: {c.raised}; }}
    QPushButton[role="suggestion"] {{ text-align: left; padding: 9px 14px; }}
    QFrame#panel QTreeWidget {{ background: transparent; border: none; }}
    QFrame#panel QTreeWidget::item {{ padding: 2px 6px; border: none; }}
    QFrame#panel QTreeWidget::item:selected {{ background: {c.accent}; color: {c.on_accent}; }}
    QFrame#panel QHeaderView::section {{ background: transparent; color: {c.muted}; border: none;
                                         padding: 4px 6px; }}
    QFrame#sidebar {{ background: {c.window}; border: none; border-right: {line} {c.border}; }}
    QFrame#sidebar QToolButton {{ background: transparent; border: {line} transparent; border-radius: 6px;
                                  padding: 4px; }}
    QFrame#sidebar QToolButton:hover {{ background: {c.raised}; }}
    QFrame#sidebar QToolButton:focus {{ border-color: {c.accent}; }}
    QToolButton::menu-indicator {{ image: none; }}
    QTreeView#chats, QListView#found {{ background: transparent; border: none; outline: none; }}
    QLineEdit#rename {{ background: {c.surface}; color: {c.text}; border: {line} {c.accent};
                        border-radius: 6px; padding: 0 8px; }}
    QFrame[role="card"], QFrame[role="recommended"] {{ background: {c.surface}; border: {line} {c.border};
                                                      border-radius: 8px; }}
    QFrame[role="recommended"] {{ border: 2px solid {c.accent}; }}
    QLabel[role="heading"] {{ font-size: {1.2 * points:.1f}pt; font-weight: 600; }}
    QLabel[role="step"] {{ color: {c.muted}; }}
    QLabel[role="current_step"] {{ color: {c.accent}; font-weight: 600; }}
    QFrame#wizard_foot {{ background: {c.surface}; border: none; border-top: {line} {c.border}; }}
    QTableView#pairs, QListWidget#choices {{ background: {c.surface}; border: {line} {c.border};
                                             border-radius: 6px; outline: none; }}
    QTableView#pairs:focus, QListWidget#choices:focus {{ border-color: {c.accent}; }}
    QTableView#pairs::item {{ padding: 0 8px; border: none; }}
    QListWidget#choices::item {{ padding: 7px 10px; border: none; }}
    QTableView#pairs::item:selected, QListWidget#choices::item:selected {{ background: {c.accent};
                                                                           color: {c.on_accent}; }}
    QListWidget#choices::indicator {{ width: 12px; height: 12px; background: {c.surface};
                                      border: {line} {c.outline}; border-radius: 3px; }}
    QTableView#pairs QHeaderView::section {{ background: {c.surface}; color: {c.muted}; border: none;
                                             border-bottom: {line} {c.border}; padding: 7px 11px; }}
    QDialog#settings QLineEdit, QDialog#settings QPlainTextEdit, QDialog#file_preview QPlainTextEdit,
    QDialog#race QPlainTextEdit
        {{ background: {c.surface}; border: {line} {c.outline}; border-radius: 6px; padding: 3px 6px; }}
    QDialog#settings QLineEdit:focus, QDialog#settings QPlainTextEdit:focus,
    QDialog#file_preview QPlainTextEdit:focus, QDialog#race QPlainTextEdit:focus
        {{ border-color: {c.accent}; }}
    QDialog#wizard QLineEdit, QDialog#prompt_fields QLineEdit, QFrame#model_picker QLineEdit,
    QDialog#settings QFrame[role="card"] QLineEdit
        {{ background: {c.surface}; border: {line} {c.outline}; border-radius: 6px; padding: 0 8px; }}
    QDialog#wizard QLineEdit:focus, QDialog#prompt_fields QLineEdit:focus,
    QFrame#model_picker QLineEdit:focus,
    QDialog#settings QFrame[role="card"] QLineEdit:focus
        {{ border-color: {c.accent}; }}
    QMessageBox {{ background: {c.surface}; messagebox-critical-icon: url("{PROBLEM}");
                   messagebox-warning-icon: url("{PROBLEM}"); messagebox-question-icon: none;
                   messagebox-information-icon: none; }}
    QMessageBox QLabel#qt_msgbox_label {{ font-weight: 600; }}
    QDialogButtonBox {{ dialogbuttonbox-buttons-have-icons: 0; }}
    QFrame#note_bar {{ background: {c.surface}; border: none; border-top: {line} {c.border}; }}
    QFrame#find_bar {{ background: {c.surface}; border: none; border-bottom: {line} {c.border}; }}
    QFrame#find_bar QLineEdit {{ background: {c.window}; border: {line} {c.border}; border-radius: 6px;
                                 padding: 4px 8px; }}
    QFrame#find_bar QLineEdit:focus {{ border-color: {c.accent}; }}
    QFrame#find_bar QToolButton {{ background: transparent; border: {line} transparent; border-radius: 6px;
                                   padding: 4px; }}
    QFrame#find_bar QToolButton:hover, QFrame#find_bar QToolButton:checked {{ background: {c.raised}; }}
    QFrame#find_bar QToolButton:focus {{ border-color: {c.accent}; }}
    QFrame#search_palette {{ background: {c.surface}; border: {line} {c.outline}; border-radius: 10px; }}
    QFrame#search_palette QLineEdit {{ background: transparent; border: none; font-size: {1.2 * points:.1f}pt;
                                       border-bottom: {line} {c.border}; padding: 14px 16px; }}
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
    QAbstractSpinBox, QComboBox {{ min-height: 1.6em; }}
    """ + (_strong_marks(c) if c in (LIGHT_CONTRAST, DARK_CONTRAST) else "")


def _strong_marks(c: Palette) -> str:
    """Return style rules that mark the focus and what is chosen by more than a shade."""
    return f"""
    QPushButton[role="main"]:focus {{ border: 3px dashed {c.on_accent}; padding: 4px 11px; }}
    QListView#models::item:selected, QListView#presets::item:selected
        {{ background: {c.accent}; color: {c.on_accent}; }}
    QPushButton:checked, QFrame#panel QToolButton:checked, QFrame#model_bar QToolButton:checked
        {{ border: {c.line}px solid {c.accent}; }}
    QTabBar::tab:selected {{ border-bottom: 4px solid {c.accent}; }}
    QTabBar::tab:focus {{ border-bottom: 4px solid {c.text}; }}
    """
