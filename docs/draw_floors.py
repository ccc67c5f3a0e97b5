"""Draw docs/floors.svg from the layer contracts in pyproject.toml.

usage: python docs/draw_floors.py
"""

import tomllib
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "floors.svg"

COLUMN, ROW, BOX, GAP, TOP = 420, 36, 28, 8, 64  # pixels
COLOURS = {"app": ("#dbeafe", "#1e3a8a"), "engine": ("#dcfce7", "#14532d")}
TITLES = {"app": "app: the window (no torch)", "engine": "engine: everything that computes (no Qt)"}


def floors(room: str) -> list[list[str]]:
    """The layers of the contract of `room`, from the top; each is a list of rooms."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    (layers,) = (contract["layers"] for contract in contracts if contract.get("containers") == [room])
    return [layer.split(" | ") for layer in layers]


def draw() -> str:
    columns = {room: floors(room) for room in ("app", "engine")}
    height = TOP + ROW * max(map(len, columns.values())) + 16
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * COLUMN + 24} {height}" '
        'font-family="sans-serif" font-size="13">',
        f'<rect width="{2 * COLUMN + 24}" height="{height}" fill="#ffffff"/>',
    ]
    for number, (room, layers) in enumerate(columns.items()):
        left = 8 + number * (COLUMN + 8)
        parts.append(f'<text x="{left}" y="28" font-size="16" fill="#111827">{escape(TITLES[room])}</text>')
        parts.append(f'<text x="{left}" y="48" fill="#4b5563">each room uses only rooms below it</text>')
        for row, rooms in enumerate(layers):
            parts += _layer(left, TOP + row * ROW, rooms, *COLOURS[room])
    return "\n".join([*parts, "</svg>", ""])


def _layer(left: int, top: int, rooms: list[str], fill: str, ink: str) -> list[str]:
    width = (COLUMN - GAP * len(rooms)) / len(rooms)
    parts = []
    for place, name in enumerate(rooms):
        x, text = left + place * (width + GAP), escape(name)
        middle = x + width / 2
        parts.append(f'<rect x="{x:.1f}" y="{top}" width="{width:.1f}" height="{BOX}" rx="5" fill="{fill}"/>')
        parts.append(f'<text x="{middle:.1f}" y="{top + 19}" text-anchor="middle" fill="{ink}">{text}</text>')
    return parts


if __name__ == "__main__":
    PICTURE.write_text(draw(), "utf-8")
