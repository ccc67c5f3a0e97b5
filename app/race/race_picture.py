"""The result of a race as a picture: both answers, their figures and times, and the factor."""

from pathlib import Path

from PySide6.QtCore import QCoreApplication, QDateTime, QLocale, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QImage, QPainter, QPen, QTextLayout
from PySide6.QtWidgets import QApplication

from app import formatting
from app.race import race_words
from app.race.race_record import RaceRecording
from app.widgets import theme
from app.widgets.picture_file import write_png

WIDTH, HEIGHT = 1200, 675  # 16:9, as posts and slides show it
SCALE = 2
SHORT = QLocale.FormatType.ShortFormat
EDGE, GAP, PADDING = 40.0, 24.0, 20.0
TOP, CARDS, BARS = 96.0, 330.0, 470.0  # y of the cards, their height, y of the bars


def _tr(text: str) -> str:
    return QCoreApplication.translate("race_picture", text)


def picture_of(race: RaceRecording) -> QImage:
    """Return the picture, in the colours of the theme in use."""
    image = QImage(QSize(WIDTH, HEIGHT) * SCALE, QImage.Format.Format_ARGB32)
    image.setDevicePixelRatio(SCALE)
    colours = theme.current()
    image.fill(QColor(colours.window))
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    question = " ".join(race.question.split())
    _write(painter, QRectF(EDGE, 32, WIDTH - 2 * EDGE, 44), f"“{question}”", 24, colours.text, is_bold=True)
    width = (WIDTH - 2 * EDGE - GAP) / 2
    for place in range(2):
        _paint_card(painter, QRectF(EDGE + place * (width + GAP), TOP, width, CARDS), race, place)
    _paint_bars(painter, race)
    _write(
        painter, QRectF(EDGE, 570, WIDTH - 2 * EDGE, 40), race_words.factor(race), 26, colours.accent, True
    )
    _write(painter, QRectF(EDGE, 612, WIDTH - 2 * EDGE, 24), race_words.sameness(race), 15, colours.text)
    day = QLocale().toString(QDateTime.fromSecsSinceEpoch(int(race.recorded_at)).date(), SHORT)
    foot = _tr("SpecExec Desktop · {} · {} · times from the first token, each answer alone")
    foot = foot.format(race.lanes[0].device, day)
    _write(painter, QRectF(EDGE, 640, WIDTH - 2 * EDGE, 20), foot, 12, colours.muted)
    painter.end()
    return image


def save_picture(path: Path, race: RaceRecording) -> None:
    """Write the picture as PNG; a file of that name is replaced whole. Raises DiskProblem."""
    write_png(path, picture_of(race))


def _paint_card(painter: QPainter, card: QRectF, race: RaceRecording, place: int) -> None:
    colours, lane = theme.current(), race.lanes[place]
    painter.setPen(QPen(QColor(colours.border), 1))
    painter.setBrush(QColor(colours.surface))
    painter.drawRoundedRect(card, 10, 10)
    inner = card.adjusted(PADDING, PADDING - 4, -PADDING, -PADDING)
    name = race_words.lane_name(race, place)
    _write(painter, QRectF(inner.left(), inner.top(), inner.width(), 26), name, 18, colours.text, True)
    details = QRectF(inner.left(), inner.top() + 28, inner.width(), 20)
    _write(painter, details, race_words.lane_details(lane), 12, colours.muted)
    _write_lines(painter, inner.adjusted(0, 58, 0, -62), lane.text.strip(), 15, colours.text)
    figures = (
        (formatting.decimal(lane.seconds), _tr("seconds")),
        (formatting.number(lane.tokens), _tr("tokens")),
        (race_words.optional(lane.tokens_per_second), _tr("tokens/s")),
        (race_words.optional(lane.tokens_per_pass), _tr("tokens per pass")),
    )
    step = inner.width() / len(figures)
    for column, (value, what) in enumerate(figures):
        x = inner.left() + column * step
        _write(painter, QRectF(x, inner.bottom() - 48, step, 30), value, 22, colours.text, True)
        _write(painter, QRectF(x, inner.bottom() - 18, step, 18), what, 12, colours.muted)


def _paint_bars(painter: QPainter, race: RaceRecording) -> None:
    """Paint how long each answer took, on one scale."""
    colours = theme.current()
    names = [race_words.lane_name(race, place) for place in range(2)]
    metrics = QFontMetricsF(_font(15))
    left = EDGE + min(300.0, max(map(metrics.horizontalAdvance, names)) + 16)
    right = WIDTH - EDGE - 90
    for place, lane in enumerate(race.lanes):
        y = BARS + place * 40
        _write(painter, QRectF(EDGE, y, left - EDGE - 12, 26), names[place], 15, colours.text)
        length = (right - left) * lane.seconds / race.seconds if race.seconds else 0.0
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.accent if place else colours.outline))
        painter.drawRoundedRect(QRectF(left, y + 3, max(4.0, length), 20), 5, 5)
        time = _tr("{} s").format(formatting.decimal(lane.seconds))
        _write(painter, QRectF(left + max(4.0, length) + 10, y, 90, 26), time, 15, colours.text, True)


def _write_lines(painter: QPainter, room: QRectF, text: str, pixels: int, colour: str) -> None:
    """Write as many whole lines of a text as there is room for."""
    painter.setPen(QColor(colour))
    top = room.top()
    for paragraph in text.split("\n"):
        layout = QTextLayout(paragraph, _font(pixels))
        layout.beginLayout()
        while (line := layout.createLine()).isValid():
            line.setLineWidth(room.width())
            if top + line.height() > room.bottom():
                line.setNumColumns(0)
                layout.endLayout()
                layout.draw(painter, QPointF())
                return
            line.setPosition(QPointF(room.left(), top))
            top += line.height()
        layout.endLayout()
        layout.draw(painter, QPointF())


def _font(pixels: int, is_bold: bool = False) -> QFont:
    font = QFont(QApplication.font())
    font.setPixelSize(pixels)
    if is_bold:
        font.setWeight(QFont.Weight.DemiBold)
    return font


def _write(
    painter: QPainter, room: QRectF, text: str, pixels: int, colour: str, is_bold: bool = False
) -> None:
    """Write one line of text, shortened with "…" where it does not fit."""
    font = _font(pixels, is_bold)
    metrics = QFontMetricsF(font)
    painter.setFont(font)
    painter.setPen(QColor(colour))
    shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, room.width())
    middle = room.center().y() + (metrics.ascent() - metrics.descent()) / 2
    painter.drawText(QPointF(room.left(), middle), shown)
