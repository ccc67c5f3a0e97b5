"""Lets a card compile kernels and record passes while a pair is loaded, or between answers, so that no answer
waits for that."""

import logging
from collections.abc import Callable, Sequence

from engine.errors import BadOption, SpecExecError, card_stopped, exhausted_tier
from engine.proof.card_proof import CardProof
from engine.proof.trial import problem_of
from engine.serving.load import LoadJob
from engine.serving.session import Session

log = logging.getLogger(__name__)


def warm_up(job: LoadJob, session: Session, drafter: str, proof: CardProof | None) -> None:
    """Take every step of the pair's models, if they run on a card, and report each. A kernel that fails takes
    its next safer way; what there is no memory for is left to the answers. drafter: the one of the answers.

    Raises Interrupted if the user cancels, StreamBroken or DiskSilent if weights cannot be read, and the
    error of a card that has stopped.
    """
    pair = session.pair
    if pair.target.model.device == "cpu":
        return
    from engine.torch_model.warm_up import WarmUpStep, steps_of

    sequences = {pair.target: _hidden_layers(session, drafter)}
    if pair.draft is not None:
        sequences[pair.draft] = ()
    steps = steps_of(sequences, pair.heads)

    def take(step: WarmUpStep) -> None:
        while True:
            try:
                step.run()
                return
            except SpecExecError:  # the disk's, or the user's: they say nothing about a kernel
                raise
            except Exception as error:  # whatever a compiler or a driver raises
                if card_stopped(error):
                    raise
                log.warning("%s cannot be made ready: %s", ", ".join(step.kernels), error)
                if exhausted_tier(error) or proof is None:
                    return
                if not proof.step_down(step.kernels, problem_of(error)):
                    return

    for done, step in enumerate(steps):
        job.report("compiling", done, len(steps))
        take(step)
    if steps:
        job.report("compiling", len(steps), len(steps))


def record_ahead(session: Session, ends: Callable[[], bool]) -> None:
    """Let a card record passes over longer texts than that of the last answer, as long as `ends` returns
    false. Called between answers."""
    if session.pair.target.model.device != "cpu":
        from engine.torch_model import warm_up as steps

        steps.record_ahead(session.pair.sequences, ends)


def _hidden_layers(session: Session, drafter: str) -> Sequence[int]:
    """Return the layers that a drafter reads; "auto" stands for one that cannot run, as one whose heads were
    left out because there was no memory for them."""
    try:
        return session.drafter(drafter).needs.hidden_layers
    except BadOption:
        return session.drafter("auto").needs.hidden_layers
