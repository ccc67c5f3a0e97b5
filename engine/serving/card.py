"""The graphics card proves itself before a pair is planned for it."""

import logging
from dataclasses import replace

from msgspec import structs

from engine import protocol
from engine.errors import DeviceUnavailable
from engine.model.devices import choose_device
from engine.proof import card_proof, kernels, ladder
from engine.proof.card_proof import CardProof
from engine.proof.trial import TriedWay
from engine.serving.load import CheckedPair, LoadJob

log = logging.getLogger(__name__)


def proven(
    job: LoadJob, pair: CheckedPair
) -> tuple[CheckedPair, CardProof | None, list[protocol.LoadRemark]]:
    """Try the kernels that the pair needs on the card, as far as this was not done before, and take the ways
    that are right.

    Return the pair, which is to run on the processor if no way of some kernel is right; the proof, None if no
    card is used; and what there is to remark about the card. Raises DeviceUnavailable if the card cannot be
    used but is asked for; Interrupted if the user cancels.
    """
    gpu = card_proof.first_card()
    if gpu is None or choose_device(pair.request.device) != "cuda":
        return pair, None, []
    proof = CardProof(gpu)
    proof.prove(needed(pair), lambda done, total: job.report("kernels", done, total))
    if (last := proof.refused) is not None:
        return on_processor(pair, last), None, [_refusal(last)]
    for remark in proof.remarks:
        log.warning("A kernel takes a safer way on the card: %s", remark)
    return pair, proof, [*proof.remarks]


def needed(pair: CheckedPair) -> list[str]:
    """Return the kernels that the pair needs on a card."""
    from engine.torch_model.loader import choose_dtype

    dtype = str(choose_dtype(pair.request.dtype, "cuda")).removeprefix("torch.")
    heads = pair.files.heads
    models = [(file, dtype) for file in pair.files.checkpoints]
    return kernels.needed(models, [(heads, dtype)] if heads else [])  # they compute as their target


def on_processor(pair: CheckedPair, last: TriedWay) -> CheckedPair:
    """Return the pair for the processor. Raises DeviceUnavailable if the request names the card."""
    if pair.request.device == "cuda":
        raise DeviceUnavailable(
            f"{ladder.described(last)}.",
            "Use --device cpu, update the driver, or run specexec doctor --device cuda for a report.",
        )
    return replace(pair, request=structs.replace(pair.request, device="cpu"))


def _refusal(last: TriedWay) -> protocol.LoadRemark:
    if last.outcome == "unreachable":
        return protocol.CardUnreachable()
    return protocol.CardRefused(kernel=last.kernel, failed=last.way, fault=last.fault)
