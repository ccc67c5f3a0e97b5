"""The shipped catalogue: complete, and consistent with itself and with the engine."""

import pytest

from engine import catalog
from engine.catalog import CatalogModel, CatalogPair, Variant, sizes
from engine.model.architectures import ARCHITECTURES

ALL = catalog.catalog()
models = pytest.mark.parametrize("model", ALL.models.values(), ids=ALL.models)
variants = pytest.mark.parametrize("variant", ALL.variants.values(), ids=ALL.variants)
pairs = pytest.mark.parametrize("pair", ALL.pairs, ids=[f"{pair.target}+{pair.draft}" for pair in ALL.pairs])
GATED = ("meta-llama/", "google/gemma-2-", "google/gemma-3-", "mistralai/Mistral-Large-")
EXPECTED_DRAFTS = {
    "llama-3.3-70b": {"llama-3.1-8b", "llama-3.2-1b"},
    "llama-3.1-70b": {"llama-3.1-8b", "llama-3.2-1b"},
    "llama-2-70b": {"llama-2-7b", "tinyllama-1.1b"},
    "mixtral-8x7b": {"mistral-7b-v0.2"},
    "qwen2.5-72b": {"qwen2.5-7b", "qwen2.5-1.5b", "qwen2.5-0.5b"},
    "qwen2.5-32b": {"qwen2.5-7b", "qwen2.5-1.5b", "qwen2.5-0.5b"},
    "qwen2.5-14b": {"qwen2.5-7b", "qwen2.5-1.5b", "qwen2.5-0.5b"},
    "qwen3-32b": {"qwen3-1.7b", "qwen3-0.6b"},
    "qwen3-14b": {"qwen3-1.7b", "qwen3-0.6b"},
    "gemma-3-27b": {"gemma-3-1b"},
    "mistral-large-2407": {"mistral-7b-v0.3"},
    "smollm2-1.7b": {"smollm2-360m", "smollm2-135m"},
    "deepseek-r1-distill-llama-70b": {"deepseek-r1-distill-llama-8b"},
    "deepseek-r1-distill-qwen-32b": {"deepseek-r1-distill-qwen-1.5b"},
    "deepseek-r1-distill-qwen-14b": {"deepseek-r1-distill-qwen-1.5b"},
    "granite-3.3-8b": {"granite-3.3-2b"},
    "olmo-2-32b": {"olmo-2-1b"},
    "olmo-2-13b": {"olmo-2-1b"},
    "olmo-2-7b": {"olmo-2-1b"},
}


@models
def test_a_model_can_be_loaded_and_downloaded(model: CatalogModel) -> None:
    assert model.architecture in ARCHITECTURES
    assert model.variants
    assert model.license
    assert model.heads % model.kv_heads == 0


@models
def test_a_model_is_described_in_one_line(model: CatalogModel) -> None:
    assert model.about.endswith(".")
    assert 20 < len(model.about) <= 90
    assert "\n" not in model.about
    same = [other.id for other in ALL.models.values() if other.about == model.about]
    assert same == [model.id] or "mainly useful as a draft" in model.about


@models
def test_the_description_agrees_with_the_figures(model: CatalogModel) -> None:
    """The words for sizes mean the same in all descriptions."""
    for words, least, most in (
        ("large model", 27e9, 1e12),
        ("small model", 0, 7e9),
        ("moderate size", 7e9, 9e9),
    ):
        if words in model.about and "very small model" not in model.about:
            assert least <= model.parameters <= most
    if "very small" in model.about or "tiny" in model.about:
        assert model.parameters < 2e9
    assert model.special == ("programming" in model.about)
    successor = catalog.catalog().models.get(model.successor)
    assert successor is None or successor.parameters == model.parameters
    assert (model.thinking != "never") == ("think" in model.about)


@models
def test_the_figures_give_the_published_number_of_parameters(model: CatalogModel) -> None:
    assert sizes.parameters(model) == model.parameters


@variants
def test_a_variant_is_complete(variant: Variant) -> None:
    owner, name = variant.repository.split("/")
    assert owner
    assert name
    assert variant.seen
    assert variant.license
    assert variant.files
    if variant.format == "gguf":
        assert all(file.endswith(".gguf") for file in variant.files)
    if variant.sha256:
        assert len(bytes.fromhex(variant.sha256)) == 32
    assert variant.gated == variant.repository.startswith(GATED)


# Files whose recipe is not known, by how many bytes they differ from the arithmetic, within 1 MB. GLM's also
# have copies of the embedding and of the head in the layer for drafts.
OF_OTHER_RECIPES = {"glm-4.5-air-q4_k_m": 826e6, "qwen3.6-35b-a3b-q4_k_m": -739e6}


@variants
def test_bytes_agree_with_the_arithmetic(variant: Variant) -> None:
    """A file is larger than its tensors by its header: at most 14 MB for a GGUF file with the vocabulary,
    and 16 for Gemma 4's."""
    computed = sizes.files_nbytes(ALL.models[variant.model], variant)
    assert variant.nbytes > 0
    if variant.id in OF_OTHER_RECIPES:
        assert abs(variant.nbytes - computed - OF_OTHER_RECIPES[variant.id]) < 1e6
    elif variant.nbytes_from == "computed":
        assert variant.nbytes == computed
    else:
        header = 16e6 if variant.model.startswith("gemma-4") else 14e6  # of which merges take much
        assert abs(variant.nbytes - computed) < (header if variant.format == "gguf" else 1e5)


@pairs
def test_a_draft_shares_the_vocabulary_and_is_smaller(pair: CatalogPair) -> None:
    target, draft = ALL.models[pair.target], ALL.models[pair.draft]
    assert target.family == draft.family
    assert abs(target.vocabulary - draft.vocabulary) <= 128, "more than padding"
    assert draft.parameters < target.parameters / 1.5


@pairs
def test_expected_tokens_per_pass_are_possible(pair: CatalogPair) -> None:
    for expectation in pair.expectations:
        assert 1 < expectation.tokens_per_pass <= expectation.budget + 1
        assert expectation.temperature >= 0


def test_the_expected_pairs_exist() -> None:
    drafts = {target: {pair.draft for pair in ALL.drafts_for(target)} for target in EXPECTED_DRAFTS}
    assert drafts == EXPECTED_DRAFTS


def test_mixtral_does_not_match_mistral_v3() -> None:
    assert ALL.models["mixtral-8x7b"].family == ALL.models["mistral-7b-v0.2"].family
    assert ALL.models["mixtral-8x7b"].family != ALL.models["mistral-7b-v0.3"].family


def test_the_smallest_model_runs_on_any_machine() -> None:
    smallest = min(variant.nbytes for variant in ALL.variants.values())
    assert smallest < 100e6
