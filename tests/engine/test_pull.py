"""`specexec pull` and `specexec models`: their text and their JSON."""

import io
import json
import os
import signal
import subprocess
import sys
import time
import webbrowser
from pathlib import Path

import platformdirs
import pytest

from engine import catalog, cli
from engine.cli import pull
from tests.engine.checkpoints.files import write_gguf
from tests.engine.heads import mistral_heads
from tests.engine.hub.conftest import FILE, ID, content, own_keyring, server  # noqa: F401 - fixtures
from tests.engine.hub.lying_hub import COMMIT, LyingHub, Offered, says, stalls

NBYTES = 50_000


@pytest.fixture(autouse=True)
def hub(server, own_keyring, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LyingHub:  # noqa: F811
    """A fake Hub with one model, in place of the real one; an empty models folder."""
    monkeypatch.setenv("HF_ENDPOINT", server.endpoint)
    monkeypatch.setenv("SPECEXEC_MODELS", str(tmp_path / "models"))
    monkeypatch.setattr(platformdirs, "user_data_path", lambda *args, **kwargs: tmp_path / "data")
    server.repositories[ID] = Offered({FILE: content(NBYTES)})
    return server


def printed(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> dict:
    assert cli.run([*arguments, "--json"]) == status
    return json.loads(capsys.readouterr().out)


def test_json_is_one_object_with_the_downloaded_files(capsys, tmp_path: Path):
    answer = printed(capsys, "pull", ID)
    assert answer["bytes"] == answer["bytes_fetched"] == NBYTES
    [repository] = answer["repositories"]
    assert repository["path"] == str(tmp_path / "models" / ID)
    assert (repository["repository"], repository["commit"], repository["license"]) == (
        ID,
        COMMIT,
        "apache-2.0",
    )
    [file] = repository["files"]
    assert (file["name"], file["bytes"], len(file["sha256"])) == (FILE, NBYTES, 64)
    assert printed(capsys, "pull", ID)["bytes_fetched"] == 0
    assert catalog.resolve(f"{ID}/{FILE}") == tmp_path / "models" / ID / FILE


def test_the_files_are_announced_before_the_download(capsys, hub: LyingHub, tmp_path: Path):
    assert cli.run(["pull", f"{hub.endpoint}/{ID}", "--dry-run"]) == 0
    output = capsys.readouterr()
    assert output.out == ""
    assert f"{ID} at {COMMIT[:12]}, apache-2.0" in output.err
    assert f"0.00 GiB  {FILE}" in output.err
    assert str(tmp_path / "models") in output.err
    assert hub.ranges() == []
    assert cli.run(["pull", ID]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'models' / ID}\n"


def test_catalogue_models_are_downloaded_with_their_draft_on_request(capsys, hub: LyingHub, tmp_path: Path):
    target, draft = catalog.entries()["coder"], catalog.entries()["coder-draft"]
    for variant in (target, draft):
        hub.repositories[variant.repository] = Offered({variant.file: content(100), "other.gguf": b"x"})
    answer = printed(capsys, "pull", "coder", "--draft", "auto")
    assert [repository["repository"] for repository in answer["repositories"]] == [
        target.repository,
        draft.repository,
    ]
    assert catalog.resolve("coder") == tmp_path / "models" / target.repository / target.file
    assert catalog.draft_for("coder") == "coder-draft"


def test_the_draft_of_a_model_that_has_an_assistant_is_the_assistant(capsys, hub: LyingHub, tmp_path: Path):
    target, assistant = catalog.entries()["gemma-4-12b-q4_k_m"], "google/gemma-4-12B-it-assistant"
    hub.repositories[target.repository] = Offered({target.file: content(100)})
    config = b'{"model_type": "gemma4_unified_assistant"}'
    hub.repositories[assistant] = Offered({"config.json": config, "model.safetensors": content(50)})
    answer = printed(capsys, "pull", "gemma-4-12b", "--draft", "auto")
    found = [repository["repository"] for repository in answer["repositories"]]
    assert found == [target.repository, assistant]
    assert catalog.companion_for("gemma-4-12b") == tmp_path / "models" / assistant


def test_files_in_a_folder_of_a_repository_and_a_head_of_mistral_are_downloaded(
    capsys, hub: LyingHub, tmp_path: Path
):
    target, head = catalog.entries()["mistral-medium-3.5-q4_k_m"], "mistralai/Mistral-Medium-3.5-128B-EAGLE"
    assert len(target.files) == 3
    assert all(file.startswith("Q4_K_M/") for file in target.files)
    hub.repositories[target.repository] = Offered(
        {file: content(100) for file in target.files} | {"Q8_0/other.gguf": b"x"}
    )
    saved = mistral_heads.save(tmp_path / "made", mistral_heads.random_tensors())
    hub.repositories[head] = Offered({file.name: file.read_bytes() for file in saved.iterdir()})
    answer = printed(capsys, "pull", "mistral-medium-3.5", "--draft", "auto")
    found = {each["repository"]: {file["name"] for file in each["files"]} for each in answer["repositories"]}
    assert found == {target.repository: {*target.files}, head: {"params.json", "consolidated.safetensors"}}
    stored = tmp_path / "models" / target.repository / target.file
    assert catalog.resolve("mistral-medium-3.5") == stored
    assert catalog.companion_for("mistral-medium-3.5") == tmp_path / "models" / head
    listed = printed(capsys, "models")["models"]
    assert str(tmp_path / "models" / head) in {each["path"] for each in listed}


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        (["no-such-id"], "model_not_found"),
        (["owner/none"], "model_not_found"),
        ([ID, "--file", "none.gguf"], "model_not_found"),
        ([ID, "--draft", "auto"], "bad_option"),
        ([ID, "--max-speed", "-1"], "bad_option"),
        ([ID, "--max-speed", "nan"], "bad_option"),
        ([ID, "--revision", "none"], "model_not_found"),
    ],
)
def test_bad_input_gives_an_error_with_kind_message_and_hint(capsys, hub, monkeypatch, arguments, kind):
    error = printed(capsys, "pull", *arguments, status=1)["error"]
    assert error["kind"] == kind
    assert error["message"]
    assert error["hint"]


def test_a_failure_in_the_transfer_is_one_object_too(capsys, hub: LyingHub):
    hub.faults[FILE].append(says(404))
    assert printed(capsys, "pull", ID, status=1)["error"]["kind"] == "model_not_found"


def test_the_page_of_a_licence_is_opened_from_a_terminal(capsys, hub: LyingHub, monkeypatch):
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("HF_TOKEN", "hf_mine")
    hub.repositories[ID].gated = "auto"
    hub.repositories[ID].refuses = (403, {"X-Error-Code": "GatedRepo"})
    assert printed(capsys, "pull", ID, status=1)["error"]["kind"] == "license_not_accepted"
    assert opened == []
    assert cli.run(["pull", ID]) == 1
    assert opened == [f"{hub.endpoint}/{ID}"]
    assert hub.ranges() == []


def test_a_token_is_asked_for_and_kept(capsys, hub: LyingHub, own_keyring, monkeypatch):  # noqa: F811
    monkeypatch.setattr(sys, "stdin", io.StringIO("hf_mine\n"))
    printed(capsys, "pull", ID, "--token")
    printed(capsys, "pull", ID)
    assert list(own_keyring.kept.values()) == ["hf_mine"]
    assert {asked.headers.get("authorization") for asked in hub.asked} == {"Bearer hf_mine"}


@pytest.mark.skipif(os.name == "nt", reason="sends SIGINT")
def test_ctrl_c_pauses_and_the_same_command_resumes(capsys, hub: LyingHub, tmp_path: Path):
    hub.faults[FILE].append(stalls(20_000))
    environment = {**os.environ, "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring"}
    process = subprocess.Popen(
        [sys.executable, "-m", "engine.cli", "pull", ID, "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
        cwd=Path(__file__).parents[2],
    )  # fmt: skip
    part = tmp_path / "models" / ID / f"{FILE}.part"
    until = time.monotonic() + 20
    while not part.exists() or part.stat().st_size < 20_000:
        assert time.monotonic() < until
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=20)
    assert process.returncode == 1
    assert json.loads(out)["error"]["kind"] == "cancelled"
    unfinished = printed(capsys, "models")["unfinished"]
    assert unfinished == [{"name": ID, "bytes": NBYTES}]
    assert printed(capsys, "pull", ID)["bytes_fetched"] == NBYTES - 20_000
    assert printed(capsys, "models")["unfinished"] == []


# -- models --------------------------------------------------------------------------------------------------


def test_models_are_listed(capsys, tmp_path: Path):
    empty = printed(capsys, "models")
    assert (empty["folder"], empty["bytes"], empty["models"]) == (str(tmp_path / "models"), 0, [])
    printed(capsys, "pull", ID)
    [model] = printed(capsys, "models")["models"]
    assert (model["name"], model["bytes"], model["commit"]) == (f"{ID}/{FILE}", NBYTES, COMMIT)
    assert cli.run(["models"]) == 0
    assert f"0.00 GiB  {ID}/{FILE}  (apache-2.0)" in capsys.readouterr().out


def test_verify_fails_if_a_file_is_damaged(capsys, tmp_path: Path):
    printed(capsys, "pull", ID)
    assert printed(capsys, "models", "verify")["models"][0]["files"][0]["state"] == "ok"
    (tmp_path / "models" / ID / FILE).write_bytes(bytes(NBYTES))
    answer = printed(capsys, "models", "verify", ID, status=1)
    assert answer["error"]["kind"] == "bad_checkpoint"
    assert answer["models"][0]["files"][0]["state"] == "damaged"
    assert cli.run(["models", "verify"]) == 1
    assert f"damaged   {ID}/{FILE}" in capsys.readouterr().out


def test_delete_reports_the_bytes_it_freed(capsys):
    printed(capsys, "pull", ID)
    assert printed(capsys, "models", "delete", ID) == {"name": f"{ID}/{FILE}", "bytes": NBYTES}
    assert printed(capsys, "models", "delete", ID, status=1)["error"]["kind"] == "model_not_found"


def test_import_adds_a_file_to_the_models(capsys, tmp_path: Path):
    (tmp_path / "models").mkdir()
    file = write_gguf(tmp_path / "tiny.gguf")
    assert printed(capsys, "models", "import", str(file))["bytes"] == file.stat().st_size
    assert printed(capsys, "models")["models"][0]["name"] == "imported/tiny/tiny.gguf"


def test_after_a_move_models_are_found_in_the_new_folder(capsys, tmp_path: Path, monkeypatch):
    printed(capsys, "pull", ID)
    monkeypatch.delenv("SPECEXEC_MODELS")
    target = tmp_path / "new"
    arguments = ["models", "--models", str(tmp_path / "models"), "move", str(target)]
    assert printed(capsys, *arguments)["folder"] == str(target)
    assert catalog.models_folder() == target
    assert catalog.resolve(ID) == target / ID
    assert printed(capsys, "models", "verify")["models"][0]["files"][0]["state"] == "ok"
    assert not (tmp_path / "models").exists()


def test_models_left_in_the_cache_are_named_and_moved(capsys, tmp_path: Path, monkeypatch):
    monkeypatch.delenv("SPECEXEC_MODELS")
    monkeypatch.setattr(catalog.local, "_former_folder", lambda: tmp_path / "cache")
    assert cli.run(["models", "move"]) == 1
    assert "specexec models move PATH" in capsys.readouterr().err
    (tmp_path / "cache").mkdir()
    write_gguf(tmp_path / "cache/tiny.gguf")
    assert cli.run(["models"]) == 0
    told = capsys.readouterr()
    assert "tiny.gguf" in told.out
    assert "specexec models move moves them" in told.err
    target = printed(capsys, "models", "move")["folder"]
    assert target == str(tmp_path / "data/models")
    assert [model["name"] for model in printed(capsys, "models")["models"]] == ["tiny.gguf"]
    assert not (tmp_path / "cache").exists()
    assert cli.run(["models"]) == 0
    assert capsys.readouterr().err == ""


def test_a_variable_that_names_the_old_folder_is_reported(capsys, tmp_path: Path):
    printed(capsys, "pull", ID)
    printed(capsys, "models", "move", str(tmp_path / "new"))
    assert cli.run(["pull", ID]) == 0
    assert cli.run(["models", "move", str(tmp_path / "newer")]) == 0
    assert "SPECEXEC_MODELS" in capsys.readouterr().err


def test_the_command_line_needs_no_torch_for_this():
    code = (
        "import sys; from engine import cli; cli.run(sys.argv[1:]); "
        "print({'torch', 'PySide6'} & sys.modules.keys())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "models"],
        capture_output=True, text=True, timeout=60, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == "set()", done.stderr


# -- names of others -----------------------------------------------------------------------------------------

STEERING = "\x1b]0;title\x07\x1b[2J\x9b31m\u202egnp"


def steers(text: str) -> bool:
    return any(character in text for character in "\x1b\x07\x9b\u202e\u2066")


def test_what_the_hub_says_does_not_steer_the_terminal(capsys, hub: LyingHub):
    hub.repositories[ID].license = STEERING
    assert cli.run(["pull", ID, "--dry-run"]) == 0
    assert "\\u001b" in (said := capsys.readouterr().err)
    assert not steers(said)
    hub.repositories[ID].files = {f"{STEERING}.gguf": b"x"}
    assert cli.run(["pull", ID]) == 1
    assert not steers(capsys.readouterr().err)


def test_names_of_files_do_not_steer_the_terminal(capsys, tmp_path: Path):
    folder = tmp_path / "models" / f"imported{STEERING}\n0.00 GiB forged"
    folder.mkdir(parents=True)
    (folder / "a.gguf").write_bytes(b"x")
    assert cli.run(["models"]) == 0
    said = capsys.readouterr().out
    assert len(said.splitlines()) == 2, "the folder and one model"
    assert not steers(said)
    [model] = printed(capsys, "models")["models"]
    assert model["path"] == str(folder / "a.gguf"), "programs get the name as it is"
    assert cli.run(["models", "--json"]) == 0
    assert not steers(capsys.readouterr().out)


def test_a_damaged_manifest_is_named_once(capsys, tmp_path: Path):
    printed(capsys, "pull", ID)
    (tmp_path / "models" / ID / "b.gguf").write_bytes(b"x")
    (tmp_path / "models" / ID / "specexec.json").write_text("{")
    assert len(printed(capsys, "models")["faults"]) == 1
    for action in ([], ["verify"]):
        assert cli.run(["models", *action]) == 0
        assert capsys.readouterr().err.count("specexec.json cannot be read") == 1


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0, "0:00:00"), (3661.4, "1:01:01"), (3.6e16, "10000000000000:00:00")]
)
def test_any_time_left_is_shown(seconds: float, shown: str):
    assert pull._clock(seconds) == shown
