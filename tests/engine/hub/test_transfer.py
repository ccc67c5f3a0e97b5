"""Downloads from a faulty Hub give the right bytes or a named error, and no byte is downloaded in vain."""

import logging
import time
from pathlib import Path

import pytest

from engine.hub import AccessTokens, Download, Hub, transfer
from tests.engine.hub.conftest import FILE, ID, QUICK, asked, download, finished, offer
from tests.engine.hub.lying_hub import (
    LyingHub,
    drops,
    flips_a_bit,
    ignores_range,
    redirects_to,
    says,
    silent,
    stalls,
)

NBYTES = 300_000


def arrived(server: LyingHub, models: Path) -> bool:
    return (models / ID / FILE).read_bytes() == server.repositories[ID].files[FILE]


def test_a_downloaded_file_has_its_name_its_manifest_and_nothing_else(server, models):
    done = finished(server, offer(server), models)
    assert done.progress().state == "done", done.error
    assert arrived(server, models)
    assert sorted(path.name for path in (models / ID).iterdir()) == [FILE, "specexec.json"]
    assert done.progress().fetched_nbytes == server.sent_nbytes == NBYTES


@pytest.mark.parametrize("fault", [drops(100_000), stalls(100_000)], ids=["drop", "stall"])
def test_a_broken_connection_is_resumed_where_it_broke(server, models, fault):
    wanted = offer(server)
    server.faults[FILE].extend([fault, fault])
    finished(server, wanted, models)
    assert arrived(server, models)
    begins = [int(asked.removeprefix("bytes=").partition("-")[0]) for asked in server.ranges()]
    assert begins == [0, 100_000, 200_000]
    assert server.sent_nbytes == NBYTES
    assert [asked.headers.get("if-range") for asked in server.asked[-2:]] == ['"first"', '"first"']


@pytest.mark.parametrize(
    "faults",
    [[says(500), says(503), says(502)], [says(429), says(408)], [silent], [drops(0)] * 8],
    ids=["server errors", "too many requests", "no answer", "drops at once"],
)
def test_temporary_faults_are_retried(server, models, faults):
    wanted = offer(server)
    server.faults[FILE].extend(faults)
    finished(server, wanted, models)
    assert arrived(server, models)
    assert len(server.ranges()) == len(faults) + 1


def test_waits_grow_to_a_bound_and_reset_once_bytes_arrive(server, models, monkeypatch):
    waited: list[float] = []
    plain = transfer.FileTransfer._wait

    def wait(self, error, failures):
        waited.append(self.patience.wait_s(failures))
        plain(self, error, failures)

    monkeypatch.setattr(transfer.FileTransfer, "_wait", wait)
    wanted = offer(server)
    server.faults[FILE].extend([says(500), says(500), says(500), says(500), drops(50_000), says(500)])
    finished(server, wanted, models)
    assert waited == [0.02, 0.04, 0.05, 0.05, 0.01, 0.02]


def test_retry_after_is_obeyed(server, models):
    wanted = offer(server)
    server.faults[FILE].append(says(429, Retry_After="1"))
    began = time.monotonic()
    running = download(server, wanted, models)
    running.start()
    while not running.progress().error:
        assert time.monotonic() - began < 10
    assert running.progress().error == "127.0.0.1 responds with error 429; trying again in 1 s."
    assert running.progress().files[0].state == "retrying"
    assert running.wait(10).error == ""
    assert time.monotonic() - began >= 1
    assert arrived(server, models)


@pytest.mark.parametrize("date", ["Wed, 21 Oct 2099 07:28:00 GMT", "86400"])
def test_no_server_can_request_a_wait_of_more_than_an_hour(server, models, date, monkeypatch):
    waits: list[float] = []
    monkeypatch.setattr("engine.hub.stop.Stop.wait", lambda self, seconds: waits.append(seconds))
    wanted = offer(server, 1000)
    server.faults[FILE].append(says(503, Retry_After=date))
    finished(server, wanted, models)
    assert max(waits) == 3600


@pytest.mark.parametrize(
    ("status", "kind"), [(401, "model_not_found"), (403, "access_refused"), (404, "model_not_found")]
)
def test_permanent_faults_are_an_error_at_once(server, models, status, kind):
    wanted = offer(server)
    server.faults[FILE].append(says(status))
    failed = finished(server, wanted, models)
    assert failed.progress().state == "failed"
    assert failed.error is not None
    assert failed.error.kind == kind
    assert len(server.ranges()) == 1


def test_received_bytes_survive_a_refusal(server, models):
    wanted = offer(server)
    server.faults[FILE].extend([drops(200_000), says(403)])
    failed = finished(server, wanted, models)
    failed.resume()
    failed.wait(10)
    assert arrived(server, models)
    assert server.sent_nbytes == NBYTES


def test_a_server_without_ranges_restarts_the_file(server, models):
    wanted = offer(server)
    server.faults[FILE].extend([drops(100_000), ignores_range])
    finished(server, wanted, models)
    assert arrived(server, models)
    assert server.sent_nbytes == NBYTES + 100_000


def test_a_changed_etag_restarts_the_file(server, models):
    wanted = offer(server)

    def changes(request):
        request.hub.etags[FILE] = '"second"'
        drops(100_000)(request)

    server.faults[FILE].append(changes)
    finished(server, wanted, models)
    assert arrived(server, models)
    assert server.ranges()[1].startswith("bytes=100000-"), "a request to continue"
    assert server.sent_nbytes == NBYTES + 100_000, "a response with 200, from the start"


def test_a_changed_etag_is_detected_even_if_the_server_ignores_if_range(server, models):
    wanted = offer(server)

    def another(request):
        request.announce(ETag='"second"')
        request.body(request.content[request.start : request.end])

    server.faults[FILE].extend([drops(100_000), another])
    finished(server, wanted, models)
    assert arrived(server, models)
    assert server.ranges()[2].startswith("bytes=0-")


def test_weak_etags_are_not_sent_as_if_range(server, models):
    wanted = offer(server)
    server.etags[FILE] = 'W/"first"'
    server.faults[FILE].append(drops(100_000))
    finished(server, wanted, models)
    assert arrived(server, models)
    assert all("if-range" not in asked.headers for asked in server.asked)
    assert server.sent_nbytes == NBYTES


def test_a_flipped_bit_is_detected_and_the_file_downloaded_once_more(server, models):
    wanted = offer(server)
    server.faults[FILE].append(flips_a_bit)
    finished(server, wanted, models)
    assert arrived(server, models)
    assert server.sent_nbytes == 2 * NBYTES


def test_bits_flipped_twice_are_an_error_and_no_model(server, models):
    wanted = offer(server)
    server.faults[FILE].extend([flips_a_bit, flips_a_bit])
    failed = finished(server, wanted, models)
    assert failed.error is not None
    assert failed.error.kind == "bad_download"
    assert "SHA-256" in failed.error.message
    assert not (models / ID / FILE).exists()


def test_files_stored_in_git_are_checked_too(server, models):
    server.repositories.clear()
    wanted = offer(server, 1000)
    server.repositories[ID].in_git = {FILE}
    wanted = asked(server)
    assert wanted.repositories[0].files[0].sha256 == ""
    server.faults[FILE].extend([flips_a_bit, flips_a_bit])
    assert finished(server, wanted, models).progress().state == "failed"
    assert finished(server, wanted, models).progress().state == "done"
    assert arrived(server, models)


@pytest.mark.parametrize("said", [NBYTES - 1, NBYTES + 1, 0])
def test_a_size_other_than_the_listed_one_is_an_error_that_discards_nothing(server, models, said):
    wanted = offer(server)
    server.faults[FILE].append(drops(100_000))
    server.faults[FILE].append(lambda request: request.announce(Content_Range=f"bytes 100000-199999/{said}"))
    failed = finished(server, wanted, models)
    assert failed.error is not None
    assert failed.error.kind == "bad_download"
    assert (models / ID / f"{FILE}.part").stat().st_size == 100_000


def test_a_web_page_instead_of_the_file_discards_nothing(server, models):
    wanted = offer(server)

    def login_page(request):
        request.head(200, {"Content-Length": 10, "Content-Type": "text/html"})
        request.wfile.write(b"<html>log ")

    server.faults[FILE].extend([drops(100_000), login_page])
    failed = finished(server, wanted, models)
    assert failed.error is not None
    assert failed.error.kind == "bad_download"
    assert (models / ID / f"{FILE}.part").stat().st_size == 100_000


def test_more_bytes_than_announced_are_refused(server, models):
    wanted = offer(server)

    def more(request):
        request.head(206, {"Content-Range": f"bytes 0-{NBYTES - 1}/{NBYTES}"})
        request.body(request.content + b"more")
        request.hang_up()

    server.faults[FILE].append(more)
    failed = finished(server, wanted, models)
    assert failed.error is not None
    assert failed.error.kind == "bad_download"


def test_416_for_a_part_that_is_too_long_restarts_the_file(server, models):
    wanted = offer(server)
    server.faults[FILE].extend([drops(100_000), says(416)])
    finished(server, wanted, models)
    assert arrived(server, models)
    assert server.ranges()[2].startswith("bytes=0-")


def test_416_with_a_different_size_is_an_error(server, models):
    wanted = offer(server)
    server.faults[FILE].extend([drops(100_000), says(416, Content_Range="bytes */50000")])
    failed = finished(server, wanted, models)
    assert failed.error is not None
    assert failed.error.kind == "bad_download"
    assert (models / ID / f"{FILE}.part").stat().st_size == 100_000


def test_large_files_are_downloaded_in_several_ranges(server, models, monkeypatch):
    monkeypatch.setattr(transfer, "RANGE_NBYTES", 100_000)
    finished(server, offer(server), models)
    assert arrived(server, models)
    assert server.ranges() == ["bytes=0-99999", "bytes=100000-199999", "bytes=200000-299999"]


def test_files_only_available_by_xet_are_a_named_error(server, models, monkeypatch):
    monkeypatch.setattr(transfer, "XET_NBYTES", 100_000)
    wanted = offer(server)
    server.faults[FILE].append(says(400))
    failed = finished(server, wanted, models)
    assert failed.error is not None
    assert failed.error.kind == "only_by_xet"
    assert "hf download" in failed.error.hint


# -- redirects and the token ---------------------------------------------------------------------------------


def test_the_token_goes_with_every_request_to_the_hub_and_to_no_other_host(server, models, caplog):
    caplog.set_level(logging.DEBUG)
    server.elsewhere = True
    wanted = offer(server)
    hub = Hub(server.endpoint)
    hub.tokens.keep("hf_secret")
    server.faults[FILE].extend([drops(100_000), says(500), drops(100_000)])
    running = Download(wanted, models, hub, patience=QUICK)
    running.start()
    assert running.wait(20).state == "done", running.error
    hub.search("model")
    files = [asked for asked in server.asked if "range" in asked.headers]
    assert [asked.host for asked in files] == ["hub", "cdn"] * 4
    at_the_hub = [asked for asked in server.asked if asked.host == "hub"][
        1:
    ]  # except for `offer`, before the token
    assert {asked.headers.get("authorization") for asked in at_the_hub} == {"Bearer hf_secret"}
    assert all("authorization" not in asked.headers for asked in files if asked.host == "cdn")
    assert "hf_secret" not in caplog.text
    assert "hf_secret" not in repr(hub.tokens) + repr(running.progress())
    assert all(b"hf_secret" not in path.read_bytes() for path in models.rglob("*") if path.is_file())


@pytest.mark.parametrize("location", ["ftp://127.0.0.1/model.gguf", "file:///etc/passwd", "http://[::bad/"])
def test_redirects_to_other_schemes_are_refused(server, models, location):
    wanted = offer(server)
    server.faults[FILE].append(redirects_to(location))
    failed = finished(server, wanted, models)
    assert failed.error is not None
    assert failed.error.kind == "bad_download"


def test_endless_redirects_are_an_error(server, models):
    wanted = offer(server)
    server.faults[FILE].extend([lambda request: redirects_to(request.path)(request)] * 20)
    failed = finished(server, wanted, models)
    assert failed.error is not None
    assert "too many times" in failed.error.message


def test_a_token_for_one_host_is_not_given_to_another(own_keyring):
    AccessTokens("https://huggingface.co").keep("hf_secret")
    assert AccessTokens("https://huggingface.co").get() == "hf_secret"
    assert AccessTokens("https://mirror.example").get() is None


def test_a_proxy_is_used_where_one_is_set(server, models, monkeypatch):
    wanted = offer(server)
    monkeypatch.setenv("HTTP_PROXY", server.cdn)
    monkeypatch.setenv("NO_PROXY", "")
    running = Download(wanted, models, Hub("http://hub.example"), patience=QUICK)
    running.start()
    running.wait(10)
    assert server.asked[-1].path.startswith("http://hub.example/owner/model/resolve/")
