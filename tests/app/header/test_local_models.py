from pathlib import Path

import pytest

from app.header import local_models
from app.header.local_models import LocalModel, models_here, pairs_here, plan
from app.preferences import LoadPreferences
from engine import catalog, planner
from engine.catalog import MODELS_VARIABLE
from engine.planner.machines import compiled_processor, processor
from engine.protocol.messages import Memory

GIB = 2**30


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(MODELS_VARIABLE, str(tmp_path))
    monkeypatch.setattr(local_models, "RESOURCES", tmp_path / "none")
    return tmp_path


def put(folder: Path, name: str, nbytes: int) -> Path:
    path = folder / name
    path.write_bytes(b"GGUF" + bytes(nbytes - 4))
    return path


def test_without_a_models_folder_there_are_no_models(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MODELS_VARIABLE, str(folder / "gone"))
    assert models_here() == []
    assert pairs_here() == []


def test_models_are_listed_by_size_with_the_catalogues_names(folder: Path) -> None:
    coder, draft = catalog.entries()["coder"], catalog.entries()["coder-draft"]
    put(folder, draft.file, 20)
    put(folder, coder.file, 30)
    put(folder, "my-own.gguf", 40)
    assert [(model.name, model.nbytes) for model in models_here()] == [
        ("my-own.gguf", 40),
        ("coder", 30),
        ("coder-draft", 20),
    ]
    assert [model.text for model in models_here()] == [
        "my-own.gguf",
        "Qwen2.5 Coder 1.5B Instruct · Q4_K_M",
        "Qwen2.5 Coder 0.5B Instruct · Q4_K_M",
    ]


def test_a_target_is_paired_with_its_draft(folder: Path) -> None:
    put(folder, catalog.entries()["coder"].file, 30)
    (alone,) = pairs_here()
    assert alone.draft is None
    put(folder, catalog.entries()["coder-draft"].file, 20)
    pair = pairs_here()[0]
    assert pair.draft is not None
    assert (pair.draft.name, pair.nbytes) == ("coder-draft", 50)


def test_heads_of_the_program_are_paired_with_their_target(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    heads = tmp_path / "elsewhere" / "some-eagle"
    heads.mkdir(parents=True)
    put(heads, "model.safetensors", 7)
    monkeypatch.setattr(catalog, "heads_for", lambda target: heads if target == "smollm2" else None)
    put(folder, catalog.entries()["smollm2"].file, 30)
    put(folder, catalog.entries()["coder"].file, 20)
    small, coder = pairs_here()
    assert small.draft == LocalModel(str(heads), "some-eagle", 7)
    assert coder.draft is None


def test_an_assistant_in_a_file_beside_its_model_is_paired_with_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assistant = put(folder, "mtp-any.gguf", 7)
    put(folder, "any.gguf", 30)
    monkeypatch.setattr(catalog, "companion_for", lambda target: assistant if target == "any.gguf" else None)
    pair = next(pair for pair in pairs_here() if pair.target.name == "any.gguf")
    assert pair.draft == LocalModel(str(assistant), "mtp-any.gguf", 7)


def test_a_model_is_found_by_its_name_after_its_folder_was_moved(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(folder, "my-own.gguf", 40)
    (model,) = models_here()
    moved = folder.rename(folder.with_name(f"{folder.name}-moved"))
    monkeypatch.setenv(MODELS_VARIABLE, str(moved))
    assert catalog.resolve(model.name) == moved / "my-own.gguf"
    assert models_here() == [model]


def test_a_file_that_cannot_be_read_has_no_plan(folder: Path) -> None:
    assert plan(str(put(folder, "broken.gguf", 40)), "auto", None, None, "never") is None


def test_the_memory_of_loaded_models_counts_as_free(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model of the catalogue that is not installed is planned from the catalogue alone."""
    small = planner.described_machine(0, 8, 10, 2, planner.usual_card(8), processor(8, {"avx2"}))
    monkeypatch.setattr(planner, "profile_of", lambda *_: small)
    local_models.outline.cache_clear()
    tight = plan("qwen2.5-coder-32b", "none", 2048, None, "never")
    roomy = plan("qwen2.5-coder-32b", "none", 2048, Memory(vram=0, ram=64 * GIB, peak=0), "never")
    assert tight is not None
    assert roomy is not None
    assert tight.memory.ssd > 0
    assert roomy.memory.ssd == 0


def test_a_plan_counts_the_heads_that_would_be_loaded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = planner.described_machine(0, 8, 10, 2, planner.usual_card(8), processor(8, {"avx2"}))
    monkeypatch.setattr(planner, "profile_of", lambda *_: small)
    local_models.outline.cache_clear()
    alone, beside = (plan("smollm2", draft, 2048, None, "never") for draft in ("none", "auto"))
    assert alone is not None
    assert beside is not None
    assert (alone.heads, beside.heads) == (None, "other")
    assert beside.memory.ram > alone.memory.ram


def test_a_plan_reckons_with_the_processors_help_if_it_may_help(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cpu, compiled = processor(8, {"avx2"}), compiled_processor(8, {"avx512_vnni"})
    card = planner.described_machine(24, 64, 12.4e9, 2e9, planner.usual_card(24), cpu, compiled)
    monkeypatch.setattr(planner, "profile_of", lambda *_: card)
    local_models.outline.cache_clear()
    alone, helped = (
        plan("llama-3.3-70b-q4_k_m", "none", 2048, None, helps) for helps in ("never", "measured")
    )
    assert alone is not None
    assert helped is not None
    assert alone.helped == 0 < helped.helped
    assert helped.predicted_tokens_per_second > alone.predicted_tokens_per_second
    usual = LoadPreferences().processor_helps
    assert plan("llama-3.3-70b-q4_k_m", "none", 2048, None, usual) == alone, "it is no mixture"
    mixture = plan("mixtral-8x7b-q4_k_m", "none", 2048, None, usual)
    assert mixture is not None
    assert mixture.helped > 0


def test_a_plan_is_for_no_more_tokens_than_the_model_allows(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    large = planner.described_machine(0, 64, 10, 2, planner.usual_card(8), processor(8, {"avx2"}))
    monkeypatch.setattr(planner, "profile_of", lambda *_: large)
    local_models.outline.cache_clear()
    found = plan("llama-2-7b", "none", None, None, "never")
    assert found is not None
    assert found.context == catalog.catalog().models["llama-2-7b"].context < planner.CONTEXT
