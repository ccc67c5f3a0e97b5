"""Draw the icon as PNG and Windows .ico files; Qt renders them from the SVG."""

import struct
from pathlib import Path

from installers.common import ROOT, run, tool, tools

SOURCE = ROOT / "resources" / "icons" / "specexec.svg"
DRAW = """
import sys
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer
application = QGuiApplication([])
image = QImage(int(sys.argv[3]), int(sys.argv[3]), QImage.Format.Format_ARGB32)
image.fill(0)
painter = QPainter(image)
QSvgRenderer(sys.argv[1]).render(painter)
painter.end()
sys.exit(not image.save(sys.argv[2]))
"""


def png(target: Path, size: int) -> Path:
    tools()
    target.parent.mkdir(parents=True, exist_ok=True)
    run([tool("python"), "-c", DRAW, SOURCE, target, str(size)], QT_QPA_PLATFORM="offscreen")
    return target


def ico(target: Path, folder: Path) -> None:
    """Write an .ico file that contains PNGs of several sizes, a form supported since Windows Vista."""
    sizes = (16, 24, 32, 48, 64, 256)
    images = [png(folder / f"{size}.png", size).read_bytes() for size in sizes]
    at = 6 + 16 * len(sizes)
    head, body = struct.pack("<HHH", 0, 1, len(sizes)), b""
    for size, image in zip(sizes, images, strict=True):
        head += struct.pack("<BBBBHHII", size % 256, size % 256, 0, 0, 1, 32, len(image), at + len(body))
        body += image
    target.write_bytes(head + body)
