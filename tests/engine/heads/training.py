"""Trains tiny heads on what a tiny target itself says, for a few seconds."""

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy
from transformers import PreTrainedModel

from tests.engine.heads import made
from tests.engine.models import VOCABULARY


def train(kind: str, module: PreTrainedModel, steps: int = 150, texts: int = 48) -> dict[str, Tensor]:
    """Weights of heads of `kind` that guess greedy text of `module` better than at random."""
    generator = torch.Generator().manual_seed(3)
    prompts = torch.randint(3, VOCABULARY, (texts, 4), generator=generator)
    with torch.no_grad():
        tokens = module.generate(
            prompts, do_sample=False, max_new_tokens=32, eos_token_id=None, pad_token_id=0
        )
        states = module(tokens, output_hidden_states=True).hidden_states
    table, lm_head = (
        layer.weight.detach() for layer in (module.get_input_embeddings(), module.get_output_embeddings())
    )
    weights = made.random_weights(kind)
    learned = [each for name, each in weights.items() if name not in ("embed_tokens.weight", "d2t", "t2d")]
    optimizer = torch.optim.Adam([each.requires_grad_() for each in learned], lr=5e-3)
    for _ in range(steps):
        optimizer.zero_grad()
        if kind.startswith("medusa"):
            guesses = list(made.medusa(weights, kind, states[-1], lm_head))
        else:
            read = [states[1 + level] for level in made.LEVELS] if kind == "eagle3" else [states[-1]]
            fused = made.fused(weights, kind, [each[:, :-1] for each in read])
            found = made.layer_of(kind)(weights, table[tokens[:, 1:]], fused)
            guesses = [made.logits(weights, kind, found, lm_head)]
        losses = []
        for ahead, logits in enumerate(guesses, start=2):
            wanted, logits = tokens[:, ahead:].flatten(), logits[:, : tokens.shape[1] - ahead].flatten(0, 1)
            known = logits.detach().gather(1, wanted[:, None])[:, 0].isfinite()
            losses.append(cross_entropy(logits[known], wanted[known]))
        sum(losses).backward()
        optimizer.step()
    return {name: each.detach() for name, each in weights.items()}
