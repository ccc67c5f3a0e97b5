"""Layers with a window keep few rows: the bits of a text whose rows are all kept, whatever was dropped, kept,
rewound or brought back, and the memory that was counted."""

from functools import cache, partial

import numpy as np
import pytest

from engine.checkpoints import open_checkpoint, windows
from engine.checkpoints.windows import REWIND, SAVEPOINTS, held, kept_slots, windowed_layers
from engine.errors import PromptTooLong
from engine.model.description import describe
from engine.model.kv_cache import HostCache
from engine.model.savepoints import MARGIN
from engine.model.sequence import Sequence
from engine.model.shared_rows import sharing
from engine.model.windowed_cache import WindowedHostCache
from engine.planner.outline import checkpoint_outline
from engine.prompt_cache import KnownRows, PromptCache
from engine.serving.pair import LoadedPair
from tests.engine.model.compiled_models import Branches, all_logits, random_text, saved, stored, tiny
from tests.engine.models import CONFIGS, reference
from tests.engine.torch_model.test_recurrent import RandomTree
from tests.engine.windowed_texts import check_rewinds, check_turns

CAPACITY = 1024
ROOM = 96  # so that short texts are long enough
# All layers have a window, and a cache in eight bits; some have, of a mixture; some, and some share rows.
KINDS = ["mistral q8", "gpt_oss", "gemma4_text"]

every_kind = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture(autouse=True)
def little_room(monkeypatch):
    monkeypatch.setattr(windows, "ROOM", ROOM)


@cache
def loaded(kind):
    name, _, rounded = kind.partition(" ")
    module = tiny(name, max_position_embeddings=CAPACITY)
    return saved(module, context=CAPACITY, cache="Q8_0" if rounded else "F16")


def sequence_of(kind):
    sequence = Sequence(loaded(kind), CAPACITY)
    assert isinstance(sequence.cache, WindowedHostCache)
    return sequence


def window_of(kind):
    return CONFIGS[kind.split()[0]]["sliding_window"]


def slots_of(kind):
    return kept_slots(window_of(kind), CAPACITY, apart=False)


def assert_next(logits, tokens, kind):
    found = logits.copy()  # logits are valid until the next pass
    assert np.array_equal(found, all_logits(loaded(kind), tokens)[-1])


@every_kind
def test_a_long_text_in_pieces_and_token_by_token_has_the_bits_of_one_with_all_rows(kind):
    text, read = random_text(600), 350
    expected = all_logits(loaded(kind), text)
    sequence = sequence_of(kind)
    assert np.array_equal(sequence.extend(text[:read]), expected[read - 1])
    dropped = {sequence.cache.dropped}
    for place, token in enumerate(text[read:], read):
        assert np.array_equal(sequence.extend([token]), expected[place])
        dropped.add(sequence.cache.dropped)
    assert len(dropped) > 1, "rows were dropped on the way"
    assert sequence.cache.narrow.length <= slots_of(kind) < len(text)


@every_kind
@pytest.mark.parametrize("sizes", [(36,), (11, 24, 1)])
def test_nodes_of_a_tree_have_the_bits_of_their_paths(kind, sizes):
    """Rows are dropped while there is a tail, too."""
    start = random_text(slots_of(kind) - 18)
    sequence, tree = sequence_of(kind), Branches.grown(36, 1)
    sequence.extend(start)
    assert not sequence.cache.dropped
    found = np.concatenate([logits for logits, _ in tree.consider(sequence, sizes)])
    assert sequence.cache.dropped
    for path, text in list(tree.texts(start))[:3]:
        assert np.array_equal(found[path], all_logits(loaded(kind), text)[len(start) :])


@every_kind
def test_a_tree_lives_on_below_the_kept_path(kind):
    sequence = sequence_of(kind)
    sequence.extend(random_text(slots_of(kind) - 40))
    tree = RandomTree(sequence, 3)
    tree.grow(18)
    for lives_on in (True, True, False):
        inner = max(range(len(tree.paths)), key=lambda node: tree.visible[:, node].sum())
        tree.keep(inner, lives_on)
        logits = tree.grow(25).copy()
        for row, path in zip(logits[-3:], tree.paths[-3:], strict=True):
            assert_next(row, path, kind)
    assert sequence.cache.dropped


@every_kind
def test_a_short_rewind_keeps_all_and_a_long_one_goes_back_to_where_a_turn_ended(kind):
    check = partial(assert_next, kind=kind)
    check_rewinds(sequence_of(kind), slots_of(kind), random_text, check, piece=40)


@every_kind
def test_without_a_savepoint_a_rewind_reads_the_text_again(kind):
    sequence = sequence_of(kind)
    text = random_text(400)
    sequence.extend(text)
    edited = [*text[:150], 8]
    assert sequence.align(edited) == 0
    assert_next(sequence.extend(edited), edited, kind)


@every_kind
def test_a_message_is_edited_without_reading_the_chat_again(kind):
    """The last message follows the second answer; both turns are longer than what is kept."""
    sequence, turns = sequence_of(kind), []
    for turn in range(2):
        turns.append(len(sequence.ids))
        sequence.align(sequence.ids)
        sequence.extend(random_text(100, seed=turn))
        for _ in range(5):
            sequence.extend(random_text(40, seed=10 + turn))
    turns.append(len(sequence.ids))
    sequence.align(sequence.ids)
    sequence.extend(random_text(90, seed=5))
    before = list(sequence.ids)
    edited = [*before[: turns[2]], 7, 7, 7]
    assert sequence.align(edited) == turns[2]
    assert_next(sequence.extend([7]), edited[: turns[2] + 1], kind)
    edited = [*before[: turns[1]], 7, 7, 7]
    assert sequence.align(edited) == turns[1], "the message before it"
    assert_next(sequence.extend([7]), edited[: turns[1] + 1], kind)


@every_kind
def test_conversations_are_taken_up_where_they_ended(kind):
    check_turns(sequence_of(kind), random_text, partial(assert_next, kind=kind), turns=3)


@every_kind
def test_what_is_taken_up_can_go_back_a_little(kind):
    """Heads of a conversation that is taken up have rows of its whole blocks only."""
    sequence = sequence_of(kind)
    sequence.known = KnownRows(PromptCache(1 << 26), b"model")
    talk = random_text(400)
    for number, prompt in enumerate((talk, random_text(90, seed=1))):
        sequence.known.owner = str(number)
        sequence.align(prompt[:-1])
        sequence.extend(prompt)
    assert sequence.align([*talk, 5]) == len(talk)
    for length in (len(talk) - 1, len(talk) - REWIND):
        assert sequence.align(talk[:length]) == length
        assert_next(sequence.extend(talk[length : length + 1]), talk[: length + 1], kind)


@every_kind
def test_a_short_text_takes_little_of_the_prompt_cache(kind):
    sequence, rows = sequence_of(kind), sequence_of(kind).cache
    sequence.known = KnownRows(PromptCache(1 << 26), b"model")
    for number, prompt in enumerate(([5, 6, 7], random_text(90, seed=1))):
        sequence.known.owner = str(number)
        sequence.align(prompt[:-1])
        sequence.extend(prompt)
    assert sequence.known._cache.nbytes == 3 * (rows.row_nbytes + rows.narrow.row_nbytes)


def test_the_end_of_a_prompt_is_kept_where_another_one_follows_after_a_rewind():
    sequence = sequence_of("gemma4_text")
    prompt = random_text(ROOM)
    sequence.extend(prompt)
    for token in random_text(5, seed=1):
        sequence.extend([token])
    sequence.rewind(ROOM)
    sequence.extend(random_text(ROOM, seed=2))
    assert ROOM - MARGIN in sequence.cache._saved.states


def test_the_third_conversation_with_a_system_prompt_finds_a_savepoint_at_its_end():
    sequence = sequence_of("gemma4_text")
    system = random_text(200)
    for number, expected in enumerate((0, 0, 200)):
        prompt = [*system, number, *random_text(250, seed=number)]
        assert sequence.align(prompt[:-1]) == expected
        assert_next(sequence.extend(prompt[expected:]), prompt, "gemma4_text")


def test_no_row_of_another_text_is_kept_with_a_short_one():
    sequence = sequence_of("mistral q8")
    sequence.extend(random_text(200))
    sequence.rewind(0)
    sequence.extend([5, 6, 7])
    states = sequence.cache.read_states(3)
    assert states.size == 3 * sequence.cache.narrow.row_nbytes < sequence.cache.state_nbytes


def test_a_pass_has_no_more_rows_than_there_is_room_for():
    sequence = sequence_of("mistral q8")
    sequence.extend(random_text(500))
    assert sequence.cache.free == sequence.cache.pass_rows == ROOM < CAPACITY - 500
    sequence.consider([5] * ROOM, [500] * ROOM, np.eye(ROOM, dtype=np.bool_), logits=False)
    assert sequence.cache.free == 0
    with pytest.raises(PromptTooLong, match=f"A pass of {ROOM + 1} rows has no room: it may have {ROOM}."):
        sequence.consider([5], [500], np.eye(1, ROOM + 1, ROOM, dtype=np.bool_), logits=False)


@every_kind
def test_the_memory_is_what_was_counted(kind, tmp_path):
    name, _, rounded = kind.partition(" ")
    file = stored(tiny(name, max_position_embeddings=CAPACITY), tmp_path)
    outline, cache_of = checkpoint_outline(file, "tiny"), sequence_of(kind).cache
    kept, saved_rows = outline.kept(CAPACITY, apart=False), outline.saved(CAPACITY, apart=False)
    itemsize = 34 / 32 if rounded else 2

    def nbytes(rows, numbers):
        return rows * numbers * itemsize

    assert cache_of.nbytes == sum(nbytes(rows + 1, numbers) for rows, numbers in kept)
    assert cache_of.saved_nbytes == nbytes(*saved_rows)
    assert kept[1][0] == slots_of(kind) < kept[0][0] == CAPACITY
    sequence = Sequence(loaded(kind), CAPACITY)
    for turn in range(6):
        sequence.align(sequence.ids)
        sequence.extend(random_text(160, turn))
        copies = [rows for rows in sequence.cache._saved.states.values() if rows is not None]
        assert sum(rows.nbytes for rows in copies) <= sequence.cache.saved_nbytes
    assert len(sequence.cache.saved_lengths) - 1 <= SAVEPOINTS
    assert copies


def test_savepoints_are_told_where_they_are_in_ram_beside_a_card(monkeypatch):
    sequence = sequence_of("gemma4_text")
    rows = sequence.cache
    pair = LoadedPair(sequence, None, tokenizer=None)
    assert pair.token_nbytes == rows.row_nbytes < rows.nbytes / CAPACITY
    assert pair.memory.ram == sequence.model.nbytes + rows.nbytes + rows.saved_nbytes
    (part,) = (each for each in pair.memory.parts if each.what == "target_cache")
    assert part.nbytes == rows.nbytes + rows.saved_nbytes
    monkeypatch.setattr(sequence.model, "device", "cuda")
    assert (pair.memory.vram, pair.memory.ram) == (sequence.model.nbytes + rows.nbytes, rows.saved_nbytes)
    parts = [(each.tier, each.nbytes) for each in pair.memory.parts if each.what == "target_cache"]
    assert parts == [("vram", rows.nbytes), ("ram", rows.saved_nbytes)]


@pytest.mark.parametrize("kind", sorted(CONFIGS))
def test_the_header_tells_which_layers_have_a_window(kind, tmp_path):
    if kind == "gpt_oss":
        file = stored(tiny(kind), tmp_path)
    else:
        reference(kind).save_pretrained(tmp_path)
        file = open_checkpoint(tmp_path)
    window, layers = windowed_layers(file)
    found = [window if layer in layers else None for layer in range(describe(file).layers)]
    assert found == list(describe(file).windows)


def test_a_short_context_keeps_all_rows():
    model = loaded("mistral q8")
    most = slots_of("mistral q8") + SAVEPOINTS * held(window_of("mistral q8"))
    assert type(Sequence(model, most).cache) is HostCache
    assert type(Sequence(model, most + 1).cache) is WindowedHostCache


def test_a_draft_that_reads_the_rows_of_its_target_finds_all_of_them():
    model = loaded("mistral q8")
    followed, _ = sharing(model, model, CAPACITY)
    assert type(followed.cache) is HostCache
