"""Remove unused parts of PySide6: QML, designers, translations, headers."""

import re
import shutil
from pathlib import Path

from installers.common import ROOT

LIBRARIES = {  # Qt modules that plugins need, in addition to the imported ones
    "Core", "Gui", "Widgets", "Network", "Svg", "DBus", "OpenGL", "XcbQpa", "WaylandClient",
    "WlShellIntegration", "WaylandEglClientHwIntegration",
}  # fmt: skip
PLUGINS = {
    "platforms", "platformthemes", "platforminputcontexts", "printsupport", "styles", "imageformats",
    "iconengines", "tls", "networkinformation", "generic", "xcbglintegrations", "wayland-shell-integration",
    "wayland-decoration-client", "wayland-graphics-integration-client",
}  # fmt: skip
FOLDERS = {"plugins", "lib", "Qt"}


def imported() -> set[str]:
    """Return the Qt modules imported by the window."""
    texts = (path.read_text("utf-8") for path in (ROOT / "app").rglob("*.py"))
    return {"Core", "Gui", "Widgets", "Svg"}.union(*(re.findall(r"PySide6\.Qt(\w+)", text) for text in texts))


def prune(lib: Path) -> None:
    """Remove the unused parts. lib: the folder that contains PySide6."""
    modules = imported()
    here = lib / "PySide6"
    for folder in (here, here / "Qt"):
        if folder.is_dir():
            _prune_folder(folder, modules)
    for plugins in (here / "plugins", here / "Qt" / "plugins"):
        for folder in plugins.iterdir() if plugins.is_dir() else ():
            if folder.name not in PLUGINS:
                shutil.rmtree(folder)
    for library in [*here.glob("Qt/lib/libQt6*.so*"), *here.glob("Qt6*.dll")]:
        name = re.sub(r"^(lib)?Qt6|\.(so|dll).*$", "", library.name)
        if name not in LIBRARIES | modules:
            library.unlink()


def _prune_folder(folder: Path, modules: set[str]) -> None:
    for entry in folder.iterdir():
        if entry.is_dir():
            if entry.name not in FOLDERS and not entry.name.startswith(("_", "support")):
                shutil.rmtree(entry)
        elif _is_unused(entry, modules):
            entry.unlink()


def _is_unused(file: Path, modules: set[str]) -> bool:
    if file.suffix in (".pyi", ".exe", ".lib") or file.name in ("opengl32sw.dll", "QtAsyncio.py"):
        return True
    if file.name.startswith("Qt") and file.suffix in (".so", ".pyd"):
        return file.name[2:].split(".")[0] not in modules
    if "qml" in file.name.lower():
        return True
    return not file.suffix and file.stat().st_size > 20_000  # on Linux, such files are tools
