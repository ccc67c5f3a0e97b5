"""The layer for multi-token prediction (MTP) that comes with Qwen 3.5 and GLM-4.5: it guesses the target's
next state from its last state and the token chosen there, as EAGLE-1 does, so the same drafter grows trees
with it.

transformers leaves these tensors out. What they compute is known from vLLM's code (qwen3_5_mtp.py,
qwen3_next_mtp.py and glm4_moe_mtp.py, read in November 2026), and for Qwen 3.5 from llama.cpp's, which does
the same: the state is the target's after its final norm; states and embeddings are normalized separately, and
the matrix that joins them reads the embedding first; behind one decoder layer with full attention there is a
norm, whose output is the guessed state: the input of the target's output head, and of the next step. (vLLM
hands GLM's next step the state before that norm; SGLang hands it the state behind it, as here.) A row has the
position of its state. None was run with real weights here.

Beside a compiled target, `engine.heads.compiled_mtp` computes the same.
"""

from typing import Any

import torch
from accelerate import init_empty_weights
from torch import Tensor, nn
from transformers import AutoModelForCausalLM
from transformers.configuration_utils import PretrainedConfig

from engine.checkpoints import Checkpoint
from engine.checkpoints.drafts import stays_stored
from engine.model.interface import no_progress
from engine.quantization import Workspace, prepare_kernel
from engine.torch_model.attention import ATTENTION
from engine.torch_model.builder import Builder
from engine.torch_model.loader import built_from, model_config


class MtpLayer(nn.Module):
    """The layer with its norms, by the names in `engine.checkpoints.drafts`, made of the parts of
    transformers' module for the target.

    config: the target's, with one layer, which attends. Attributes: `config`; `rotary_emb`, which gives the
    layer's rotary factors.
    """

    def __init__(self, config: PretrainedConfig) -> None:
        super().__init__()
        model: Any = AutoModelForCausalLM.from_config(config).model  # type: ignore[no-untyped-call]
        width, eps = config.hidden_size, config.rms_norm_eps
        make_norm = type(model.norm)
        self.config = config
        self.rotary_emb = model.rotary_emb
        self.pre_fc_norm_embedding: nn.Module = make_norm(width, eps)
        self.pre_fc_norm_hidden: nn.Module = make_norm(width, eps)
        self.fc = nn.Linear(2 * width, width, bias=False)
        self.layers = model.layers
        self.norm = model.norm

    def fuse(self, states: Tensor) -> Tensor:
        return states

    def forward(self, tokens: Tensor, states: Tensor, **attention: Any) -> Tensor:
        """Return the guessed next states. tokens: their embeddings; tokens, states: [1, rows, width]."""
        both = self.pre_fc_norm_embedding(tokens), self.pre_fc_norm_hidden(states)
        guessed: Tensor = self.norm(self.layers[0](self.fc(torch.cat(both, dim=-1)), **attention))
        return guessed


def load_mtp(layer: Checkpoint, dtype: torch.dtype, device: str) -> MtpLayer:
    """Return the layer with its weights on the device. layer: as `draft_layer` returns it. dtype: of
    products. Weights that stay as they are stored are unpacked in each product, others once, to `dtype`.

    Raises BadCheckpoint if a weight is missing, does not belong to the layer or has another shape.
    """
    config = model_config(layer)
    config._attn_implementation = ATTENTION
    with built_from(layer), init_empty_weights(include_buffers=False):
        module = MtpLayer(config)
    builder = Builder(module, layer, Workspace(dtype, torch.device(device)))
    if stays_stored(layer):
        for name in sorted({weight.format for weight in layer.weights.values()}):
            prepare_kernel(name, dtype)
    builder.pack(None, stays_stored(layer))
    builder.read(no_progress)
    builder.finish(no_progress)
    return module.requires_grad_(False).eval()
