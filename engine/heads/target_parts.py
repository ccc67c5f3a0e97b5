"""Tables that a draft borrows from its target."""

from dataclasses import replace

from engine.checkpoints import Checkpoint


def with_borrowed(draft: Checkpoint, target: Checkpoint) -> Checkpoint:
    """Return `draft` or, if it stores no embedding, a copy with the target's embedding and output head."""
    if "model.embed_tokens.weight" in draft.weights:
        return draft
    shared = ("model.embed_tokens.weight", "lm_head.weight")
    lent = {name: target.weights[name] for name in shared if name in target.weights}
    return replace(draft, weights={**draft.weights, **lent})
