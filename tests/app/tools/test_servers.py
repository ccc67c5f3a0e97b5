"""Tool servers as child processes: what honest ones give, and how others are ended."""

import threading
from collections.abc import Iterator

import psutil
import pytest
from msgspec import structs

from app.preferences import KnownTool, ToolServer
from app.tools import bounds
from app.tools.fault import ToolFault
from app.tools.listed import CUT, result_of, tools_of
from app.tools.scrubbed import environment
from app.tools.server_links import ServerLinks
from engine.hub import Stop, Stopped
from tests.app.tools.servers import reference


@pytest.fixture
def links() -> Iterator[ServerLinks]:
    before = set(psutil.Process().children(recursive=True))
    made = ServerLinks()
    yield made
    made.close()
    left = set(psutil.Process().children(recursive=True)) - before
    assert not psutil.wait_procs(left, 5)[1], "a server is left"


def call(links: ServerLinks, server: ToolServer, name: str = "echo", **given: object) -> str:
    tool = next(each for each in server.tools if each.name == name)
    return links.call(server, tool, given, Stop()).text


def test_a_server_lists_its_tools_and_is_called(links: ServerLinks) -> None:
    server = reference()
    assert links.tools(server, Stop()) == server.tools
    assert call(links, server, text="안녕") == "안녕"
    assert call(links, server, text="again") == "again", "by the same process"
    failed = links.call(server, server.tools[2], {}, Stop())
    assert (failed.failed, failed.text) == (True, "It did not work.")


def test_a_server_gets_a_scrubbed_environment(links: ServerLinks, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "secret")
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    server = structs.replace(reference(), variables=["MINE=1"])
    names = call(links, server, "variables").split()
    assert {"MINE", "PATH"} <= set(names)
    assert not {"HF_TOKEN", "PYTHONPATH", "QT_QPA_PLATFORM", "DBUS_SESSION_BUS_ADDRESS"} & set(names)


def test_a_variable_must_have_a_value() -> None:
    with pytest.raises(ToolFault, match="no variable"):
        environment(["NAME"])


@pytest.mark.parametrize(
    ("way", "sentence"),
    [
        ("dies", "has ended"),
        ("broken", "no message of the protocol"),
        ("huge", "more than 4 MiB"),
        ("other version", "another version"),
        ("hangs", "did not answer within"),
        ("wrong ids", "did not answer within"),
    ],
)
def test_a_server_that_misbehaves_is_ended_with_a_sentence(
    links: ServerLinks, monkeypatch: pytest.MonkeyPatch, way: str, sentence: str
) -> None:
    if "within" in sentence:
        monkeypatch.setattr(bounds, "CALL_S", 0.3)
    with pytest.raises(ToolFault, match=sentence):
        call(links, reference(way), text="x")


def test_a_server_that_died_is_started_again(links: ServerLinks) -> None:
    for _ in range(2):
        with pytest.raises(ToolFault, match="has ended"):
            call(links, reference("dies"))


def test_requests_of_a_server_are_refused(links: ServerLinks) -> None:
    assert call(links, reference("asks")) == "error -32601"


def test_a_long_answer_is_cut_off(links: ServerLinks) -> None:
    assert call(links, reference("long")) == "y" * bounds.RESULT_LENGTH + CUT


def test_a_hanging_call_can_be_stopped(links: ServerLinks) -> None:
    server, stop = reference("hangs"), Stop()
    threading.Timer(0.3, stop.ask).start()
    with pytest.raises(Stopped):
        links.call(server, server.tools[0], {}, stop)


def test_a_tool_that_is_described_differently_is_not_called(links: ServerLinks) -> None:
    server = reference()
    seen = structs.replace(server.tools[0], description="Say a text again, and nothing else.")
    with pytest.raises(ToolFault, match="differently"):
        links.call(server, seen, {}, Stop())


def test_a_program_that_is_not_there_is_named(links: ServerLinks) -> None:
    with pytest.raises(ToolFault, match="surely-not-here was not found"):
        links.tools(ToolServer("x", "surely-not-here --now"), Stop())
    with pytest.raises(ToolFault, match="quotation"):
        links.tools(ToolServer("x", "'surely"), Stop())


def test_tools_that_cannot_be_offered_are_left_out() -> None:
    page = {
        "tools": [
            {"name": "a b", "inputSchema": {"type": "object"}},
            {"name": "x" * 65, "inputSchema": {"type": "object"}},
            {"name": "huge", "inputSchema": {"type": "object", "description": "x" * 20_000}},
            {"name": "odd", "inputSchema": {"type": "string"}},
            "none",
            {"name": "good", "inputSchema": {"type": "object"}, "description": "a\u202eb" + "c" * 3000},
        ]
    }
    (good,) = tools_of(page)
    assert good == KnownTool("good", "ab" + "c" * 1998, '{"type": "object"}')


def test_contents_that_are_no_text_are_named() -> None:
    parts = [{"type": "image", "data": "…"}, {"type": "text", "text": "so\x1b[31m"}, 5]
    assert result_of({"content": parts}).text == "[image]\nso[31m"
    assert result_of({"structuredContent": {"a": 1}}).text == '{"a": 1}'
