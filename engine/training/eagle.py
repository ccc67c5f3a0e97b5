"""Training of an EAGLE-3 head (arXiv 2503.01840).

From three of the target's states at a token, and from the token after it, the head guesses the target's next
distribution. It then continues from its own guesses, as it does when it drafts.
"""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

from engine.errors import UnsupportedModel
from engine.torch_model.eagle_layers import Eagle3
from engine.torch_model.forward import TorchModel
from engine.torch_model.tensor_cache import head_dim
from engine.training.batched import BATCHED, GrowingCache
from engine.training.corpus import Batch
from engine.training.saved_heads import save_heads
from engine.training.student import Student, Teacher, distance, stored

AHEAD = 5  # steps that continue from the head's own guesses; EAGLE-3 has 7
# One in this many positions continues from its own guess. All positions make the first guess, which takes
# more time than any later one.
CHAINS = 4


def levels_of(layers: int) -> tuple[int, int, int]:
    """Return the indices of a low layer, a middle layer and the last layer. The target's own head reads the
    last layer's output."""
    return layers // 3 - 1, 2 * layers // 3 - 1, layers - 1


class EagleStudent(Student):
    """An EAGLE-3 head in training. Each of its input rows combines the target's states at a token with the
    next token."""

    method = "eagle"

    def __init__(self, target: TorchModel, ids: Tensor) -> None:
        """ids: int64 [draft vocabulary], the tokens that the head can guess, ascending. Raises
        UnsupportedModel if the target has fewer than three layers."""
        if target.layers < 3:
            raise UnsupportedModel(
                f"An EAGLE-3 head reads three layers, but the target has {target.layers} layers.",
                "Train Medusa heads, or a draft made of layers.",
            )
        self.levels = levels_of(target.layers)
        self._teacher = Teacher(target, ids)
        self._vocabulary: int = target.config.vocab_size
        self.config = self._config(target, len(ids))
        self._embed: Any = target.module.get_input_embeddings()
        self._rotary = LlamaRotaryEmbedding(self.config).to(target.device)
        self.module: Any = Eagle3(self.config, target.config.hidden_size).to(target.device)
        self._start_from(target)

    def _config(self, target: TorchModel, draft_vocabulary: int) -> LlamaConfig:
        of = target.config
        config = LlamaConfig(
            hidden_size=of.hidden_size,
            intermediate_size=of.intermediate_size,
            num_hidden_layers=1,
            num_attention_heads=of.num_attention_heads,
            # A token's whole embedding must pass through the values, so every head has values of its own.
            num_key_value_heads=of.num_attention_heads,
            head_dim=head_dim(of),
            hidden_act=of.hidden_act,
            max_position_embeddings=of.max_position_embeddings,
            rms_norm_eps=of.rms_norm_eps,
            rope_parameters=of.rope_parameters,
            vocab_size=of.vocab_size,
            tie_word_embeddings=False,
        )
        config.architectures = ["LlamaForCausalLMEagle3"]
        levels = {"eagle_aux_hidden_state_layer_ids": list(self.levels)}
        config.update({"draft_vocab_size": draft_vocabulary, "eagle_config": levels})
        config._attn_implementation = BATCHED
        return config

    def _start_from(self, target: TorchModel) -> None:
        """Initialise the head so that it almost repeats the target's guess from one token earlier: the state
        of the target's last layer passes through it to a copy of the target's own head."""
        for layer in self.module.modules():
            if isinstance(layer, nn.Linear):
                layer.register_parameter("bias", None)
                nn.init.normal_(layer.weight, std=0.02)
        body: Any = target.module.model
        width: int = target.config.hidden_size
        last = body.layers[-1]
        with torch.no_grad():
            self.module.fc.weight[:, : 2 * width] *= 0.1
            self.module.fc.weight[:, 2 * width :] = torch.eye(width)
            self.module.midlayer.self_attn.o_proj.weight *= 0.1
            self.module.midlayer.mlp.down_proj.weight *= 0.1
            self.module.midlayer.hidden_norm.weight.copy_(last.input_layernorm.weight)
            self.module.norm.weight.copy_(body.norm.weight)
            self.module.lm_head.weight.copy_(self._teacher.rows)

    def losses(self, batch: Batch, generator: torch.Generator) -> Tensor:
        tokens, actual, learned = batch.tokens, batch.states[:, :, -1], batch.learned
        rows = tokens.shape[1] - 1
        cache, device = GrowingCache(), tokens.device
        with torch.no_grad():
            embedded = self._embed(tokens).float()
        positions = torch.arange(rows, device=device)
        visible = positions <= positions[:, None]
        states = self._step(embedded[:, 1:], self._fused(batch)[:, :-1], positions, visible, cache)
        losses = [self._distance(states, actual[:, 1:], learned[:, 1:])]
        # From here on, only the chosen positions continue. Each sees the target's states up to itself, and
        # its own guesses. A chain that starts at position p has position p + n after n steps: there it reads
        # token p + n + 1 and predicts token p + n + 2.
        chosen = torch.randperm(rows, generator=generator)[: max(1, rows // CHAINS)].sort().values.to(device)
        states, visible = states[:, chosen], visible[chosen]
        for ahead in range(1, AHEAD + 1):
            inside = chosen + ahead < rows  # chains that have not reached the end of the text
            at = (chosen + ahead).clamp(max=rows - 1)
            own = torch.eye(len(chosen), dtype=torch.bool, device=device)
            visible = torch.cat((visible, own), dim=1)
            states = self._step(embedded[:, at + 1], states, chosen + ahead, visible, cache)
            losses.append(self._distance(states, actual[:, at + 1], learned[:, at + 1] & inside))
        return torch.stack(losses)

    def _fused(self, batch: Batch) -> Tensor:
        fused: Tensor = self.module.fuse(batch.states.flatten(2).float())
        return fused

    def _step(
        self, embedded: Tensor, states: Tensor, positions: Tensor, visible: Tensor, cache: GrowingCache
    ) -> Tensor:
        """Return the guessed next states, [texts, rows, width]. embedded, states: of the same shape; visible:
        bool [rows, keys], the keys that each row sees."""
        guessed: Tensor = self.module(
            embedded,
            states,
            attention_mask=visible[None],
            position_embeddings=self._rotary(embedded, positions[None]),
            past_key_values=cache,
        )
        return guessed

    def _distance(self, guessed: Tensor, actual: Tensor, where: Tensor) -> Tensor:
        """Return the mean loss of the guesses at the positions `where`, bool [texts, rows]. guessed, actual:
        the student's and the target's states, [texts, rows, width]."""
        return distance(self.module.logits(guessed[where]), self._teacher.probs(actual[where]))

    def save(self, folder: Path) -> None:
        ids = self._teacher.ids.cpu()
        tensors = stored(self.module)
        tensors["d2t"] = ids - torch.arange(len(ids))
        tensors["t2d"] = torch.zeros(self._vocabulary, dtype=torch.bool).index_fill_(0, ids, True)
        save_heads(folder, "eagle3", {**self.config.to_dict(), "torch_dtype": "bfloat16"}, tensors)
