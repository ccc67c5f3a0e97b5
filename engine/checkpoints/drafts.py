"""The layer for drafts that comes with a model, for multi-token prediction (MTP): its names, and the layer as
a checkpoint of its own.

Its weights are called as Qwen 3.5 calls them, without the `mtp.` in front: what joins the embedding of a
token with the state before it, a decoder layer, and a norm. GLM-4.5 numbers the layer after those of the
model, and GGUF files do so for both; sources are vLLM's qwen3_5_mtp.py and glm4_moe_mtp.py, and
llama.cpp's conversion/qwen.py and src/models/glm4-moe.cpp.
"""

from dataclasses import replace

from engine.checkpoints.checkpoint import Checkpoint

EMBEDDING_NORM, STATE_NORM = "pre_fc_norm_embedding", "pre_fc_norm_hidden"
JOIN, LAST_NORM = "fc", "norm"
LAYER = "layers.0."
# GLM's names: these ones.
GLM = {"enorm": EMBEDDING_NORM, "hnorm": STATE_NORM, "eh_proj": JOIN, "shared_head.norm": LAST_NORM}
# The embedding and the output head, which the layer shares with the model, although files may have copies.
SHARED = ("embed_tokens", "shared_head.head")
PLAIN = ("F64", "F32", "F16", "BF16")
# The model types of Gemma 4's assistants, which are checkpoints of their own, and those of their layers.
ASSISTANTS = {
    "gemma4_assistant": "gemma4_text",
    "gemma4_unified_assistant": "gemma4_unified_text",
}


def draft_layer(target: Checkpoint) -> Checkpoint | None:
    """Return the layer for drafts that comes with `target`, as a checkpoint with a single layer. Returns None
    if there is none, or if it is incomplete or one of several."""
    layers = {name.split(".")[1] for name in target.draft if name.startswith("layers.")}
    joins = {f"{name}.weight" for name in (EMBEDDING_NORM, STATE_NORM, JOIN, LAST_NORM)}
    if layers != {"0"} or not joins <= target.draft.keys():
        return None
    glm = target.architecture == "glm4_moe"
    kind = {"first_k_dense_replace": 0} if glm else {"layer_types": ["full_attention"]}
    single = {"num_hidden_layers": 1, "tie_word_embeddings": False} | kind
    return replace(target, config=target.config | single, weights=target.draft, draft={})


def stays_stored(layer: Checkpoint) -> bool:
    """Return whether the weights of a layer for drafts stay in memory as they are stored: if they are packed,
    or if the layer is a mixture, of which a pass reads a small part."""
    return any(".experts." in name or weight.format not in PLAIN for name, weight in layer.weights.items())
