"""Every text of the window is translatable and translated, with the same placeholders."""

import ast
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from PySide6.QtCore import QCoreApplication, QLocale, QTranslator
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app import formatting
from app.header import Header
from app.startup import languages
from engine import catalog
from engine.protocol.thought_control import EFFORTS

ROOT = Path(__file__).parents[2]
LANGUAGES = ("ko", "zh_CN")

# Calls that show their text to the user.
SHOWS = {
    "setText", "setPlainText", "setToolTip", "setStatusTip", "setPlaceholderText", "setWindowTitle",
    "setTitle", "setAccessibleName", "setAccessibleDescription", "setInformativeText", "setSpecialValueText",
    "setSuffix", "setPrefix", "setLabelText", "addItem", "addItems", "addAction", "addMenu", "addTab",
    "addRow", "addButton", "showMessage", "setHeaderLabels", "PlainLabel", "QPushButton", "QCheckBox",
    "QRadioButton", "QGroupBox", "QAction", "QMenu", "QListWidgetItem", "PlainMessageBox", "Notice",
}  # fmt: skip
NAMES = {"SpecExec Desktop", "hf_…"}  # the same in every language


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    path = ROOT / "packaging" / "translations.py"
    module = ModuleType("translations")
    module.__file__ = str(path)
    exec(compile(path.read_text("utf-8"), path, "exec"), module.__dict__)
    return module


@pytest.fixture
def english(qapp: QApplication):
    yield
    languages.install(qapp, "en")
    QLocale.setDefault(QLocale.c())


def shown_literals(tree: ast.Module) -> list[tuple[int, str]]:
    """Return texts with letters that reach the user untranslated."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in SHOWS:
                shown = node.args[:1] if name == "addItem" else node.args  # the following arguments are data
                found += [(node.lineno, text) for each in shown for text in literals(each)]
    return found


def literals(node: ast.expr) -> list[str]:
    match node:
        case ast.Constant(str(text)):
            parts = [text]
        case ast.JoinedStr(values=values):
            parts = [part.value for part in values if isinstance(part, ast.Constant)]
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return literals(left) + literals(right)
        case ast.IfExp(body=body, orelse=other):
            return literals(body) + literals(other)
        case _:
            parts = []
    return [part for part in parts if re.search(r"[^\W\d_]{2}", part) and part.strip() not in NAMES]


def test_the_check_finds_what_it_should() -> None:
    program = """x.setText("Hello")
x.setText(f"{a} s · {b} done")
PlainLabel("a" if b else "Stop")
x.setText(self.tr("So"))"""
    assert shown_literals(ast.parse(program)) == [(1, "Hello"), (2, " done"), (3, "Stop")]


def test_every_text_shown_can_be_translated() -> None:
    bare = [
        f"{path.relative_to(ROOT)}:{line}: {text!r}"
        for path in sorted((ROOT / "app").rglob("*.py"))
        for line, text in shown_literals(ast.parse(path.read_text("utf-8")))
    ]
    assert not bare, "\n".join(bare)


def test_texts_are_found_with_their_contexts(tool: ModuleType) -> None:
    keys = tool.texts()
    assert ("StatusLine", "Stopping…") in keys
    assert ("words", "{} tokens/s") in keys
    assert ("startup", "Something went wrong in the window.") in keys
    for model in catalog.catalog().models.values():
        assert ("catalog", model.about) in keys


def test_a_concatenated_text_is_an_error(tool: ModuleType) -> None:
    program = "class A:\n    def f(self):\n        return self.tr(f'{self.x} tokens')\n"
    with pytest.raises(tool.NotLiteral):
        tool._Finder(Path("a.py"), ast.parse(program))


@pytest.mark.parametrize("language", LANGUAGES)
def test_translations_are_complete_and_none_is_obsolete(tool: ModuleType, language: str) -> None:
    translated = tool.translations(language)
    missing = [key for key in tool.texts() if not translated.get(key)]
    left = sorted(set(translated) - set(tool.texts()))
    assert not missing, (
        f"{len(missing)} of {language}, such as {missing[:5]}: packaging/translations.py update"
    )
    assert not left, f"{left[:5]}: packaging/translations.py update"


@pytest.mark.parametrize("language", LANGUAGES)
def test_translations_have_the_same_placeholders(tool: ModuleType, language: str) -> None:
    def places(text: str) -> list[str]:
        """Number the placeholders in the order of filling."""
        found = re.findall(r"\{[^}]*\}|\*\.\w+", text)
        return sorted(
            f"{{{found[:n].count('{}')}}}" if place == "{}" else place for n, place in enumerate(found)
        )

    for (context, source), text in tool.translations(language).items():
        assert not text or places(text) == places(source), (context, source, text)


@pytest.mark.parametrize("language", LANGUAGES)
def test_translations_end_as_their_sources_do(tool: ModuleType, language: str) -> None:
    """An ellipsis announces that something follows; a final space or newline means that text is appended."""
    for (context, source), text in tool.translations(language).items():
        if text:
            assert text.endswith("…") == source.endswith("…"), (context, source, text)
            assert text.count("\n") == source.count("\n"), (context, source, text)
            assert (text != text.strip()) == (source != source.strip()), (context, source, text)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_compiled_translations_are_up_to_date(
    tool: ModuleType, language: str, qapp: QApplication
) -> None:
    shipped = QTranslator(qapp)
    assert shipped.load(str(languages.FOLDER / f"specexec_{language}.qm"))
    for (context, source), text in tool.translations(language).items():
        if text:
            assert shipped.translate(context, source) == text, "packaging/translations.py release"


def test_written_and_read_translations_are_the_same(
    tool: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tool, "FOLDER", tmp_path)
    said = {("A", "one & <two>"): "하나 & <둘>", ("B", "line\nbreak"): "", ("A", "…"): "…"}
    tool.write("ko", said)
    assert tool.translations("ko") == said


def test_a_language_is_switched_while_the_program_runs(
    qapp: QApplication, qtbot: QtBot, english: None
) -> None:
    seen = []
    for language in ("ko", "zh_CN", "en"):
        languages.install(qapp, language)
        header = Header()
        qtbot.addWidget(header)
        seen.append((header.settings.accessibleName(), QLocale().language()))
    assert seen == [
        ("설정", QLocale.Language.Korean),
        ("设置", QLocale.Language.Chinese),
        ("Settings", QLocale.Language.English),
    ]
    assert QCoreApplication.translate("words", "complete") == "complete"


def test_the_least_and_the_most_thinking_are_named_as_two_ends(qapp: QApplication, english: None) -> None:
    languages.install(qapp, "zh_CN")
    efforts = [formatting.thought_choice(effort) for effort in EFFORTS[1:]]
    assert efforts == ["最低", "低", "中", "高", "很高", "最高"]


def test_the_tool_prints_its_usage() -> None:
    ran = subprocess.run(
        [sys.executable, str(ROOT / "packaging" / "translations.py")], capture_output=True, text=True
    )
    assert ran.returncode == 1
    assert "usage:" in ran.stderr
