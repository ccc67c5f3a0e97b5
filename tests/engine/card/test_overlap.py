"""Drafting beside a target that is streamed to a card: auto tries both ways there."""

from engine import protocol
from engine.bench.slower_disk import slow_down
from engine.decoding.ahead import LAST
from engine.decoding.cost import unknown
from engine.model.sequence import Sequence
from engine.planner import TreePlan
from engine.serving.pair import LoadedPair
from engine.serving.session import Session
from tests.engine.card.test_engine import DISK, load, on_card, tiny_gaps
from tests.engine.models import disturbed, ours, reference
from tests.engine.test_every_drafter import Letters

__all__ = ["tiny_gaps"]

CONTEXT = 64
PLAN = TreePlan(8, 64, unknown, unknown, is_moving=True)
PASS_S = 0.02  # in which the disk gives what a pass streams


def ask(target, draft, **options):
    """Return the answer, and by how many nodes each tree grew while the one before was verified."""
    sequences = [Sequence(model, CONTEXT) if model else None for model in (target, draft)]
    ahead = []

    def emit(event):
        if isinstance(event, protocol.IterationDone):
            ahead.append(event.grown_ahead)

    options = protocol.Options(seed=1, temperature=0.8, stop_loops=False, max_new_tokens=30, **options)
    chat = protocol.Chat(id=0, messages=[protocol.Message("user", "xyz")], options=options)
    return Session(LoadedPair(*sequences, Letters()), PLAN).answer(chat, emit, lambda: False), ahead


def test_auto_tries_both_ways_where_moving_bytes_is_the_bound_and_changes_no_text(tmp_path):
    module = reference("llama")
    module.save_pretrained(tmp_path)
    target, draft = load(tmp_path, limits=DISK), on_card(disturbed(module, 0.1))
    slow_down(target.streamer, target.streamer.each_pass["ssd"] / PASS_S / 1e9)
    try:
        found, ahead = ask(target, draft, drafter="specexec", budget=1)
    finally:
        target.close()
    plain, _ = ask(ours(module), None, drafter="none")
    assert found.token_ids == plain.token_ids
    assert target.graphs is None
    assert len(ahead) > LAST + 2, "too short to try both"
    assert any(ahead[:LAST])
    assert not any(ahead[LAST + 1 :]), "then in turns, to compare"
