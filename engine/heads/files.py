"""Files of heads in their published formats: kind, configuration and tensors. Independent of the
target; does not build modules. The layer for multi-token prediction is in the target's own files.

Medusa heads (github.com/FasterDecoding/Medusa) have a config.json with medusa_num_heads, and
medusa_lm_head.safetensors or medusa_lm_head.pt. EAGLE heads (github.com/SafeAILab/EAGLE) have the config.json
of a llama, and model.safetensors or pytorch_model.bin with the tensor fc.weight, in EAGLE-3 also midlayer.*.
P-EAGLE heads are those of EAGLE-3 with the tensor mask_hidden. Both may be in the form of
github.com/vllm-project/speculators (`engine.heads.speculators`).
DFlash heads (github.com/z-lab/dflash) have the config.json of a qwen3 with the key dflash_config, and
model.safetensors with the tensors fc.weight and hidden_norm.weight.
Assistants of Gemma 4 (`engine.heads.assistant`) have a config.json with one of two model types, and
model.safetensors; or they are a GGUF file (`engine.checkpoints.gguf_assistant`). Heads of Mistral AI have a
layout of their own (`engine.heads.mistral`).
From .pt and .bin files only tensors are read: code in them is never run.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from engine.checkpoints import Checkpoint, gguf
from engine.checkpoints.drafts import ASSISTANTS, draft_layer
from engine.checkpoints.limits import check_sizes
from engine.checkpoints.mistral import is_mistral_head
from engine.checkpoints.safetensors import CODE, read_json
from engine.errors import BadCheckpoint
from engine.heads.mistral import read_mistral_head
from engine.heads.speculators import is_of_speculators, usual_config, usual_tensors
from engine.heads.tensors import Unread, in_weight, tensors_of

Kind = Literal["medusa", "eagle", "eagle3", "p-eagle", "mtp", "dflash", "assistant"]
EMBEDDING = "embed_tokens.weight"
LAST_NORM = "norm.weight"  # in heads of the first EAGLE, if there is a norm before the first layer, too
BUILT_IN = "mtp"  # as the name of a draft: the layer for multi-token prediction that comes with the target
QWEN3_WIDTH = 128  # of the heads of a qwen3 whose configuration names none


@dataclass(frozen=True, slots=True)
class HeadsFile:
    """Heads in a folder or a file; their weights are read when they are needed.

    path: the folder, or a GGUF file; kind: "eagle" stands for EAGLE-1 or -2; config: the contents of
    config.json or what stands for it in a GGUF file, or, for "mtp", the target's configuration; tensors: the
    weights, by the names that they have in a folder; layer: for "mtp", the layer as a checkpoint, instead of
    tensors.
    """

    path: Path
    kind: Kind
    config: dict[str, Any]
    tensors: Mapping[str, Unread]
    layer: Checkpoint | None = None

    @property
    def files(self) -> set[Path]:
        """The files that weights are read from."""
        of_layer = self.layer.weights.values() if self.layer else ()
        own = {tensor.file for tensor in self.tensors.values()}
        return own | {span.file for weight in of_layer for span in weight.spans}

    @property
    def parameters(self) -> int:
        """The number of weights, without a copy of the target's embedding, which is used in training."""
        return sum(math.prod(each.shape) for name, each in self.tensors.items() if name != EMBEDDING)

    @property
    def attention_width(self) -> int | None:
        """The width of the heads in which layers of their own attend. None: there are none, or they attend as
        the target does, or the configuration is not valid."""
        if self.kind in ("medusa", "mtp", "assistant"):
            return None
        width, heads = self.config.get("hidden_size"), self.config.get("num_attention_heads")
        own = self.config.get("head_dim") or (QWEN3_WIDTH if self.kind == "dflash" else None)
        if own is None and isinstance(width, int) and isinstance(heads, int) and heads > 0:
            own = width // heads
        return own if isinstance(own, int) and own > 0 else None

    @property
    def method(self) -> str:
        """The name of the drafter that uses the heads."""
        return self.kind if self.kind in ("medusa", "p-eagle", "dflash", "assistant") else "eagle"


def open_heads(path: Path) -> HeadsFile | None:
    """Open the heads in the folder or the GGUF file `path`. Returns None if it contains something else.

    Raises BadCheckpoint if files are damaged or contain more than tensors; UnsupportedModel if tensors are
    stored in an unsupported way.
    """
    if gguf.is_assistant(path):
        found = gguf.read_assistant(path)
        config = {"model_type": found.architecture, **found.config}
        of_file = {name: in_weight(name, weight) for name, weight in found.weights.items()}
        return HeadsFile(path, "assistant", config, of_file)
    if is_mistral_head(path):
        config, own = read_mistral_head(path)
        check_sizes(config)
        return HeadsFile(path, "eagle", config, own)
    if not (path / "config.json").is_file():
        return None
    config = read_json(path / "config.json")
    kind: Kind
    if "medusa_num_heads" in config:
        kind, files = "medusa", ("medusa_lm_head.safetensors", "medusa_lm_head.pt")
    elif config.get("model_type") in ASSISTANTS:
        kind, files = "assistant", ("model.safetensors", "pytorch_model.bin")
    else:
        kind, files = "eagle", ("model.safetensors", "pytorch_model.bin")
    tensors = tensors_of(path, *files)
    if kind in ("medusa", "assistant") and not tensors:
        raise BadCheckpoint(
            f"{path.name} has no {' and no '.join(files)}.", "Download it again, with all its files."
        )
    if is_of_speculators(config):
        config, tensors = usual_config(path.name, config), usual_tensors(tensors)
    if kind == "eagle" and "fc.weight" not in tensors:
        return None
    if kind == "eagle" and "dflash_config" in config:
        kind = "dflash"
    elif "mask_hidden" in tensors:
        kind = "p-eagle"
    elif any(name.startswith("midlayer.") for name in tensors):
        kind = "eagle3"
    check_sizes(config)
    config = {key: value for key, value in config.items() if not key.startswith("_") and key not in CODE}
    return HeadsFile(path, kind, config, tensors)


def built_in_heads(target: Checkpoint) -> HeadsFile | None:
    """Return the layer for multi-token prediction that the target's files contain. Returns None if there is
    none, or if it is incomplete or one of several."""
    layer = draft_layer(target)
    return HeadsFile(target.path, "mtp", target.config, {}, layer) if layer else None
