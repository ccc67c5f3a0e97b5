"""Trains a tiny target on an artificial language, and heads on that target's outputs, in a few seconds.

A text of the language follows one of two cycles through the same tokens, so the next token depends on the
cycle as well as on the last token, and no token occurs twice in a row: heads that read the wrong position
guess wrong.
"""

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy
from transformers import AutoModelForCausalLM, PreTrainedModel

from tests.engine.heads import made
from tests.engine.models import VOCABULARY, reference

CYCLES = 2
STEPS = {
    "p-eagle": 300,
    "dflash": 300,
}  # one block of each text per step; other heads learn from all positions
TOKENS = made.DRAFT_VOCABULARY  # of the language


def language() -> tuple[Tensor, Tensor]:
    """Return its tokens, int64 [TOKENS], ascending, and their successors, int64 [CYCLES, VOCABULARY]."""
    generator = torch.Generator().manual_seed(11)
    tokens = (3 + torch.randperm(VOCABULARY - 3, generator=generator)[:TOKENS]).sort().values
    following = torch.zeros(CYCLES, VOCABULARY, dtype=torch.int64)
    for cycle in following:
        order = tokens[torch.randperm(TOKENS, generator=generator)]
        cycle[order] = order.roll(-1)
    return tokens, following


def texts(count: int, length: int, generator: torch.Generator) -> Tensor:
    """Return random texts, int64 [count, length]."""
    tokens, following = language()
    cycles = torch.randint(CYCLES, (count,), generator=generator)
    found = [tokens[torch.randint(TOKENS, (count,), generator=generator)]]
    while len(found) < length:
        found.append(following[cycles, found[-1]])
    return torch.stack(found, dim=1)


def train_target(steps: int = 200, **sizes: int) -> PreTrainedModel:
    """Train a model of four layers that continues the language after two tokens."""
    torch.manual_seed(0)
    config = reference("qwen2", num_hidden_layers=4, **sizes).config
    module = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    optimizer, generator = torch.optim.Adam(module.parameters(), lr=5e-3), torch.Generator().manual_seed(1)
    for _ in range(steps):
        tokens = texts(64, 12, generator)
        logits = module(tokens[:, :-1]).logits
        optimizer.zero_grad()
        cross_entropy(logits[:, 1:].flatten(0, 1), tokens[:, 2:].flatten()).backward()
        optimizer.step()
    return module.eval().requires_grad_(False)


def untrained(kind: str) -> dict[str, Tensor]:
    """Return random weights; those of EAGLE-3 guess among the tokens of the language."""
    weights = made.random_weights(kind)
    if kind in made.THREE:
        tokens, _ = language()
        weights["d2t"] = tokens - torch.arange(TOKENS)
        weights["t2d"] = torch.zeros(VOCABULARY, dtype=torch.bool).index_fill_(0, tokens, True)
    return weights


def train(kind: str, module: PreTrainedModel, count: int = 96) -> dict[str, Tensor]:
    """Return weights of heads of `kind`, trained to guess how `module` continues."""
    prompts = texts(count, 4, torch.Generator().manual_seed(3))
    with torch.no_grad():
        tokens = module.generate(
            prompts, do_sample=False, max_new_tokens=32, eos_token_id=None, pad_token_id=0
        )
        states = module(tokens, output_hidden_states=True).hidden_states
    table, lm_head = (
        layer.weight.detach() for layer in (module.get_input_embeddings(), module.get_output_embeddings())
    )
    weights = untrained(kind)
    learned = [each for name, each in weights.items() if name not in ("embed_tokens.weight", "d2t", "t2d")]
    optimizer = torch.optim.Adam([each.requires_grad_() for each in learned], lr=5e-3)
    for step in range(STEPS.get(kind, 100)):
        if kind in made.BLOCKS:
            loss = block_loss(kind, weights, tokens, states, table, lm_head, 3 + step % 28)
        else:
            loss = sum(losses(kind, weights, tokens, states, table, lm_head))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return {name: each.detach() for name, each in weights.items()}


def block_loss(kind, weights, tokens, states, table, lm_head, root: int) -> Tensor:
    """Return the loss of a block's guesses after the token at the position `root` of each text."""
    read = made.READ if kind == "dflash" else made.LEVELS
    text = made.fused(weights, kind, [states[1 + level][:, :root] for level in read])
    found = made.guessed_block(weights, kind, table, tokens[:, : root + 1], text, lm_head)
    wanted = tokens[:, root + 1 : root + made.BLOCK]
    return cross_entropy(found[:, : wanted.shape[1]].flatten(0, 1), wanted.flatten())


def losses(kind, weights, tokens, states, table, lm_head) -> list[Tensor]:
    """Return the losses of the guesses of other heads, the nearest tokens first."""
    if kind.startswith("medusa"):
        guesses = list(made.medusa(weights, kind, states[-1], lm_head))
    else:
        read = [states[1 + level] for level in made.LEVELS] if kind == "eagle3" else [states[-1]]
        fused = made.fused(weights, kind, [each[:, :-1] for each in read])
        found = made.layer_of(kind)(weights, table[tokens[:, 1:]], fused)
        guesses = [made.logits(weights, kind, found, lm_head)]
    found = []
    for ahead, logits in enumerate(guesses, start=2):
        wanted, logits = tokens[:, ahead:].flatten(), logits[:, : tokens.shape[1] - ahead].flatten(0, 1)
        known = logits.detach().gather(1, wanted[:, None])[:, 0].isfinite()
        found.append(cross_entropy(logits[known], wanted[known]))
    return found
