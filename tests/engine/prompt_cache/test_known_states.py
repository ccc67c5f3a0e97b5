"""Texts whose states were saved come back from the prompt cache up to a savepoint: rows and states, bit for
bit, within the budget, from RAM and from the disk."""

import hashlib
from threading import Event

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.prompt_cache import BLOCK, BlockFiles, KnownRows, PromptCache, files
from tests.engine.prompt_cache.test_known_rows import MODEL, OTHER, rows_of, text

ROW, STATE = 8, 40  # bytes
CAPACITY = 6 * BLOCK
MIB = 1 << 20


def states_of(ids):
    """Return the bytes of the states that a model would have behind a text."""
    return np.frombuffer(hashlib.blake2b(repr(ids).encode(), digest_size=STATE).digest(), np.uint8)


class Reader:
    """A KV cache with states, which keeps nothing of the text before; checks what comes back."""

    row_nbytes, state_nbytes = ROW, STATE

    def __init__(self, cache, model=MODEL):
        self.known = KnownRows(cache, model)
        self.ids, self.states = [], {}

    def state_nbytes_behind(self, length):
        return self.state_nbytes

    @property
    def saved_lengths(self):
        return list(self.states)

    def read_rows(self, first, count):
        return self.rows[first : first + count].flatten()

    def write_rows(self, first, rows):
        shaped = rows.reshape(-1, ROW)
        self.rows[first : first + len(shaped)] = shaped

    def read_states(self, length):
        return self.states[length]

    def write_states(self, states):
        self.written = states

    def read(self, ids, savepoints=(), owner=""):
        """Read a text, with savepoints at some lengths and its end. Return how much of it was known."""
        self.known.owner = owner
        if self.ids:
            self.known.put(self.ids, 0, self)
        self.rows, self.written = np.zeros((CAPACITY, ROW), np.uint8), None
        found = self.known.restore(ids, 0, self)
        if found:
            np.testing.assert_array_equal(self.rows[:found], rows_of(ids)[:found])
            np.testing.assert_array_equal(self.written, states_of(ids[:found]))
        self.rows[: len(ids)] = rows_of(ids)
        self.states = {length: states_of(ids[:length]) for length in (*savepoints, len(ids))}
        self.ids = list(ids)
        return found


def nbytes(rows, states):
    return rows * ROW + states * STATE


def test_a_conversation_is_taken_up_at_its_end_and_another_that_shares_it_at_a_savepoint():
    cache = PromptCache(MIB)
    reader = Reader(cache)
    first = text(1, 150)
    reader.read(first, [BLOCK, 70])
    reader.read([1])
    assert cache.nbytes == nbytes(2 * BLOCK + 0 + 6 + 22, 3)  # rows since a whole block are beside the states
    assert reader.read([*first, 5]) == 150
    assert reader.read([*first[:149], 7, 8]) == 70
    assert reader.read([*first[:69], 7, 8]) == BLOCK
    assert reader.read(first[:40]) == 0


def test_rows_of_many_texts_are_kept_once():
    cache = PromptCache(MIB)
    reader = Reader(cache)
    system = text(3, 2 * BLOCK + 10)
    for seed in range(4, 7):
        assert reader.read([*system, *text(seed, BLOCK)], [138]) == (138 if seed > 4 else 0)
    reader.read([1])
    assert cache.nbytes == nbytes((2 * BLOCK + 10) + 3 * (BLOCK + 10), 1 + 3)
    assert reader.known.shared([*system, *text(9, BLOCK)], 0) == 2 * BLOCK


def test_the_last_savepoint_that_fits_is_kept_with_the_rows_before_it():
    rows = 2 * BLOCK + 22
    for room, expected in ((nbytes(rows, 1), 150), (nbytes(rows, 1) - 1, 70), (nbytes(70, 1) - 1, 0)):
        cache = PromptCache(room)
        reader = Reader(cache)
        reader.read(text(1, 150), [70])
        reader.read([1])
        assert cache.nbytes <= room
        assert Reader(cache).read([*text(1, 150), 2]) == expected


def test_the_end_of_a_conversation_that_goes_on_otherwise_takes_no_room():
    cache = PromptCache(MIB)
    reader = Reader(cache)
    reader.read(text(1, 150), owner="chat")
    reader.read(text(2, 150), owner="chat")
    assert cache.nbytes == 0
    reader.read([1], owner="another chat")
    assert reader.read(text(2, 150), owner="chat") == 150


def on_disk(folder, ids, savepoints, model=MODEL):
    cache = PromptCache(MIB, BlockFiles(folder, MIB))
    reader = Reader(cache, model)
    reader.read(ids, savepoints, "chat")
    reader.known.save(ids, reader)
    cache.close()


def found_on_disk(folder, ids, model=MODEL):
    cache = PromptCache(MIB, BlockFiles(folder, MIB))
    found = Reader(cache, model).read(ids)
    cache.close()
    return found


def files_by_size(folder):
    files = sorted(folder.glob("*.rows"), key=lambda path: path.stat().st_size)
    assert len(files) == 4  # states with 6 rows, with 22 rows; two blocks of rows
    return files


@pytest.mark.parametrize(("damaged", "expected"), [(1, 70), (0, 150), (None, 150)])
def test_on_the_disk_an_earlier_savepoint_stands_in_for_damaged_states(tmp_path, damaged, expected):
    folder, ids = tmp_path / "prompts", text(1, 150)
    on_disk(folder, ids, [70])
    assert found_on_disk(folder, [*ids, 5]) == 150
    if damaged is not None:
        path = files_by_size(folder)[damaged]
        data = path.read_bytes()
        path.write_bytes(data[:-3] + bytes([data[-3] ^ 1]) + data[-2:])
    assert found_on_disk(folder, [*ids, 5]) == expected


def test_a_state_that_is_larger_than_all_that_may_wait_is_written_and_no_other_is_read(tmp_path, monkeypatch):
    folder, ids, may_write = tmp_path / "prompts", text(1, 50), Event()
    write = BlockFiles._write

    def write_later(*arguments):
        may_write.wait()
        write(*arguments)

    monkeypatch.setattr(files, "MOST_WAITING", STATE // 2)
    monkeypatch.setattr(BlockFiles, "_write", write_later)
    cache = PromptCache(MIB, BlockFiles(folder, MIB))
    reader, read = Reader(cache), []
    monkeypatch.setattr(reader, "read_states", lambda length: read.append(length) or reader.states[length])
    reader.read(ids, [20])
    reader.known.save(ids, reader)
    may_write.set()
    cache.close()
    assert read == [len(ids)]
    assert found_on_disk(folder, [*ids, 5]) == len(ids)


def test_states_behind_damaged_rows_are_not_used(tmp_path):
    folder, ids = tmp_path / "prompts", text(1, 150)
    on_disk(folder, ids, [BLOCK - 4])
    keys = list(KnownRows(PromptCache(0), MODEL)._keys(ids))
    (folder / f"{keys[0].hex()}.rows").write_bytes(b"")
    assert found_on_disk(folder, ids) == BLOCK - 4


def test_files_of_another_model_are_not_used(tmp_path):
    folder, ids = tmp_path / "prompts", text(1, 150)
    on_disk(folder, ids, [70])
    assert found_on_disk(folder, ids, OTHER) == 0
    own = [path.name for path in files_by_size(folder)]
    on_disk(folder, ids, [70], OTHER)
    for name in own:  # its files under the names of this model's
        other = next(path for path in folder.glob("*.rows") if path.name not in own)
        other.rename(folder / name)
    assert found_on_disk(folder, ids) == 0


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 5), st.integers(1, CAPACITY - 1), st.sets(st.integers(1, CAPACITY), max_size=4)
        ),
        min_size=1,
        max_size=25,
    ),
    st.integers(0, 4000),
)
def test_what_comes_back_is_of_the_text_whatever_was_read_before(turns, budget):
    """Texts branch off each other: text n shares n blocks and a half with text 0. `Reader.read` compares."""
    base = text(0, CAPACITY)
    cache = PromptCache(budget)
    reader = Reader(cache)
    for number, length, savepoints in turns:
        shared = number * BLOCK + BLOCK // 2 if number else CAPACITY
        ids = [*base[:shared], *text(number, CAPACITY)][:length]
        reader.read(ids, [each for each in savepoints if each < length])
        assert cache.nbytes <= budget
