#!/usr/bin/env python3
"""Maintain the window's translation files: resources/translations/specexec_LANGUAGE.ts and their .qm.

usage: python packaging/translations.py update    add new strings to the .ts files, remove old ones
       python packaging/translations.py release   compile the .ts files to .qm files
       python packaging/translations.py missing   list untranslated strings; exit status 1 if there are any

Run it with the environment's Python. Strings are the arguments of `self.tr`, of a module's `_tr` and of
`translate` (pyside6-lupdate does not recognize `_tr`), and what the model catalogue says about its models.
"""

import ast
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "resources" / "translations"
LANGUAGES = ("ko", "zh_CN")
CATALOG = "catalog"  # the context of the texts in resources/catalog

Key = tuple[str, str]  # context, source text


class NotLiteral(Exception):
    """A string to translate is not a literal in the code, so it cannot be in a translation file."""


class _Finder(ast.NodeVisitor):
    """Collects a file's translatable strings with their contexts: the class, or the context in `_tr`."""

    def __init__(self, path: Path, tree: ast.Module) -> None:
        self.found: list[Key] = []
        self._path = path
        self._classes: list[str] = []
        self._context = next(filter(None, map(_context, tree.body)), "")
        self.visit(tree)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._classes.append(node.name)
        self.generic_visit(node)
        self._classes.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if not _context(node):
            self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name("self"), attr="tr"), args=[text, *_]):
                self._add(self._classes[-1], text)
            case ast.Call(func=ast.Name("_tr"), args=[text]):
                self._add(self._context, text)
            case ast.Call(func=ast.Attribute(attr="translate"), args=[ast.Constant(str(context)), text, *_]):
                if context != CATALOG:
                    self._add(context, text)
        self.generic_visit(node)

    def _add(self, context: str, text: ast.expr) -> None:
        if not isinstance(text, ast.Constant) or not isinstance(text.value, str) or not context:
            raise NotLiteral(f"{self._path}:{text.lineno}")
        self.found.append((context, text.value))


def _context(node: ast.stmt) -> str:
    """Return CONTEXT if `node` is `_tr`, which returns QCoreApplication.translate(CONTEXT, text), else ""."""
    match node:
        case ast.FunctionDef(
            name="_tr", body=[*_, ast.Return(ast.Call(args=[ast.Constant(str(context)), *_]))]
        ):
            return context
    return ""


def texts() -> list[Key]:
    """Return all translatable strings of the window, file by file, each once."""
    keys = {}
    for path in sorted((ROOT / "app").rglob("*.py")):
        keys |= dict.fromkeys(_Finder(path, ast.parse(path.read_text("utf-8"))).found)
    return [*keys, *_of_catalog()]


def _of_catalog() -> Iterator[Key]:
    """Yield what the catalogue says about each model."""
    for path in sorted((ROOT / "resources" / "catalog").glob("*.toml")):
        for fields in tomllib.loads(path.read_text("utf-8")).values():
            if isinstance(fields, dict):  # [[pairs]] is a list
                yield CATALOG, fields["about"]


def translations(language: str) -> dict[Key, str]:
    """Return the translations in the .ts file; "" for untranslated strings."""
    path = FOLDER / f"specexec_{language}.ts"
    return dict(_read(path)) if path.exists() else {}


def _read(path: Path) -> Iterator[tuple[Key, str]]:
    for context in ET.parse(path).getroot().iter("context"):
        for message in context.iter("message"):
            key = context.findtext("name", ""), message.findtext("source", "")
            yield key, message.findtext("translation", "")


def write(language: str, translated: dict[Key, str]) -> None:
    """Write the .ts file in Qt's format, sorted, so that two versions of the file can be compared."""
    root = ET.Element("TS", version="2.1", language=language, sourcelanguage="en")
    for name in sorted({context for context, _ in translated}):
        context = ET.SubElement(root, "context")
        ET.SubElement(context, "name").text = name
        for (owner, source), text in sorted(translated.items()):
            if owner == name:
                message = ET.SubElement(context, "message")
                ET.SubElement(message, "source").text = source
                translation = ET.SubElement(message, "translation")
                translation.text = text
                if not text:
                    translation.set("type", "unfinished")
    ET.indent(root, "    ")
    text = ET.tostring(root, "unicode")
    path = FOLDER / f"specexec_{language}.ts"
    path.write_text(f'<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE TS>\n{text}\n', "utf-8", newline="\n")


def update() -> int:
    now = texts()
    for language in LANGUAGES:
        before = translations(language)
        elsewhere = {
            source: text for (_, source), text in before.items()
        }  # finds strings that moved to another context
        write(language, {key: before.get(key, elsewhere.get(key[1], "")) for key in now})
    return 0


def release() -> int:
    lrelease = Path(sys.executable).with_name("pyside6-lrelease" + Path(sys.executable).suffix)
    for language in LANGUAGES:
        path = FOLDER / f"specexec_{language}.ts"
        subprocess.run([lrelease, "-silent", path, "-qm", path.with_suffix(".qm")], check=True)
    return 0


def missing() -> int:
    lacking = [
        (language, key) for language in LANGUAGES for key in texts() if not translations(language).get(key)
    ]
    for language, (context, source) in lacking:
        print(f"{language}\t{context}\t{source!r}")
    return 1 if lacking else 0


if __name__ == "__main__":
    commands = {"update": update, "release": release, "missing": missing}
    if len(sys.argv) != 2 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    sys.exit(commands[sys.argv[1]]())
