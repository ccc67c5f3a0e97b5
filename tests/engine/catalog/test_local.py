"""Finding models by id and by path; errors name the next step."""

from pathlib import Path

import pytest

from engine import catalog
from engine.catalog import local
from engine.checkpoints.mistral import JOIN
from engine.errors import ModelNotFound
from tests.engine.heads import mistral_heads

AWQ = "qwen2.5-coder-1.5b-awq"


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty models folder; no models are shipped."""
    folder = tmp_path / "models"
    folder.mkdir()
    monkeypatch.setenv("SPECEXEC_MODELS", str(folder))
    catalog.catalog()  # read before the folder is replaced
    shipped = tmp_path / "resources"
    (shipped / "models").mkdir(parents=True)
    monkeypatch.setattr(local, "RESOURCES", shipped)
    return folder


def put(folder: Path, variant: str) -> Path:
    path = folder / catalog.entries()[variant].file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return path


def put_folder(models: Path, variant: str) -> Path:
    folder = models / catalog.entries()[variant].repository
    folder.mkdir(parents=True)
    (folder / "config.json").touch()
    return folder


def test_the_default_model_is_the_embedded_one() -> None:
    entry = catalog.entries()[catalog.default_target()]
    assert entry.id == "smollm2"
    assert entry.embedded
    assert catalog.draft_for(entry.id) is None


def test_installed_files_have_the_size_in_the_catalogue() -> None:
    found = [(entry, catalog.find(entry)) for entry in catalog.entries().values() if entry.sha256]
    for entry, path in found:
        assert path is None or path.stat().st_size == entry.nbytes
    if all(path is None for _, path in found):
        pytest.skip("no model of the catalogue is installed")


def test_an_id_is_looked_up_among_shipped_models_then_in_the_models_folder(models: Path) -> None:
    owned = put(models / catalog.entries()["smollm2"].repository, "smollm2")
    assert catalog.resolve("smollm2") == owned
    downloaded = put(models, "smollm2")
    assert catalog.resolve("smollm2") == downloaded
    shipped = put(local.RESOURCES / "models", "smollm2")
    assert catalog.resolve("smollm2") == shipped


def test_other_formats_are_folders_with_a_configuration(models: Path) -> None:
    (models / catalog.entries()[AWQ].repository).mkdir(parents=True)
    assert catalog.find(catalog.entries()[AWQ]) is None
    (models / catalog.entries()[AWQ].repository / "config.json").touch()
    assert catalog.resolve(AWQ) == models / "Qwen/Qwen2.5-Coder-1.5B-Instruct-AWQ"


def test_the_id_of_a_model_means_its_first_installed_variant(models: Path) -> None:
    folder = put_folder(models, AWQ)
    assert catalog.resolve("qwen2.5-coder-1.5b") == folder
    file = put(models, "coder")
    assert catalog.resolve("qwen2.5-coder-1.5b") == file, "the first in the list"


def test_a_path_may_be_a_file_or_a_folder(models: Path) -> None:
    assert catalog.resolve(str(models)) == models
    file = models / "any.gguf"
    file.touch()
    assert catalog.resolve(str(file)) == file


def test_an_unknown_model_is_refused_with_known_ids(models: Path) -> None:
    for id in ("nonsense", "", str(models / "missing.gguf")):
        with pytest.raises(ModelNotFound) as caught:
            catalog.resolve(id)
        assert "smollm2" in caught.value.hint
        assert "coder" in caught.value.hint
    with pytest.raises(ModelNotFound) as caught:
        catalog.resolve("llama3.3-70b")
    assert "llama-3.3-70b" in caught.value.hint


def test_the_error_for_a_missing_model_says_where_to_put_it(models: Path) -> None:
    with pytest.raises(ModelNotFound, match=r"Coder 1.5B.*1\.0 GiB") as caught:
        catalog.resolve("coder")
    assert f"into {models}," in caught.value.hint
    with pytest.raises(ModelNotFound, match=r"\(Qwen/Qwen2\.5-Coder-1\.5B-Instruct-AWQ,") as caught:
        catalog.resolve(AWQ)
    assert f"into {models / 'Qwen/Qwen2.5-Coder-1.5B-Instruct-AWQ'}," in caught.value.hint


def test_a_draft_is_returned_only_where_it_is_installed(models: Path) -> None:
    put(models, "coder")
    assert catalog.draft_for("coder") is None
    put(models, "coder-draft")
    assert catalog.draft_for("coder") == "coder-draft"
    assert catalog.draft_for("qwen2.5-coder-1.5b") == "coder-draft"
    assert catalog.draft_for("coder-draft") is None
    assert catalog.draft_for("unknown") is None


def test_the_best_installed_draft_is_returned(models: Path) -> None:
    put(models, "coder-draft")
    assert catalog.draft_for("qwen2.5-coder-32b-awq") == "coder-draft"
    put_folder(models, AWQ)
    assert catalog.draft_for("qwen2.5-coder-32b-awq") == AWQ


def test_the_draft_is_found_for_the_path_of_a_known_target(models: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    target = put(elsewhere, "coder")
    assert catalog.draft_for(str(target)) is None
    beside = put(elsewhere, "coder-draft")
    assert catalog.draft_for(str(target)) == str(beside)
    put(models, "coder-draft")
    assert catalog.draft_for(str(target)) == "coder-draft"


def test_the_current_folder_is_no_model_of_the_catalogue(models: Path) -> None:
    for target in (".", "..", "/", ""):
        assert catalog.model_for(target) is None


def put_assistant(folder: Path, kind: str = "gemma4_assistant") -> Path:
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(f'{{"model_type": "{kind}"}}')
    (folder / "model.safetensors").touch()
    return folder


def test_the_assistant_of_a_model_is_found_in_the_models_folder(models: Path) -> None:
    assert catalog.companion_for("gemma-4-e2b") is None
    own = put_assistant(models / "google/gemma-4-E2B-it-assistant")
    for target in ("gemma-4-e2b", "gemma-4-e2b-q8_0", "/elsewhere/gemma-4-E2B-it-Q8_0.gguf"):
        assert catalog.companion_for(target) == own
    assert catalog.companion_for("gemma-4-e4b") is None


def test_an_assistant_is_found_beside_the_path_of_a_target(models: Path, tmp_path: Path) -> None:
    target = tmp_path / "some/any.gguf"
    target.parent.mkdir()
    target.touch()
    beside = put_assistant(tmp_path / "some-assistant")
    assert catalog.companion_for(str(target)) == beside
    within = put_assistant(target.parent / "assistant")
    assert catalog.companion_for(str(target)) == catalog.companion_for(str(target.parent)) == within
    (within / "config.json").write_text("damaged")
    assert catalog.companion_for(str(target)) == beside
    (beside / "config.json").write_text('{"model_type": "llama"}')
    assert catalog.companion_for(str(target)) is None


def test_a_head_of_mistral_is_found_beside_the_path_of_a_target(models: Path, tmp_path: Path) -> None:
    target = tmp_path / "some/any.gguf"
    target.parent.mkdir()
    target.touch()
    beside = mistral_heads.save(tmp_path / "some-EAGLE", mistral_heads.random_tensors())
    assert catalog.companion_for(str(target)) == beside
    within = mistral_heads.save(target.parent / "eagle", mistral_heads.random_tensors())
    assert catalog.companion_for(str(target)) == within
    stored = mistral_heads.random_tensors()
    del stored[JOIN]
    mistral_heads.save(within, stored)
    assert catalog.companion_for(str(target)) == beside, "a model of Mistral AI is no head"


def test_a_head_of_another_model_of_the_catalogue_is_not_taken(models: Path, tmp_path: Path) -> None:
    """Medium 3.5 and Devstral 2 have the same width and vocabulary."""
    folder = tmp_path / "mistral"
    head = mistral_heads.save(folder / "eagle", mistral_heads.random_tensors())
    own, other = (
        folder / catalog.catalog().models[model].variants[0].file_name
        for model in ("mistral-medium-3.5", "devstral-2")
    )
    own.touch()
    other.touch()
    assert catalog.companion_for(str(own)) == head
    assert catalog.companion_for(str(other)) is None


def test_a_folder_of_several_unknown_models_says_nothing_about_whose_head_it_is(
    models: Path, tmp_path: Path
) -> None:
    head = mistral_heads.save(tmp_path / "some/eagle", mistral_heads.random_tensors())
    parts = [tmp_path / f"some/any-0000{number}-of-00002.gguf" for number in (1, 2)]
    for part in parts:
        part.touch()
    assert catalog.companion_for(str(parts[0])) == head
    (tmp_path / "some/other.gguf").touch()
    assert catalog.companion_for(str(parts[0])) is None


def test_of_variants_with_one_file_name_the_nearest_in_size_is_found(models: Path) -> None:
    ids = "qwen3.6-27b-mtp-q4_k_m", "qwen3.6-27b-q4_k_m"
    of_layer, plain = (catalog.entries()[id] for id in ids)
    assert of_layer.file_name == plain.file_name
    file = models / plain.file_name
    for variant, other in ((plain, of_layer), (of_layer, plain)):
        with file.open("wb") as opened:
            opened.truncate(variant.nbytes + 10_000_000)  # the header; the file is sparse
        assert (catalog.find(variant), catalog.find(other)) == (file, None)
    own = models / plain.repository / plain.file_name
    own.parent.mkdir(parents=True)
    own.touch()
    assert catalog.find(plain) == own


@pytest.mark.parametrize("name", ["any.gguf", "./any.gguf", "."])
def test_an_assistant_is_found_beside_a_target_named_from_its_folder(
    name: str, models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("any.gguf").touch()
    assert catalog.companion_for(name) is None
    assert catalog.companion_for("/") is None
    assert catalog.companion_for(name) is None
    own = put_assistant(tmp_path / "assistant")
    assert catalog.companion_for(name) == own
    (own / "model.safetensors").unlink()
    assert catalog.companion_for(name) is None


def test_in_the_models_folder_an_assistant_is_not_everyones(models: Path) -> None:
    put_assistant(models / "assistant")
    (models / "any.gguf").touch()
    assert catalog.companion_for(str(models / "any.gguf")) is None


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the home folder of a user who has chosen no models folder."""
    monkeypatch.delenv("SPECEXEC_MODELS", raising=False)
    monkeypatch.setattr(local, "_kept_folder", lambda: tmp_path / "kept")
    monkeypatch.setattr(local, "_usual_folder", lambda: tmp_path / "data")
    monkeypatch.setattr(local, "_former_folder", lambda: tmp_path / "cache")
    return tmp_path


def test_the_usual_models_folder_is_among_the_users_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPECEXEC_MODELS", raising=False)
    monkeypatch.setattr(local.platformdirs, "user_data_path", lambda *_, **__: Path("/data/specexec-desktop"))
    monkeypatch.setattr(local, "_former_folder", lambda: Path("/none"))
    assert catalog.models_folder() == Path("/data/specexec-desktop/models")
    assert catalog.left_behind() is None


def test_the_cache_of_earlier_versions_is_used_as_long_as_it_alone_holds_models(home: Path) -> None:
    assert catalog.models_folder() == home / "data"
    (home / "cache/.downloads").mkdir(parents=True)
    (home / "cache/.downloads/x.lock").touch()
    assert catalog.models_folder() == home / "data", "a lock is no model"
    put(home / "cache", "coder")
    assert catalog.resolve("coder").parent == catalog.models_folder() == home / "cache"
    put(home / "data", "coder")
    (home / "data" / catalog.MOVING).touch()
    assert catalog.models_folder() == home / "cache", "a move to the data folder has not finished"
    (home / "data" / catalog.MOVING).unlink()
    assert catalog.models_folder() == home / "data"
    assert catalog.left_behind() == (home / "cache", home / "data")


def test_models_are_not_left_behind_where_the_user_wants_them(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(home / "cache", "coder")
    assert catalog.left_behind() == (home / "cache", home / "data")
    catalog.keep_models_folder(home / "elsewhere")
    assert catalog.left_behind() == (home / "cache", home / "elsewhere")
    catalog.keep_models_folder(home / "cache")
    assert catalog.left_behind() is None
    (home / "kept").unlink()
    monkeypatch.setenv("SPECEXEC_MODELS", str(home / "cache"))
    assert catalog.left_behind() is None


def test_a_link_to_models_elsewhere_is_followed_but_not_moved(home: Path) -> None:
    put(home / "elsewhere", "coder")
    (home / "cache").symlink_to(home / "elsewhere", target_is_directory=True)
    assert catalog.models_folder() == home / "cache"
    assert catalog.left_behind() is None


def test_shipped_heads_are_found_by_id_and_by_path(models: Path) -> None:
    assert catalog.heads_for("smollm2") is None
    heads = models.parent / "resources" / "drafts" / "smollm2-135m-eagle"
    heads.mkdir(parents=True)
    assert catalog.heads_for("smollm2") is None, "a folder without heads"
    (heads / "config.json").write_text("{}")
    for target in ("smollm2", "smollm2-135m", "/elsewhere/SmolLM2-135M-Instruct.Q4_1.gguf"):
        assert catalog.heads_for(target) == heads
    assert catalog.heads_for("smollm2-360m") is None
    assert catalog.heads_for("/elsewhere/other.gguf") is None


@pytest.mark.parametrize("kept", [b"", b"models", b"/home/\0", b"../x"])
def test_a_damaged_choice_of_the_models_folder_counts_as_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: bytes
) -> None:
    monkeypatch.delenv("SPECEXEC_MODELS", raising=False)
    monkeypatch.setattr(local, "_kept_folder", lambda: tmp_path / "kept")
    usual = catalog.models_folder()
    (tmp_path / "kept").write_bytes(kept)
    assert catalog.models_folder() == usual


def test_any_folder_that_exists_can_be_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPECEXEC_MODELS", raising=False)
    monkeypatch.setattr(local, "_kept_folder", lambda: tmp_path / "kept")
    for name in ("ordinary", "模型", "not UTF-8 \udcff"):
        catalog.keep_models_folder(tmp_path / name)
        assert catalog.models_folder() == tmp_path / name
