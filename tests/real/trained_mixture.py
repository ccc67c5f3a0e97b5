"""Train a tiny mixture of experts on text files here, and replay its real routing through the cache's policy:

    python -m tests.real.trained_mixture --minutes 10 docs/*.md

Prints hit rates, how many experts consecutive passes share, and how many of the experts that the policy
expects are then chosen: by what the passes before used, by what the router says when it is asked while the
layer before, or the one before that, still computes its experts, and by what the same token chose when it was
read last. The text that is routed is the last tenth of the files, which is not trained on.

The model reads bytes; with --tokenizer, the tokens of a model's vocabulary, of which only those stay that the
files contain.
"""

import argparse
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import Qwen3MoeConfig, Qwen3MoeForCausalLM

from engine.bench.experts import Asked, hits_of_best, hits_of_policy, hits_of_recent, kept
from engine.bench.made_routing import MixtureTurn
from engine.checkpoints import open_checkpoint
from engine.streaming.early_routers import AHEAD
from engine.streaming.expert_policy import ExpertPolicy
from engine.tokenizer import load_tokenizer

Tokens = NDArray[np.int64]
# The experts that each token chooses in one layer, [tokens, CHOSEN], the likeliest first.
Chosen = NDArray[np.int64]
# What the router of a layer chooses if it is asked early, by (layer, how many layers before).
Early = Mapping[tuple[int, int], Chosen]

LAYERS, EXPERTS, CHOSEN, WIDTH = 4, 32, 4, 128
BALANCE = 0.02  # weight of the loss that keeps routers from choosing the same experts always
LENGTH, BATCH = 128, 8  # tokens of a text, texts of a step
READS = 2  # experts that there is time to read while a layer computes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, help="text to train on")
    parser.add_argument("--minutes", type=float, default=10, help="processor time to train for (default: 10)")
    parser.add_argument("--tokenizer", type=Path, help="model whose tokens are read (default: bytes)")
    parser.add_argument(
        "--passes",
        type=int,
        default=800,
        help="tokens to count, after half as many that the policy learns from (default: 800)",
    )
    given = parser.parse_args()
    text = tokens_of(b"\n".join(file.read_bytes() for file in given.files), given.tokenizer)
    cut = len(text) * 9 // 10
    torch.manual_seed(1)
    torch.set_num_threads(1)
    model = untrained(max(256, int(text.max()) + 1))
    steps, loss = train(model, text[:cut], given.minutes * 60)
    held_out = text[cut : cut + given.passes * 3 // 2]
    routed, early = routing(model, held_out)
    millions = sum(parameter.numel() for parameter in model.parameters()) / 1e6
    print(
        f"{millions:.1f} million parameters, {LAYERS} layers, {CHOSEN} of {EXPERTS} experts; {steps} steps "
        f"in {given.minutes:g} minutes, {loss:.2f} bits a token; {len(text)} tokens, "
        f"{len(np.unique(text))} of them different, {len(held_out)} routed"
    )
    for line in chain(by_layer(held_out, routed, early), table(held_out, routed, early)):
        print(line, flush=True)


def tokens_of(text: bytes, tokenizer: Path | None) -> Tokens:
    """Return a text as numbers of tokens that are all in use; as its bytes if there is no tokenizer."""
    if tokenizer is None:
        return np.frombuffer(text, np.uint8).astype(np.int64)
    tokens = load_tokenizer(open_checkpoint(tokenizer)).encode_plain(text.decode())
    return np.unique(tokens, return_inverse=True)[1].astype(np.int64)


def untrained(vocabulary: int) -> Qwen3MoeForCausalLM:
    return Qwen3MoeForCausalLM(
        Qwen3MoeConfig(
            vocab_size=vocabulary,
            hidden_size=WIDTH,
            intermediate_size=WIDTH,
            moe_intermediate_size=WIDTH // 2,
            num_hidden_layers=LAYERS,
            num_attention_heads=4,
            num_key_value_heads=2,
            num_experts=EXPERTS,
            num_experts_per_tok=CHOSEN,
            norm_topk_prob=True,
            router_aux_loss_coef=BALANCE,
            output_router_logits=True,
            use_cache=False,
        )
    )


def train(model: Qwen3MoeForCausalLM, text: Tokens, seconds: float) -> tuple[int, float]:
    """Train for so many seconds of processor time; return the number of steps, and the mean bits a token of
    the last 20."""
    random = np.random.default_rng(1)
    optimizer = torch.optim.AdamW(model.parameters(), 2e-3, weight_decay=0.01)
    bits: list[float] = []
    end = time.process_time() + seconds
    while time.process_time() < end:
        starts = random.integers(0, len(text) - LENGTH, BATCH)
        batch = torch.from_numpy(np.stack([text[start : start + LENGTH] for start in starts]))
        found = model(batch, labels=batch)
        found.loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        bits.append(float((found.loss - BALANCE * found.aux_loss).detach()) / np.log(2))
    return len(bits), float(np.mean(bits[-20:]))


def routing(model: Qwen3MoeForCausalLM, text: Tokens) -> tuple[list[Chosen], Early]:
    """Return the experts that each token chooses, layer by layer, and those that routers choose for the
    states to which a layer before has not yet added its experts' results."""
    model.train(False)
    pieces = [text[start : start + 2 * LENGTH] for start in range(0, len(text), 2 * LENGTH)]
    chosen: list[list[Chosen]] = [[] for _ in range(LAYERS)]
    early: dict[tuple[int, int], list[Chosen]] = defaultdict(list)
    layers = model.model.layers
    states: list[torch.Tensor] = []  # of each layer, before its mixture

    def note(_: torch.nn.Module, given: tuple[torch.Tensor, ...]) -> None:
        states.append(given[0][0])

    for layer in layers:
        layer.post_attention_layernorm.register_forward_pre_hook(note)
    with torch.inference_mode():
        for piece in pieces:
            states.clear()
            logits = model(torch.from_numpy(piece.copy())[None]).router_logits
            before = states[:LAYERS]  # those below are noted, too
            for layer, each in enumerate(logits):
                chosen[layer].append(each.topk(CHOSEN).indices.numpy())
            for number, layer in enumerate(layers):
                for ahead in range(1, min(AHEAD, number) + 1):
                    scores = layer.post_attention_layernorm(before[number - ahead]) @ layer.mlp.gate.weight.T
                    early[number, ahead].append(scores.topk(CHOSEN).indices.numpy())
    return [np.concatenate(each) for each in chosen], {at: np.concatenate(each) for at, each in early.items()}


def turns_of(routed: Sequence[Chosen], rows: int) -> list[MixtureTurn]:
    """Return the turns of passes of so many consecutive tokens."""
    turns = []
    for start in range(0, len(routed[0]) // rows * rows, rows):
        for layer, chosen in enumerate(routed):
            here = chosen[start : start + rows] + layer * EXPERTS
            turns.append(MixtureTurn(layer, sorted(set(here.flatten().tolist())), here[-1].tolist()))
    return turns


def asked(early: Early, ahead: int, rows: int) -> list[Asked]:
    """Return what routers say that are asked once a turn has chosen, for each of those that `turns_of`
    returns. ahead: by how many turns each router is asked early, but for those of the first layers."""
    passes = len(early[1, 1]) // rows
    found: list[Asked] = []
    for start in range(0, passes * rows, rows):
        for layer in range(LAYERS):
            later = [(each, each - layer) for each in range(layer + 1, LAYERS)]
            now = [at for at in later if at[1] == min(ahead, at[0])]
            found.append([(early[at][start : start + rows] + at[0] * EXPERTS).tolist() for at in now])
    return found


def last_reads(tokens: Tokens, rows: int) -> list[list[int]]:
    """Return, for each pass of so many consecutive tokens, where in the text a pass before has last read each
    of them; those that none has read are left out."""
    read: dict[int, int] = {}
    found = []
    for start in range(0, len(tokens) // rows * rows, rows):
        here = tokens[start : start + rows].tolist()
        found.append([read[token] for token in here if token in read])
        read |= {token: start + row for row, token in enumerate(here)}
    return found


def remembered(tokens: Tokens, routed: Sequence[Chosen], rows: int, layers: int = LAYERS) -> list[Asked]:
    """Return what the tokens of each mixture's pass chose there when they were last read, as it is known once
    the turn before has chosen, for each of those that `turns_of` returns. layers: number of the first ones of
    which this is told."""
    reads = last_reads(tokens, rows)
    turns = [(chosen, layer, read) for read in reads for layer, chosen in enumerate(routed)]
    said = [
        [(chosen[read] + layer * EXPERTS).tolist()] if read and layer < layers else []
        for chosen, layer, read in turns
    ]
    return [*said[1:], []]


def by_layer(tokens: Tokens, routed: Sequence[Chosen], early: Early) -> Iterator[str]:
    """Yield for each layer how many of a token's experts others named: those of the token before, those of
    the last time that the token was read, and its router early; of tokens that were read before."""
    reads = last_reads(tokens, 1)
    again = np.array([bool(read) for read in reads])
    last = np.array([read[0] for read in reads if read])
    yield f"{again.mean():.0%} of the tokens were read before; of the experts of these, layer by layer:"
    sources = {
        "the token before": [chosen[np.flatnonzero(again) - 1] for chosen in routed],
        "the same token's last choice": [chosen[last] for chosen in routed],
    } | {
        f"the router asked {ahead} early": [
            early[layer, ahead][again] if layer >= ahead else np.full((len(last), CHOSEN), -1)
            for layer in range(LAYERS)
        ]
        for ahead in range(1, AHEAD + 1)
    }
    for by, named in sources.items():
        shares = [
            (chosen[again][:, :, None] == said[:, None]).any(2).mean()
            for chosen, said in zip(routed, named, strict=True)
        ]
        yield f"by {by}: " + ", ".join(f"{share:.0%}" for share in shares)


def table(tokens: Tokens, routed: Sequence[Chosen], early: Early) -> Iterator[str]:
    mixtures = np.repeat(np.arange(LAYERS), EXPERTS).tolist()
    for rows in (1, 8):
        turns = turns_of(routed, rows)
        counted = turns[len(turns) // 3 // LAYERS * LAYERS :]
        first = sum(len(turn.wanted) for turn in turns) - sum(len(turn.wanted) for turn in counted)
        yield ""
        yield f"{rows} rows: {kept(counted, LAYERS):.0%} of a pass's experts were the last one's"
        sources: dict[str, list[Asked]] = {"the passes before": []}
        for ahead in range(1, AHEAD + 1):
            sources[f"routers asked {ahead} early"] = asked(early, ahead, rows)
        sources["the same token's last choice"] = remembered(tokens, routed, rows)
        first_layer = remembered(tokens, routed, rows, layers=1)
        sources["that in the first layer, routers asked 1 early"] = [
            [*routers, *token] for routers, token in zip(asked(early, 1, rows), first_layer, strict=True)
        ]
        for by, told in sources.items():
            right, guessed, chosen = expected(turns, ExpertPolicy(mixtures), told)
            yield (
                f"by {by}: {right / max(1, guessed):.0%} of those expected were chosen, "
                f"{right / chosen:.0%} of those chosen were expected"
            )
        yield f"| cache | hits | {READS} read ahead by {' | by '.join(sources)} | Belady | LRU |"
        yield "|---" * (len(sources) + 4) + "|"
        for share in (0.1, 0.25, 0.4, 0.6):
            slots = int(share * len(mixtures))
            hits = (
                hits_of_policy(turns, ExpertPolicy(mixtures), slots),
                *(hits_of_policy(turns, ExpertPolicy(mixtures), slots, READS, t) for t in sources.values()),
                hits_of_best(turns, len(mixtures), slots),
                hits_of_recent(turns, slots),
            )
            yield f"| {share:.0%} | " + " | ".join(f"{each[first:].mean():.1%}" for each in hits) + " |"


def expected(
    turns: Sequence[MixtureTurn], policy: ExpertPolicy, told: Sequence[Asked] = ()
) -> tuple[int, int, int]:
    """Return how many experts were expected, when their mixture came next, and then chosen; expected; chosen.
    told: see `asked`; empty if routers are not asked."""
    right = guessed = chosen = 0
    for number, turn in enumerate(turns):
        guess = set(policy.guess()).intersection(policy.following())
        right += len(guess.intersection(turn.wanted))
        guessed += len(guess)
        chosen += len(turn.wanted)
        policy.choose(turn.mixture, turn.wanted)
        policy.end(turn.last)
        for said in told[number] if told else ():
            policy.expect(said)
    return right, guessed, chosen


if __name__ == "__main__":
    main()
