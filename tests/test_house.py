"""The house keeps its own rules: one name for one thing, no circles, pages that match the contracts."""

import ast
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.conftest import LONGEST

ROOT = Path(__file__).parents[1]
SOURCES = sorted(path for top in ("app", "engine") for path in (ROOT / top).rglob("*.py"))
# Field words, and English nouns that only look like verbs.
ING = {
    "sampling",
    "decoding",
    "drafting",
    "streaming",
    "serving",
    "training",
    "rendering",
    "recycling",
    "parting",
    "routing",
    "made_routing",
} | {
    "ring",
    "device_ring",
    "formatting",
    "wording",
}


def test_a_class_name_is_defined_once_in_the_project() -> None:
    places = defaultdict(list)
    for path in SOURCES:
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef):
                places[node.name].append(path.relative_to(ROOT).as_posix())
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def test_modules_and_folders_are_nouns() -> None:
    names = {path.stem for path in SOURCES} | {path.parent.name for path in SOURCES}
    assert {name for name in names if name.endswith("ing")} <= ING


def contract(room: str) -> list[list[str]]:
    """The layers of the contract of `engine` or `app`, from the top; the rooms of a layer in order."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    for each in project["tool"]["importlinter"]["contracts"]:
        if each.get("containers") == [room]:
            return [layer.split(" | ") for layer in each["layers"]]
    raise AssertionError(f"no contract of {room}")


@pytest.mark.parametrize("room", ["engine", "app"])
def test_the_page_of_a_floor_lists_the_rooms_of_its_contract_in_their_order(room: str) -> None:
    page = (ROOT / room / "README.md").read_text("utf-8")
    rooms = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)
    assert rooms == [room for layer in contract(room) for room in layer]


def test_the_readme_fits_one_screenful_of_reading() -> None:
    assert (ROOT / "README.md").stat().st_size <= 6_000


def sources(*folders: str) -> dict[str, str]:
    """Source text by dotted module name; a package's is that of its __init__.py."""
    found = {}
    for folder in folders:
        for file in sorted((ROOT / folder).rglob("*.py")):
            parts = file.relative_to(ROOT).with_suffix("").parts
            module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            found[module] = file.read_text(encoding="utf-8")
    return found


def import_statements(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """Import statements under `node`, inside functions too, except those under `if TYPE_CHECKING`."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        elif isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            for other in child.orelse:
                yield from import_statements(other)
        else:
            yield from import_statements(child)


def import_graph(texts: dict[str, str]) -> dict[str, set[str]]:
    """The modules of `texts` that each of them imports.

    Importing a module also runs the packages around it; those that contain the importer are running already.
    """
    graph: dict[str, set[str]] = {module: set() for module in texts}
    for module, text in texts.items():
        names = []
        for statement in import_statements(ast.parse(text)):
            if isinstance(statement, ast.Import):
                names += [alias.name for alias in statement.names]
            else:
                assert not statement.level, f"{module} has a relative import"
                submodules = [f"{statement.module}.{alias.name}" for alias in statement.names]
                names += [name if name in texts else str(statement.module) for name in submodules]
        for name in names:
            graph[module].add(name)
            outer = name.rpartition(".")[0]
            while outer and not f"{module}.".startswith(f"{outer}."):
                graph[module].add(outer)
                outer = outer.rpartition(".")[0]
        graph[module] &= texts.keys() - {module}
    return graph


def import_cycle(graph: dict[str, set[str]]) -> list[str]:
    """One cycle, its first module repeated at the end; [] if there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        cycle: list[str] = error.args[1]
        return cycle[::-1]
    return []


def test_no_module_imports_itself_through_others() -> None:
    graph = import_graph(sources("app", "engine"))
    assert "engine.errors" in graph["engine.formats"], "the graph has the imports"
    assert not (cycle := import_cycle(graph)), " imports ".join(cycle)


@pytest.mark.parametrize(
    ("texts", "cyclic"),
    [
        ({"a": "import b", "b": "from a import x"}, True),
        ({"a": "def f():\n    import b", "b": "import a"}, True),
        ({"a": "import b.c", "b": "import a", "b.c": ""}, True),
        ({"a": "from b import c", "b": "", "b.c": "import a"}, True),
        ({"a": "import b", "b": "if TYPE_CHECKING:\n    import a"}, False),
        ({"b": "from b import c", "b.c": "from b.d import x", "b.d": ""}, False),
    ],
)
def test_import_cycles_are_found(texts: dict[str, str], cyclic: bool) -> None:
    assert bool(import_cycle(import_graph(texts))) == cyclic


# -- text on the terminal ------------------------------------------------------------------------------------

# What a command prints by itself: a prompt without a line's end.
PRINTED = {"print('> ', end='', file=sys.stderr, flush=True)"}


def test_commands_print_through_the_terminal() -> None:
    """`terminal.say` shows characters that steer a terminal as escapes; `print` would pass them on."""
    found = {
        ast.unparse(call)
        for file in (ROOT / "engine" / "cli").glob("*.py")
        for call in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(call, ast.Call)
        and ast.unparse(call.func) in ("print", "sys.stdout.write", "sys.stderr.write")
    }
    assert found == PRINTED, "use engine.terminal.say"


# -- text in the window --------------------------------------------------------------------------------------

PLAIN = ROOT / "app" / "widgets" / "plain_text.py"
TIPS = {"setToolTip", "setStatusTip", "setWhatsThis"}
OURS = {"tr", "_tr", "translate", "plain", "wrapped"}


def is_ours(text: ast.expr) -> bool:
    """Return whether a text is written in the program, or passes through `plain` or `wrapped`."""
    if isinstance(text, ast.IfExp):
        return is_ours(text.body) and is_ours(text.orelse)
    if isinstance(text, ast.Call):
        called = text.func
        return (called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")) in OURS
    return isinstance(text, ast.Constant)


def rich_texts(source: str) -> Iterator[str]:
    """Yield the calls in a module that may show text of others as rich text."""
    for call in ast.walk(ast.parse(source)):
        if not isinstance(call, ast.Call):
            continue
        name = ast.unparse(call.func)
        if name in ("QLabel", "QMessageBox") or name.startswith("QMessageBox."):
            yield name
        shown = call.args[-1] if name.rpartition(".")[2] in TIPS else None
        shown = call.args[1] if name == "QToolTip.showText" else shown
        if shown is not None and not is_ours(shown):
            yield ast.unparse(call)


def test_text_of_others_is_never_shown_as_rich_text() -> None:
    found = [
        f"{file.relative_to(ROOT)}: {text}"
        for file in sorted((ROOT / "app").rglob("*.py"))
        if file != PLAIN
        for text in rich_texts(file.read_text("utf-8"))
    ]
    assert not found, "use app.widgets.plain_text"


@pytest.mark.parametrize(
    ("source", "is_rich"),
    [
        ("w.setToolTip(name)", True),
        ("w.setToolTip(self.tr('Delete {}').format(name))", True),
        ("w.setToolTip(plain(name))", False),
        ("w.setToolTip(wrapped(name))", False),
        ("w.setToolTip(self.tr('Close') if a else 'Open')", False),
        ("i.setToolTip(3, tip)", True),
        ("QToolTip.showText(place, tip, w)", True),
        ("QLabel(name)", True),
        ("QMessageBox.warning(w, 'A', name)", True),
        ("PlainLabel(name)", False),
    ],
)
def test_rich_texts_are_found(source: str, is_rich: bool) -> None:
    assert bool(list(rich_texts(source))) == is_rich


def test_what_tests_begin_with_are_files() -> None:
    assert [name for name in LONGEST if not (ROOT / "tests" / name).is_file()] == []
