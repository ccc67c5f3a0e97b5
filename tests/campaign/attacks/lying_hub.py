"""Lying answers of the Hub to questions and downloads: a named error or the right file, and soon.

A file with wrong bytes never gets its final name.
"""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import keyring

from engine.errors import SpecExecError
from engine.hub import Download, Hub, Item, choose, connection, item, repository
from engine.hub.connection import Bounds
from tests.campaign.attack import SURVIVED, Outcome, Try, Verdict, judged_error
from tests.campaign.mutation import TEXTS, as_json, damaged, nested, spoiled
from tests.engine.hub.conftest import FILE, ID, QUICK, MemoryKeyring, content
from tests.engine.hub.lying_hub import (
    COMMIT,
    Answer,
    Fault,
    LyingHub,
    Offered,
    bursts,
    drops,
    endless,
    flips_a_bit,
    ignores_range,
    never_begins,
    redirects_to,
    says,
    silent,
    stalls,
    tells,
    trickles,
)

FIXED = 20
LIMIT_S = 25.0
NBYTES = 40_000
PATIENCE_S = 15.0
STATUSES = (
    200,
    204,
    206,
    300,
    301,
    302,
    304,
    307,
    400,
    401,
    403,
    404,
    408,
    416,
    418,
    425,
    429,
    500,
    503,
    599,
)
NUMBERS = ("", "0", "-1", "²", "٣", "1e9", "9" * 20, "9" * 5000, "0x10", "40000", "39999", "40001", "1, 2")
DATES = ("Wed, 21 Oct 99999999999 07:28:00 GMT", "Wed, 31 Feb 2026 25:61:00 GMT", "x", "-1")
BOMB = bursts(nbytes=8 << 20)


@contextmanager
def prepared(folder: Path) -> Iterator[Try]:
    keyring.set_keyring(MemoryKeyring())
    for name in [name for name in os.environ if name.lower().endswith("_proxy") or name.startswith("HF_")]:
        del os.environ[name]
    repository.METADATA = Bounds(silence_s=0.3, whole_s=0.6, nbytes=300_000)
    connection._CONNECT_S = 0.2  # type: ignore[misc]
    server = LyingHub()
    files = {FILE: content(NBYTES), "config.json": b"{}"}
    server.repositories[ID] = Offered(files, in_git={"config.json"})
    wanted = item(ID, choose(Hub(server.endpoint).repository(ID), [FILE]))

    def once(random: Random) -> Outcome:
        server.api_faults.clear()
        server.faults.clear()
        server.elsewhere = random.random() < 0.3
        if random.random() < 0.5:
            return ask(server, random)
        with TemporaryDirectory(dir=folder) as models:
            return fetch(server, wanted, Path(models), random)

    try:
        yield once
    finally:
        server.close()


def ask(server: LyingHub, random: Random) -> Outcome:
    """Ask for a list or a search; a lie may be so small that the answer is still an answer."""
    server.api_faults.extend(lie_about_a_model(random) for _ in range(3))
    hub = Hub(server.endpoint)
    if random.random() < 0.5:
        for hit in hub.search("model"):
            assert isinstance(hit.id, str)
            assert isinstance(hit.license, str)
            assert 0 <= hit.downloads < 1 << 53
        return SURVIVED
    listed = hub.repository(ID, random.choice(("", "main")))
    choose(listed, [])
    hub.check_access(listed)
    return SURVIVED


def fetch(server: LyingHub, wanted: Item, models: Path, random: Random) -> Outcome:
    """Download a file through up to five lies."""
    server.faults[FILE].extend(lie_about_a_file(server, random) for _ in range(random.randrange(1, 6)))
    running = Download(wanted, models, Hub(server.endpoint), patience=QUICK)
    running.start()
    state = running.wait(PATIENCE_S).state
    if state == "running":
        running.cancel()
        running.wait(PATIENCE_S)
        return Outcome(Verdict.RAW, f"still running after {PATIENCE_S:.0f} s: {running.progress().error}")
    place = models / ID / FILE
    if place.exists() and place.read_bytes() != server.repositories[ID].files[FILE]:
        return Outcome(Verdict.LOST, "a wrong file has got its final name")
    if state == "done":
        return SURVIVED if place.exists() else Outcome(Verdict.LOST, "done without a file")
    if not isinstance(running.error, SpecExecError):
        return Outcome(Verdict.RAW, f"{state} without an error")
    return judged_error(running.error)


# -- lies ----------------------------------------------------------------------------------------------------


def lie_about_a_model(random: Random) -> Fault:
    match random.randrange(10):
        case 0:
            return random.choice((silent, trickles, endless, never_begins, BOMB))
        case 1:
            return tells(as_json(nested(random.choice((900, 20_000)), random.choice((list, dict)))))
        case 2:
            return says(random.choice(STATUSES), **headers(random))
        case 3:
            return redirects_to(
                random.choice(("/api/models/x/y", "http://[", "//", "ftp://x/", "http://a b/"))
            )
        case _:
            document: Any = [described()] if random.random() < 0.4 else described()
            return tells(
                spoiled(document, random), random.choice((200, 200, 200, 403, 404)), **headers(random)
            )


def described() -> dict[str, Any]:
    """What the Hub says of a repository."""
    lfs = {"size": NBYTES, "sha256": hashlib.sha256(content(NBYTES)).hexdigest(), "pointerSize": 1}
    siblings = [
        {"rfilename": FILE, "size": NBYTES, "lfs": lfs},
        {"rfilename": "config.json", "size": 2, "blobId": "0" * 40},
    ]
    return {
        "id": ID, "sha": COMMIT, "gated": "auto", "downloads": 7, "likes": 1, "tags": ["license:mit"],
        "siblings": siblings, "createdAt": "2026-01-01T00:00:00.000Z", "cardData": {"license": "mit"},
    }  # fmt: skip


def lie_about_a_file(server: LyingHub, random: Random) -> Fault:
    simple = (flips_a_bit, ignores_range, silent, trickles, never_begins, BOMB, drops(0), stalls(0))
    match random.randrange(8):
        case 0 | 1:
            return random.choice(simple)
        case 2:
            return random.choice((drops, stalls))(random.randrange(NBYTES))
        case 3:
            return says(random.choice(STATUSES), **headers(random))
        case 4:
            circle = f"/{ID}/resolve/{COMMIT}/{FILE}"
            return redirects_to(random.choice((circle, server.cdn + circle, "http://[", "//", "ftp://x/")))
        case 5:
            return tells(damaged(content(NBYTES), random), random.choice((200, 206)), **headers(random))
        case _:
            return odd_announcement(random)


def odd_announcement(random: Random) -> Fault:
    """Send the right bytes, or others, under wrong headers."""
    wrong = headers(random)
    seed = random.random()

    def answer(request: Answer) -> None:
        request.announce(**wrong)
        body = request.content[request.start : request.end]
        request.body(damaged(body, Random(seed)) if seed < 0.5 else body)
        request.hang_up()

    return answer


def headers(random: Random) -> dict[str, str]:
    """Return up to three headers that a client may read. They contain no end of a line."""
    number = random.choice(NUMBERS)
    odd = {
        "Content_Range": random.choice((f"bytes 0-{number}/{number}", f"bytes */{number}", "bytes", number)),
        "Content_Length": number,
        "Content_Encoding": random.choice(("gzip", "br", "gzip, gzip", "identity", "x")),
        "Retry_After": random.choice((*DATES, *(each for each in NUMBERS if not each.isdecimal()))),
        "ETag": random.choice(('"a"', 'W/"a"', "a", '"\u00e9"', '"' + "a" * 5000 + '"')),
        "X_Error_Code": random.choice(("GatedRepo", "RepoNotFound", "RevisionNotFound", "x")),
        "X_Error_Message": random.choice([text for text in TEXTS if text.isprintable() and text.isascii()]),
        "Link": '</api/models?page=2>; rel="next"',
        "Location": random.choice(("/", "http://[", "\u00e9", "")),
        "Set_Cookie": "a=b; Domain=.; Expires=x",
    }
    chosen = random.sample(sorted(odd), random.randrange(4))
    return {name: odd[name].encode().decode("latin-1") for name in chosen}
