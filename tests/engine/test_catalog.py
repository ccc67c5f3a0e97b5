"""Known models are found by id and by path; what is missing is said with the next step."""

from pathlib import Path

import pytest

from engine import catalog
from engine.errors import BadOption, ModelNotFound


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty models folder, and no models shipped."""
    folder = tmp_path / "models"
    folder.mkdir()
    monkeypatch.setenv("SPECEXEC_MODELS", str(folder))
    shipped = tmp_path / "resources"
    (shipped / "models").mkdir(parents=True)
    (shipped / "catalog.toml").write_bytes((catalog.RESOURCES / "catalog.toml").read_bytes())
    monkeypatch.setattr(catalog, "RESOURCES", shipped)
    return folder


def put(folder: Path, model: str) -> Path:
    path = folder / catalog.entries()[model].file
    path.touch()
    return path


def test_the_default_model_is_the_embedded_one() -> None:
    entry = catalog.entries()[catalog.default_target()]
    assert entry.id == "smollm2"
    assert entry.embedded
    assert catalog.draft_for(entry.id) is None


def test_every_entry_is_complete() -> None:
    for entry in catalog.entries().values():
        assert len(bytes.fromhex(entry.sha256)) == 32
        assert entry.nbytes > 0
        assert entry.license


def test_the_catalogue_says_the_size_of_the_files_that_are_here() -> None:
    found = [(entry, catalog.find(entry)) for entry in catalog.entries().values()]
    for entry, path in found:
        assert path is None or path.stat().st_size == entry.nbytes
    if all(path is None for _, path in found):
        pytest.skip("no model of the catalogue is on this machine")


def test_an_id_is_looked_up_among_shipped_models_then_in_the_models_folder(models: Path) -> None:
    downloaded = put(models, "smollm2")
    assert catalog.resolve("smollm2") == downloaded
    shipped = put(catalog.RESOURCES / "models", "smollm2")
    assert catalog.resolve("smollm2") == shipped


def test_a_path_may_be_a_file_or_a_folder(models: Path) -> None:
    assert catalog.resolve(str(models)) == models
    file = models / "any.gguf"
    file.touch()
    assert catalog.resolve(str(file)) == file


def test_an_unknown_model_is_refused_with_the_known_ids(models: Path) -> None:
    for asked in ("nonsense", "", str(models / "missing.gguf")):
        with pytest.raises(ModelNotFound) as caught:
            catalog.resolve(asked)
        assert "smollm2" in caught.value.hint
        assert "coder" in caught.value.hint


def test_a_known_model_that_is_not_here_says_where_to_put_it(models: Path) -> None:
    with pytest.raises(ModelNotFound, match=r"1\.0 GiB") as caught:
        catalog.resolve("coder")
    assert str(models) in caught.value.hint


def test_the_draft_is_named_only_where_its_file_is(models: Path) -> None:
    put(models, "coder")
    assert catalog.draft_for("coder") is None
    put(models, "coder-draft")
    assert catalog.draft_for("coder") == "coder-draft"
    assert catalog.draft_for("coder-draft") is None
    assert catalog.draft_for("unknown") is None


def test_the_draft_is_found_for_the_path_of_a_known_target(models: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    target = put(elsewhere, "coder")
    assert catalog.draft_for(str(target)) is None
    beside = put(elsewhere, "coder-draft")
    assert catalog.draft_for(str(target)) == str(beside)
    put(models, "coder-draft")
    assert catalog.draft_for(str(target)) == "coder-draft"


def test_without_a_setting_models_lie_in_the_users_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPECEXEC_MODELS", raising=False)
    folder = catalog.models_folder()
    assert folder.name == "models"
    assert "specexec-desktop" in folder.parts
    assert folder.is_relative_to(Path.home())


GOOD = 'name = "A"\nfile = "a.gguf"\nsha256 = ""\nnbytes = 1\nlicense = "MIT"\n'


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[a", "not valid"),
        ("[a]\nname = 'A'", "missing"),
        ("a = 1", "not valid"),
        (f"[a]\n{GOOD}colour = 'red'", "colour"),
        (f"[a]\n{GOOD.replace('a.gguf', '../a.gguf')}", "plain file name"),
        (f"[a]\n{GOOD}draft = 'b'", "no entry 'b'"),
    ],
)
def test_a_faulty_catalogue_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(BadOption, match=reason):
        catalog.parse(text)
