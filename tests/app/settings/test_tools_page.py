"""The page of tools: what is off until allowed, and servers that are looked at before they are turned on."""

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.preferences import KnownTool, ToolPreferences
from app.settings.tools_page import ToolsPage
from app.store import Store
from app.tools.builtin import built_in
from app.tools.keys import key_of
from tests.app.tools.servers import reference

OWN = [KnownTool("calculator", "Calculate."), KnownTool("search_chats", "Search.")]


@pytest.fixture
def kept() -> list[ToolPreferences]:
    return []


def page(qtbot: QtBot, kept: list[ToolPreferences], now: ToolPreferences) -> ToolsPage:
    made = ToolsPage(now, OWN)
    qtbot.addWidget(made)
    made.changed.connect(kept.append)
    made.show()
    return made


def test_everything_is_off_at_first(qtbot: QtBot, kept: list[ToolPreferences]) -> None:
    made = page(qtbot, kept, ToolPreferences())
    assert not made.built_in.isChecked()
    assert not made.own.isEnabled()
    made.built_in.click()
    assert kept[-1].built_in
    made.own.item(1).setCheckState(Qt.CheckState.Checked)
    assert kept[-1].always == ["calculator", "search_chats"]
    made.most_calls.setValue(3)
    assert kept[-1].most_calls == 3


def test_the_programs_own_tools_are_described_for_the_user(
    qtbot: QtBot, store: Store, kept: list[ToolPreferences]
) -> None:
    tools = [tool.known for tool in built_in(store)]
    made = ToolsPage(ToolPreferences(), tools)
    qtbot.addWidget(made)
    said = [made.own.item(row).text().split("\n") for row in range(made.own.count())]
    assert [name for name, _ in said] == [tool.name for tool in tools]
    for (_, about), tool in zip(said, tools, strict=True):
        assert about != tool.description, "which is English, and for the model"
    assert [tool.description for tool in made.own.tools] == [tool.description for tool in tools]


def test_a_server_can_be_turned_on_only_after_its_tools_are_listed(
    qtbot: QtBot, kept: list[ToolPreferences]
) -> None:
    made = page(qtbot, kept, ToolPreferences())
    made.add.click()
    editor = made.editor
    assert not editor.look.isEnabled()
    editor.name.setText("Mine")
    editor.command.setText(reference().command)
    assert not editor.is_on.isEnabled()
    editor.look.click()
    qtbot.waitUntil(lambda: editor.is_on.isEnabled(), timeout=20_000)
    assert [tool.name for tool in editor.tools.tools] == ["echo", "variables", "fail"]
    editor.is_on.click()
    editor.tools.item(0).setCheckState(Qt.CheckState.Checked)
    editor.save.click()
    (server,) = kept[-1].servers
    assert (server.name, server.is_on) == ("Mine", True)
    assert [tool.always for tool in server.tools] == [True, False, False]

    made.servers.setCurrentRow(0)
    made.change.click()
    editor.command.setText("another")
    editor.save.click()
    (changed,) = kept[-1].servers
    assert (changed.is_on, changed.tools) == (False, []), "the user has not seen the tools of this one"
    made.servers.setCurrentRow(0)
    made.remove.click()
    assert kept[-1].servers == []


def test_a_server_that_cannot_be_started_is_explained(qtbot: QtBot, kept: list[ToolPreferences]) -> None:
    made = page(qtbot, kept, ToolPreferences())
    made.add.click()
    made.editor.command.setText("surely-not-here")
    made.editor.look.click()
    qtbot.waitUntil(lambda: "was not found" in made.editor.problem.message)
    assert not made.editor.is_on.isEnabled()


def test_a_key_goes_to_the_keyring_and_not_to_the_settings(qtbot: QtBot, kept: list[ToolPreferences]) -> None:
    made = page(qtbot, kept, ToolPreferences())
    made.add.click()
    editor = made.editor
    editor.name.setText("Far")
    assert not editor.key.isEnabled(), "a command gets its secrets by variables"
    editor.address.setText("https://tools.example/mcp")
    editor.key.setText("k-123")
    editor.save.click()
    qtbot.waitUntil(lambda: bool(kept))
    (server,) = kept[-1].servers
    assert server.has_key
    assert key_of(server) == "k-123"
    assert "k-123" not in str(kept[-1])
    made.servers.setCurrentRow(0)
    made.change.click()
    assert (editor.key.text(), editor.key.placeholderText()) == ("", "Unchanged")
    editor.leave.click()
    made.servers.setCurrentRow(0)
    made.remove.click()
    qtbot.waitUntil(lambda: key_of(server) == "")
