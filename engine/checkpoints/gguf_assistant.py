"""Assistants of Gemma 4 in GGUF files: drafts for a model of that family (`engine.heads.assistant`). Their
layers are Gemma 4's, without keys and values of their own.

Sources: ggml-org/llama.cpp, conversion/gemma.py (Gemma4AssistantModel) and src/models/gemma4-assistant.cpp.
llama.cpp knows the names of an assistant's clusters of tokens, but its converter leaves them out. Other
programs write them, and the keys that llama.cpp does not read; descriptions of such files are in public code
(November 2026).
"""

from collections.abc import Iterator

from engine.checkpoints.gguf_gemma import SHARED, gemma4, places_of_gemma4
from engine.checkpoints.gguf_keys import Keys
from engine.checkpoints.gguf_places import TensorPlace
from engine.checkpoints.gguf_settings import Config
from engine.checkpoints.limits import WIDTH_LIMIT

NAME = "gemma4-assistant"
KEYS = (
    *("embedding_length_out", "nextn_predict_layers", "centroid_top_k", "requires_target_arch"),
    # What tensors and other keys say, too.
    *("use_ordered_embeddings", "n_centroids", "n_embd_backbone", "attention.k_eq_v"),
)
CENTROIDS, ORDER = "masked_embd_centroids.weight", "masked_embd_ordering"
CHOSEN = 32  # clusters that give logits: transformers' default, and Google's choice for E2B and E4B
# Settings of the whole; all others are of its layers.
_WHOLE = (
    *("architectures", "tie_word_embeddings", "backbone_hidden_size"),
    *("use_ordered_embeddings", "num_centroids", "centroid_intermediate_top_k"),
)


def assistant(keys: Keys, config: Config) -> Config:
    """Return the settings of an assistant, those of its layers among them. Its output head has clusters if
    the file has their tensors.

    Raises `BadCheckpoint` if some layers do not draft, or do not use the keys and values of a Gemma 4.
    """
    layers = config["num_hidden_layers"]
    of_layers = gemma4(keys, config, own=0)
    shared = of_layers["num_kv_shared_layers"]  # files of Google that say 0 mean all layers
    for key, is_right in (
        ("nextn_predict_layers", keys.number("{arch}.nextn_predict_layers", layers) == layers),
        (SHARED, shared in (0, layers)),
        ("requires_target_arch", keys.text("{arch}.requires_target_arch", "gemma4") == "gemma4"),
    ):
        if not is_right:
            raise keys.bad("{arch}." + key, keys.get("{arch}." + key))
    return (
        of_layers
        | {
            "num_kv_shared_layers": layers,
            "vocab_size_per_layer_input": 0,
            "backbone_hidden_size": keys.number("{arch}.embedding_length_out", least=1, most=WIDTH_LIMIT),
        }
        | _clusters(keys)
    )


def with_layers_apart(config: Config) -> Config:
    """Return the settings that `assistant` completes as transformers has them: those of layers in
    `text_config`."""
    whole = {key: value for key, value in config.items() if key in _WHOLE}
    return whole | {"text_config": {key: value for key, value in config.items() if key not in _WHOLE}}


def places_of_assistant(config: Config) -> Iterator[tuple[str, TensorPlace]]:
    """Yield (GGUF name, place) for every tensor of an assistant. config: as `assistant` completes it."""
    hidden, backbone = config["hidden_size"], config["backbone_hidden_size"]
    yield from places_of_gemma4(config)
    yield "nextn.pre_projection.weight", TensorPlace("pre_projection.weight", (hidden, 2 * backbone))
    yield "nextn.post_projection.weight", TensorPlace("post_projection.weight", (backbone, hidden))
    if config["use_ordered_embeddings"]:
        shape = (config["num_centroids"], hidden)
        yield CENTROIDS, TensorPlace("masked_embedding.centroids.weight", shape)
        yield ORDER, TensorPlace("masked_embedding.token_ordering", (config["vocab_size"],))


def _clusters(keys: Keys) -> Config:
    centroids = keys.header.tensors.get(CENTROIDS)
    if centroids is None:
        return {"use_ordered_embeddings": False}
    count = centroids.shape[0]
    chosen = keys.number("{arch}.centroid_top_k", min(CHOSEN, count), least=1, most=count)
    return {
        "use_ordered_embeddings": True,
        "num_centroids": count,
        "centroid_intermediate_top_k": chosen,
    }
