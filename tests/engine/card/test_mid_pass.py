"""A pass on a card that ends in the middle, as one that the user cancels, leaves a model that goes on; and
the engine ends while a pass does not."""

import os
import subprocess

import psutil
import pytest

from engine import protocol
from engine.decoding.budget import FixedLimits
from engine.decoding.iteration import Iterated, decode
from engine.decoding.verification import TargetVerifier
from engine.drafting import TreeLimits
from engine.drafting.none import NoDrafter
from engine.errors import Interrupted
from engine.launch import interpreter
from engine.machine.disk_reads import SECTOR
from engine.model.interface import no_progress
from engine.model.sequence import Sequence
from engine.sampling import Sampler
from engine.streaming import chunks
from tests.engine.card import stuck_engine
from tests.engine.card.card import CARD
from tests.engine.card.test_engine import DISK, PROMPT, RAM, load, text_of
from tests.engine.heads.test_service import write_target
from tests.engine.models import ours, reference


@pytest.mark.parametrize("limits", [RAM, DISK], ids=["RAM", "disk"])
@pytest.mark.parametrize("passes", [0, 3])
def test_after_a_pass_that_ends_in_the_middle_the_text_is_that_of_the_processor(
    limits, passes, tmp_path, monkeypatch, driver
):
    """passes: those before it."""
    monkeypatch.setattr(chunks, "GAP_NBYTES", SECTOR)
    module = reference("llama")
    module.save_pretrained(tmp_path)
    target = load(tmp_path, limits=limits)
    sequence, sampler = Sequence(target, 160), Sampler(seed=1, temperature=0.8, top_p=0.9)

    def tokens(progress) -> list[int]:
        verifier, rule = TargetVerifier(sequence, sampler), FixedLimits(TreeLimits(0, 4, 4))
        found: list[int] = []
        for event in decode(verifier, NoDrafter(), sampler, PROMPT, rule, (), 16, progress):
            found += event.tokens if isinstance(event, Iterated) else []
        return found

    ended = []

    def end_in_the_middle(done: int, total: int) -> None:
        ended.append(done == 1 and total > 2)
        if sum(ended) > passes:
            raise Interrupted("Stopped.")

    with pytest.raises(Interrupted):
        tokens(end_in_the_middle)
    assert tokens(no_progress) == text_of(ours(module), None, seed=1)
    CARD.synchronize()
    target.close()


def test_an_engine_whose_card_does_not_answer_ends_with_its_client(tmp_path, monkeypatch):
    command, kill, killed = interpreter.command, subprocess.Popen.kill, []
    monkeypatch.setattr(interpreter, "command", lambda module, *rest: command(stuck_engine.__name__, *rest))
    monkeypatch.setattr(subprocess.Popen, "kill", lambda process: killed.append(kill(process)))
    os.mkfifo(pipe := tmp_path / "stuck")
    monkeypatch.setenv(stuck_engine.STUCK, str(pipe))
    target = write_target(tmp_path / "target")
    connection = protocol.EngineConnection.start()
    pid = connection.pid
    events = connection.events()
    connection.post(protocol.Load(id=1, target=str(target), draft="none", dtype="float32", context=96))
    for event in events:
        assert not isinstance(event, protocol.Failed | protocol.EngineLost), event
        if isinstance(event, protocol.Loaded):
            assert event.device == "privateuseone"
            connection.post(protocol.Chat(id=2, messages=[protocol.Message("user", "hello")]))
        if isinstance(event, protocol.AnswerBegun):
            break
    assert pipe.read_bytes() == b"stuck"
    connection.close()
    for event in events:
        assert not isinstance(event, protocol.Answer | protocol.Failed)
    assert not psutil.pid_exists(pid)
    assert not killed, "it ends by itself"
