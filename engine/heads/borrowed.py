"""What heads borrow from their target: the layer that gives logits; and what a draft does: tables it does not
store."""

from dataclasses import replace
from typing import Any

from torch import Tensor, nn

from engine.checkpoints import Checkpoint
from engine.model import Model
from engine.quantization import PackedLinear


class TargetHead:
    """Logits of states that somebody guesses. Attribute: `nbytes`, memory it takes beside the target's."""

    def __init__(self, target: Model) -> None:
        own: Any = target.module.get_output_embeddings()
        self._head = resident(own)
        packed = self._head.weights if self._head is not own else ()
        self.nbytes = sum(weight.nbytes for weight in packed)
        self._vocabulary = target.vocabulary
        self._cap: float | None = getattr(target.config, "final_logit_softcapping", None)

    def __call__(self, states: Tensor) -> Tensor:
        """states [rows, width], after the final norm -> [rows, vocabulary]"""
        logits: Tensor = self._head(states)[:, : self._vocabulary]
        return logits if self._cap is None else (logits / self._cap).tanh() * self._cap


def with_borrowed(draft: Checkpoint, target: Checkpoint) -> Checkpoint:
    """`draft`, or where it stores no embedding, with the target's embedding and head."""
    if "model.embed_tokens.weight" in draft.weights:
        return draft
    shared = ("model.embed_tokens.weight", "lm_head.weight")
    lent = {name: target.weights[name] for name in shared if name in target.weights}
    return replace(draft, weights={**draft.weights, **lent})


def resident(head: nn.Module) -> Any:
    """`head`, or where it is streamed, a copy in memory: guesses ask for it out of turn, many times a
    pass."""
    if not isinstance(head, PackedLinear) or not any(weight.mover for weight in head.weights):
        return head
    weights = []
    for weight in head.weights:
        if weight.mover is not None:
            weight.mover.fetch(weight)
            weight = replace(weight, parts=tuple(part.clone() for part in weight.parts), mover=None)
        weights.append(weight)
    return PackedLinear(weights, head.bias, head.rope_heads)


def best(logits: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The `count` likeliest of each row of logits: int64 and float32 log-probabilities, both [rows, count],
    best first."""
    found = logits.float().log_softmax(-1).topk(min(count, logits.shape[-1]))
    return found.indices, found.values
