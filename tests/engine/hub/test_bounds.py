"""Whatever a server sends, or does not send, a request to it ends soon, with a named error or an answer."""

import gzip
import json
import time
from collections.abc import Iterator

import pytest

from engine.errors import SpecExecError
from engine.hub import AccessRefused, Hub, HubUnreachable, connection, repository
from engine.hub.connection import BadAnswer, Bounds, fetch
from tests.engine.hub.conftest import FILE, ID, asked, finished, offer
from tests.engine.hub.lying_hub import (
    Fault,
    LyingHub,
    bursts,
    drops,
    endless,
    never_begins,
    redirects_to,
    says,
    silent,
    tells,
    trickles,
)

SMALL = Bounds(silence_s=0.3, whole_s=0.6, nbytes=100_000)
SOON_S = 5.0
DEEP = b"[" * 20_000 + b"]" * 20_000
DEEP_OBJECT = b'{"siblings":' * 20_000 + b"1" + b"}" * 20_000
GZIP = {"Content_Encoding": "gzip"}


@pytest.fixture(autouse=True)
def small_bounds(server: LyingHub, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    offer(server)
    monkeypatch.setattr(repository, "METADATA", SMALL)
    began = time.monotonic()
    yield
    assert time.monotonic() - began < SOON_S


LIES: dict[str, Fault] = {
    "silence": silent,
    "a byte at a time": trickles,
    "no beginning": never_begins,
    "no end": endless,
    "bomb": bursts(),
    "bomb of another kind": bursts(encoding="br"),
    "cut off": tells(gzip.compress(b"{}" * 9)[:-4], **GZIP),
    "no gzip": tells(b"{}", **GZIP),
    "deep": tells(DEEP),
    "deep object": tells(DEEP_OBJECT),
    "deep error": tells(DEEP, status=500),
    "not UTF-8": tells(b'{"sha": "\xff"}'),
    "huge number": tells(b"[" + b"9" * 5000 + b"]"),
    "busy for a year": says(503, Retry_After="31536000"),
    "not modified": says(304),
    "a list of numbers": tells(b"[1, 2]"),
}
WRONG_LISTS: dict[str, Fault] = {
    "huge size": tells(
        b'{"id": "a/b", "sha": "0123456", "siblings": [{"rfilename": "m.gguf", "size": 1%s}]}' % (b"0" * 400)
    ),
    "a number as a name": tells(
        b'{"id": "a/b", "sha": "0123456", "siblings": [{"rfilename": 7, "size": 1}]}'
    ),
    "a number as a tag": tells(b'{"id": "a/b", "sha": "0123456", "siblings": [], "tags": [7]}'),
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES.keys())
@pytest.mark.parametrize("question", ["repository", "search"])
def test_every_lie_ends_soon_in_a_named_error(server: LyingHub, lie: Fault, question: str) -> None:
    server.api_faults.append(lie)
    ask = getattr(Hub(server.endpoint), question)
    with pytest.raises(HubUnreachable) as caught:
        ask(ID)
    assert caught.value.hint


@pytest.mark.parametrize("lie", WRONG_LISTS.values(), ids=WRONG_LISTS.keys())
def test_a_list_with_wrong_values_is_a_named_error(server: LyingHub, lie: Fault) -> None:
    server.api_faults.append(lie)
    with pytest.raises(HubUnreachable, match="not understood"):
        Hub(server.endpoint).repository(ID)


def test_pages_without_end_are_not_followed(server: LyingHub) -> None:
    more = tells(b"[]", Link=f'<{server.endpoint}/api/models?search=x>; rel="next"')
    server.api_faults.extend([more] * 5)
    server.asked.clear()
    assert Hub(server.endpoint).search("x") == []
    assert len(server.asked) == 1


def test_a_deeply_nested_body_does_not_hide_why_access_is_refused(server: LyingHub) -> None:
    server.api_faults.append(tells(DEEP, status=403, X_Error_Code="", X_Error_Message="rejected"))
    with pytest.raises(AccessRefused, match="rejected"):
        Hub(server.endpoint).repository(ID)


def test_what_a_server_wants_printed_is_not(server: LyingHub, caplog: pytest.LogCaptureFixture) -> None:
    server.api_faults.append(tells(b"[]", X_HF_Warning="x; \\x1b[2J look here"))
    Hub(server.endpoint).search("x")
    assert "look here" not in caplog.text


def test_hits_that_are_no_repositories_are_left_out(server: LyingHub) -> None:
    ids = ["a/b", "../x", 3, "c/\u202e"]
    hits = [{"id": id, "downloads": "many", "likes": -1} for id in ids]
    server.api_faults.append(tells(json.dumps(hits).encode()))
    [hit] = Hub(server.endpoint).search("x")
    assert (hit.id, hit.downloads, hit.likes) == ("a/b", 0, 0)


def test_gzip_is_understood(server: LyingHub) -> None:
    server.api_faults.append(tells(gzip.compress(b"{}"), **GZIP))
    assert fetch(f"{server.endpoint}/api/models").body == b"{}"


@pytest.mark.parametrize("packed", [False, True])
def test_a_body_may_be_as_long_as_its_bound_and_no_longer(server: LyingHub, packed: bool) -> None:
    content = b"x" * SMALL.nbytes
    for body in (content, content + b"x"):
        server.api_faults.append(tells(gzip.compress(body), **GZIP) if packed else tells(body))
    assert fetch(f"{server.endpoint}/api/x", bounds=SMALL).body == content
    with pytest.raises(BadAnswer, match="more than 100,000 bytes"):
        fetch(f"{server.endpoint}/api/x", bounds=SMALL)


def test_the_token_stays_with_the_hub_when_it_redirects(server: LyingHub) -> None:
    server.api_faults.append(redirects_to(f"{server.cdn}/api/models?search=x"))
    hub = Hub(server.endpoint)
    hub.tokens.keep("hf_secret")
    hub.search("x")
    at_the_hub, elsewhere = server.asked[-2:]
    assert at_the_hub.headers["authorization"] == "Bearer hf_secret"
    assert elsewhere.host == "cdn"
    assert "authorization" not in elsewhere.headers


@pytest.mark.parametrize(
    "location", ["http://[::bad/", "ftp://127.0.0.1/", "/api/models?search=x"], ids=["bad", "ftp", "circle"]
)
def test_redirects_of_metadata_are_bounded_too(server: LyingHub, location: str) -> None:
    server.api_faults.extend([redirects_to(location)] * 20)
    with pytest.raises(SpecExecError, match="redirects"):
        Hub(server.endpoint).search("x")


# -- files ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lie", [trickles, never_begins], ids=["a byte at a time", "no beginning"])
def test_a_head_that_does_not_end_is_a_broken_connection(server, models, lie, monkeypatch) -> None:
    monkeypatch.setattr(connection, "_CONNECT_S", 0.2)
    wanted = asked(server)
    server.faults[FILE].append(lie)
    assert finished(server, wanted, models).progress().state == "done"


ODD = {
    "superscript": "bytes ²-9/10",
    "Arabic digits": "bytes ٠-٩/10",
    "5,000 digits": f"bytes 0-9/{'9' * 5000}",
    "no number": "bytes x-y/z",
    "negative": "bytes -1-5/10",
}


@pytest.mark.parametrize("value", ODD.values(), ids=ODD.keys())
@pytest.mark.parametrize("status", [206, 416])
def test_odd_numbers_in_content_range_are_no_numbers(server, models, value, status) -> None:
    def odd(request) -> None:
        request.wfile.write(f"HTTP/1.1 {status} Odd\r\nContent-Length: 0\r\nContent-Range: ".encode())
        request.wfile.write(
            value.replace("0-9", "*" if status == 416 else "0-9").encode("utf-8") + b"\r\n\r\n"
        )

    wanted = asked(server)
    server.faults[FILE].extend([drops(100_000), odd])
    assert finished(server, wanted, models).progress().state == "done"


@pytest.mark.parametrize(
    "value",
    ["²", "9" * 5000, "Wed, 21 Oct 99999999999 07:28:00 GMT", "Wed, 99 Xyz -1 77:28:00 GMT", "-5", "1e9"],
    ids=["superscript", "5,000 digits", "far-off year", "no date", "negative", "float"],
)
def test_an_odd_retry_after_is_no_request_to_wait(server, models, value) -> None:
    def odd(request) -> None:
        request.wfile.write(b"HTTP/1.1 503 Odd\r\nContent-Length: 0\r\nRetry-After: ")
        request.wfile.write(value.encode() + b"\r\n\r\n")

    wanted = asked(server)
    server.faults[FILE].append(odd)
    assert finished(server, wanted, models).progress().state == "done"


def test_a_server_that_asks_to_come_back_at_once_is_given_time(server, models) -> None:
    wanted = asked(server)
    server.faults[FILE].extend([says(503, Retry_After="0")] * 4)
    began = time.monotonic()
    assert finished(server, wanted, models).progress().state == "done"
    assert time.monotonic() - began >= 0.02 + 0.04 + 0.05 + 0.05
