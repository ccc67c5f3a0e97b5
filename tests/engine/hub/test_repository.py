"""Requests to the Hub's API, the reading of its responses, and what it is never told."""

import os
import subprocess
import sys
from pathlib import Path

import keyring
import pytest
from keyring.backends.fail import Keyring as NoKeyring

from engine.errors import BadOption, SpecExecError
from engine.hub import (
    AccessRefused,
    AccessTokens,
    BadDownload,
    Gated,
    Hub,
    HubUnreachable,
    LicenseNotAccepted,
    TokenNeeded,
    repository_id,
)
from tests.engine.hub.conftest import FILE, ID, finished, offer
from tests.engine.hub.lying_hub import COMMIT, LyingHub, Offered, says

GATED = {"X-Error-Code": "GatedRepo"}
UNKNOWN = "and you are not in the authorized list. Visit https://huggingface.co/x to ask for access."


def test_a_repository_is_its_files_with_size_and_checksum_at_a_commit(server: LyingHub):
    server.repositories[ID] = Offered({FILE: b"abc", "config.json": b"{}"}, gated="manual", license="llama3")
    server.repositories[ID].in_git = {"config.json"}
    found = Hub(server.endpoint).repository(ID)
    assert (found.id, found.commit, found.license, found.gated) == (ID, COMMIT, "llama3", True)
    assert found.page == f"{server.endpoint}/{ID}"
    assert found.nbytes == 5
    model, config = found.files
    assert model.sha256 == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert config.sha256 == ""
    assert config.blob_id == "9e26dfeeb6e641a33dae4961196235bdb965b21b"


def test_a_search_gives_names_and_licences(server: LyingHub):
    server.repositories = {
        "a/llama": Offered({}),
        "b/Llama": Offered({}, gated="auto"),
        "c/other": Offered({}),
    }
    found = Hub(server.endpoint).search("llama")
    assert [(one.id, one.gated, one.license, one.downloads) for one in found] == [
        ("a/llama", False, "apache-2.0", 7), ("b/Llama", True, "apache-2.0", 7),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text", ["a/b-c.d", " a/b-c.d ", "https://huggingface.co/a/b-c.d", "https://hf.co/a/b-c.d/tree/main"]
)
def test_a_pasted_address_is_a_repository(text):
    assert repository_id(text) == "a/b-c.d"
    assert repository_id("llama") is None
    assert repository_id("a/b/c") is None


def test_the_endpoint_can_be_a_mirror(server: LyingHub, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", server.endpoint + "/")
    offer(server)
    assert Hub().endpoint == server.endpoint
    assert Hub().repository(ID).id == ID
    monkeypatch.setenv("HF_ENDPOINT", "mirror.example")
    with pytest.raises(BadOption, match="not the address"):
        Hub()


# -- access to models ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("token", "status", "said", "error", "in_hint"),
    [
        (None, 401, "Access is restricted. Please log in.", TokenNeeded, "settings/tokens"),
        ("hf_1", 403, f"Access is restricted {UNKNOWN}", LicenseNotAccepted, "/owner/model"),
        (
            "hf_1",
            403,
            "Your request has been reset. Visit to submit a new request.",
            LicenseNotAccepted,
            "/owner/model",
        ),
        (
            "hf_1",
            403,
            "Your request to access x has been rejected by the repo's authors.",
            AccessRefused,
            "another",
        ),
        (
            "hf_1",
            403,
            "Your request is awaiting a review from the repo authors.",
            AccessRefused,
            "once they have",
        ),
        (
            "hf_1",
            403,
            "enable access to public gated repositories in your fine-grained token",
            AccessRefused,
            "settings",
        ),
    ],
)
@pytest.mark.parametrize("asking", ["beforehand", "in the transfer"])
def test_reasons_for_a_refusal_are_distinguished(server, models, asking, token, status, said, error, in_hint):
    wanted = offer(server)
    hub = Hub(server.endpoint)
    if token:
        hub.tokens.keep(token)
    headers = {**GATED, "X-Error-Message": said}
    server.repositories[ID].gated = "manual"
    server.repositories[ID].refuses = (status, headers)
    if asking == "beforehand":
        with pytest.raises(error) as caught:
            hub.check_access(hub.repository(ID))
        found: SpecExecError | None = caught.value
    else:
        server.faults[FILE].append(says(status, **{k.replace("-", "_"): v for k, v in headers.items()}))
        found = finished(server, wanted, models).error
    assert type(found) is error
    assert in_hint in found.hint
    assert isinstance(found, Gated)
    assert found.page.startswith(server.endpoint)


def test_an_unknown_token_is_distinguished_from_a_missing_one(server: LyingHub):
    offer(server)
    server.repositories[ID].gated = "auto"
    server.repositories[ID].refuses = (
        401,
        {"X-Error-Message": "Invalid credentials in Authorization header"},
    )
    hub = Hub(server.endpoint)
    hub.tokens.keep("hf_old")
    with pytest.raises(AccessRefused, match="does not accept this access token"):
        hub.check_access(hub.repository(ID))


def test_an_account_with_access_passes_the_check(server: LyingHub):
    offer(server)
    server.repositories[ID].gated = "auto"
    Hub(server.endpoint).check_access(Hub(server.endpoint).repository(ID))
    assert server.asked[-1].path.endswith("/auth-check")


def test_a_missing_repository_is_an_error(server: LyingHub):
    with pytest.raises(SpecExecError) as caught:
        Hub(server.endpoint).repository("owner/none")
    assert caught.value.kind == "model_not_found"


# -- invalid responses ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "broken",
    [
        {}, {"id": ID}, {"id": ID, "sha": "../../evil"}, {"id": ID, "sha": COMMIT, "siblings": 3}, [], "text",
        {"id": ID, "sha": COMMIT, "siblings": [{"rfilename": FILE}]},
        {"id": ID, "sha": COMMIT, "siblings": [{"rfilename": FILE, "size": -1, "blobId": "0" * 40}]},
        {"id": ID, "sha": COMMIT, "siblings": [{"rfilename": FILE, "size": "1e9", "blobId": "0" * 40}]},
        {"id": ID, "sha": COMMIT, "siblings": [{"rfilename": FILE, "size": 3, "blobId": "../x"}]},
    ],
)  # fmt: skip
def test_invalid_responses_are_a_named_error(server: LyingHub, monkeypatch, broken):
    offer(server)
    monkeypatch.setattr(
        "tests.engine.hub.lying_hub.Answer._api", lambda self, path, query: self._json(broken)
    )
    with pytest.raises(HubUnreachable):
        Hub(server.endpoint).repository(ID)


def test_a_missing_network_and_errors_of_the_hub_are_named_errors(server: LyingHub, monkeypatch):
    with pytest.raises(HubUnreachable, match="does not respond"):
        Hub("http://127.0.0.1:9").repository(ID)
    monkeypatch.setattr("tests.engine.hub.lying_hub.Answer._api", lambda self, path, query: self.refuse(500))
    with pytest.raises(HubUnreachable, match="error 500"):
        Hub(server.endpoint).repository(ID)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(HubUnreachable, match="HF_HUB_OFFLINE"):
        Hub(server.endpoint).search("x")


def test_wrong_sizes_in_the_list_are_detected(server, models):
    wanted = offer(server, 1000)
    server.repositories[ID].listed = {FILE: (10**6, "0" * 64)}
    wanted = type(wanted)(wanted.name, (Hub(server.endpoint).repository(ID),))
    assert isinstance(finished(server, wanted, models).error, BadDownload)


# -- privacy -------------------------------------------------------------------------------------------------

ASK = """
import sys, huggingface_hub.constants  # imported before ours, as transformers would
from engine.hub import Hub
Hub(sys.argv[1]).search("model"); Hub(sys.argv[1]).repository("owner/model")
assert not {"torch", "transformers", "PySide6"} & sys.modules.keys()
"""


def test_there_are_no_other_requests_and_none_tells_what_runs_here(server: LyingHub, tmp_path: Path):
    offer(server)
    server.asked.clear()
    told = {
        "HF_HOME": str(tmp_path / "hf"),
        "AI_AGENT": "something",
        "HF_TOKEN": "",
        "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring",
    }
    (tmp_path / "hf").mkdir()
    (tmp_path / "hf/token").write_text("hf_of_another_program")
    environment = {**os.environ, **told, "HF_HUB_DISABLE_TELEMETRY": "0"}
    subprocess.run(
        [sys.executable, "-c", ASK, server.endpoint],
        check=True, env=environment, timeout=60, cwd=Path(__file__).parents[3],
    )  # fmt: skip
    assert [asked.path.partition("?")[0] for asked in server.asked] == [
        "/api/models",
        "/api/models/owner/model",
    ]
    for asked in server.asked:
        assert "authorization" not in asked.headers
        assert "torch" not in asked.headers["user-agent"]
        assert "agent/" not in asked.headers["user-agent"]
    assert [path.name for path in (tmp_path / "hf").iterdir()] == ["token"]


# -- tokens --------------------------------------------------------------------------------------------------


def test_a_token_is_kept_in_the_systems_keyring_until_it_is_forgotten(own_keyring):
    tokens = AccessTokens("https://huggingface.co")
    assert tokens.get() is None
    assert tokens.keep("  hf_mine\n") == ""
    assert own_keyring.kept == {("specexec-desktop", "huggingface.co"): "hf_mine"}
    assert AccessTokens("https://huggingface.co").get() == "hf_mine"
    tokens.forget()
    assert tokens.get() is None
    assert own_keyring.kept == {}
    tokens.forget()


def test_without_a_keyring_it_stays_in_memory_and_the_user_is_told(monkeypatch):
    keyring.set_keyring(NoKeyring())
    tokens = AccessTokens("https://huggingface.co")
    assert tokens.get() is None
    assert "in memory until" in tokens.keep("hf_mine")
    assert tokens.get() == "hf_mine"
    assert AccessTokens("https://huggingface.co").get() is None
    monkeypatch.setenv("HF_TOKEN", "hf_of_the_shell")
    assert AccessTokens("https://huggingface.co").get() == "hf_of_the_shell"


@pytest.mark.parametrize("token", ["", " ", "hf_a b", "hf_\r\nHost: evil", "hf_é"])
def test_text_that_is_not_a_token_is_refused(token):
    with pytest.raises(BadOption):
        AccessTokens("https://huggingface.co").keep(token)
