"""Only the files of one model in one format are selected from a repository, and never a pickle."""

import pytest

from engine import catalog
from engine.errors import BadOption, ModelNotFound, UnsupportedModel
from engine.hub import Hub, RemoteFile, Repository, choose, item_of, offers
from tests.engine.hub.lying_hub import COMMIT, LyingHub, Offered

CONFIGURATION = ["config.json", "tokenizer.json", "tokenizer_config.json", "chat_template.jinja"]
SHARDS = [
    "model-00001-of-00002.safetensors",
    "model-00002-of-00002.safetensors",
    "model.safetensors.index.json",
]


def repository(*files: str, **sizes: int) -> Repository:
    listed = tuple(RemoteFile(name, sizes.get(name, 10), "0" * 64) for name in files)
    return Repository("owner/model", COMMIT, "", False, "", listed)


def chosen(*files: str, only: tuple[str, ...] = ()) -> set[str]:
    return {file.name for file in choose(repository(*files), only).files}


def test_other_forms_of_the_same_weights_are_not_selected():
    others = [
        "pytorch_model.bin", "model.fp16.safetensors", "consolidated.safetensors", "onnx/config.json",
        "README.md", "onnx/model.onnx", "original/params.json", "tf_model.h5", "model-Q4_K_M.gguf",
        "training_args.bin",
    ]  # fmt: skip
    assert chosen(*CONFIGURATION, *SHARDS, *others) == {*CONFIGURATION, *SHARDS}
    assert chosen(*CONFIGURATION, "model.safetensors", *others) == {*CONFIGURATION, "model.safetensors"}
    assert chosen(*CONFIGURATION, *SHARDS, "model.safetensors") == {*CONFIGURATION, *SHARDS}


def test_a_single_weight_file_may_have_any_name():
    assert chosen("config.json", "gptq_model-4bit-128g.safetensors") == {
        "config.json", "gptq_model-4bit-128g.safetensors",
    }  # fmt: skip


def test_the_only_gguf_file_is_taken_with_all_its_parts():
    assert chosen("README.md", "a.gguf", "mmproj-a.gguf", "a.mmproj-f16.gguf", "imatrix.gguf") == {"a.gguf"}
    parts = {"q/a-00001-of-00002.gguf", "q/a-00002-of-00002.gguf"}
    assert chosen(*parts) == parts
    assert chosen(*parts, "b.gguf", only=("q/a-00002-of-00002.gguf",)) == parts


def test_an_assistant_beside_its_model_is_no_choice_of_its_own_unless_it_is_named():
    both = "a-Q4_0.gguf", "mtp-a-Q8_0.gguf"
    assert chosen(*both) == {"a-Q4_0.gguf"}
    assert chosen(*both, only=both) == {*both}
    assert chosen("mtp-a-Q8_0.gguf") == {"mtp-a-Q8_0.gguf"}


def test_several_models_are_listed_with_their_sizes_for_the_user_to_choose():
    offered = repository("a-Q8_0.gguf", "a-Q4_0.gguf", **{"a-Q8_0.gguf": 3 << 30, "a-Q4_0.gguf": 2 << 30})
    assert [(offer.name, offer.nbytes >> 30) for offer in offers(offered)] == [
        ("a-Q4_0.gguf", 2),
        ("a-Q8_0.gguf", 3),
    ]
    with pytest.raises(BadOption) as caught:
        choose(offered)
    assert "a-Q4_0.gguf (2.0 GiB), a-Q8_0.gguf (3.0 GiB)" in caught.value.hint


def test_pickles_are_never_taken():
    with pytest.raises(UnsupportedModel, match="only as pickles"):
        chosen("config.json", "pytorch_model.bin")
    with pytest.raises(UnsupportedModel, match="is a pickle"):
        chosen("a.gguf", "pytorch_model.bin", only=("pytorch_model.bin",))
    with pytest.raises(UnsupportedModel, match="no model"):
        chosen("README.md")


def test_the_error_for_a_missing_file_lists_the_existing_ones():
    with pytest.raises(ModelNotFound) as caught:
        chosen("a.gguf", "b.gguf", only=("c.gguf",))
    assert "a.gguf, b.gguf" in caught.value.hint


def test_a_pair_of_the_catalogue_is_one_item(server: LyingHub):
    target, draft = catalog.entries()["coder"], catalog.entries()["coder-draft"]
    for variant in (target, draft):
        server.repositories[variant.repository] = Offered(
            {variant.file: b"x", "other.gguf": b"y", "README.md": b"z"}
        )
    pair = item_of(Hub(server.endpoint), [target, draft])
    assert [[file.name for file in repository.files] for repository in pair.repositories] == [
        [target.file], [draft.file],
    ]  # fmt: skip
    assert pair.name == f"{target.name} + {draft.name}"
