"""Whether a device computes what the CPU computes: the embedded model in float32 on both."""

from dataclasses import dataclass

import torch
from torch import Tensor

from engine import catalog
from engine.checkpoints import open_checkpoint
from engine.loading import load_model
from engine.model import Rows, no_watch
from engine.sequence import Sequence
from engine.tokenizer import load_tokenizer

PROMPT = "Explain how a hash table works, and give a short implementation in Python."


@dataclass(frozen=True, slots=True)
class Sameness:
    """`max_difference` of the prompt's logits, the largest of which is `largest`; of the `tokens` chosen
    greedily, the first `equal` are the CPU's; `margin`, how far apart the CPU's two best logits lie at the
    first that differs, None where none does."""

    max_difference: float
    largest: float
    tokens: int
    equal: int
    margin: float | None


def compare(device: torch.device, tokens: int = 48) -> Sameness:
    """Raises ModelNotFound where the embedded model is not on this machine."""
    logits, margins, texts = [], list[list[float]](), list[list[int]]()
    for each in (torch.device("cpu"), device):
        prompt, chosen, margin = _greedy(each, tokens)
        logits.append(prompt)
        texts.append(chosen)
        margins.append(margin)
    pairs = zip(*texts, strict=True)
    equal = next((place for place, (a, b) in enumerate(pairs) if a != b), tokens)
    difference, largest = float((logits[0] - logits[1]).abs().max()), float(logits[0].abs().max())
    return Sameness(difference, largest, tokens, equal, margins[0][equal] if equal < tokens else None)


def _greedy(device: torch.device, tokens: int) -> tuple[Tensor, list[int], list[float]]:
    """The prompt's logits [rows, vocabulary], the tokens after it, and by how much each was the best."""
    checkpoint = open_checkpoint(catalog.resolve(catalog.default_target()))
    prompt = load_tokenizer(checkpoint).encode_chat([{"role": "user", "content": PROMPT}])
    context = len(prompt) + tokens
    model = load_model(checkpoint, torch.float32, device, no_watch, context)
    sequence = Sequence(model, context)
    logits = model.forward(Rows.text(prompt, 0), sequence.cache).logits
    sequence.keep(range(len(prompt)), prompt)
    chosen: list[int] = []
    margins: list[float] = []
    last = logits[-1]
    while len(chosen) < tokens:
        best = last.topk(2)
        chosen.append(int(best.indices[0]))
        margins.append(float(best.values[0] - best.values[1]))
        last = sequence.extend(chosen[-1:])
    return logits.cpu(), chosen, margins
