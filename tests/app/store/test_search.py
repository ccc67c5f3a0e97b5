"""Search finds any two adjacent Korean or Chinese characters, and English words by prefix."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.store import Store, search
from app.store.search import excerpt, ranges
from tests.app.store.made import PAIR, SETTINGS, answer

SAID = [
    "Configuration of the snake_case linter, version 3.11",
    "서울특별시에서 양자 컴퓨터를 배우기",
    "我想去北京市旅游，学习机器学习。",
    "東京タワーはどこですか",
    "Crème brûlée at the café with ＧＰＵ and Straße",
    "Python코드를 고쳐 주세요",
]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    store = Store(tmp_path_factory.mktemp("filled") / "a.sqlite")
    chat = store.chats.create()
    for text in SAID:
        store.messages.ask(chat, text)
    yield store
    store.close()


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("config", [0]),
        ("CONFIGURATION lint", [0]),
        ("snake_case", [0]),
        ("snake_ca", [0]),
        ("case", [0]),
        ("3.11", [0]),
        ("figuration", []),
        ("case_snake", []),
        ("서울", [1]),
        ("별시", [1]),
        ("시", [1]),
        ("서울특별시", [1]),
        ("양자 컴퓨터", [1]),
        ("서별", []),
        ("北京", [2]),
        ("京市旅", [2]),
        ("学习", [2]),
        ("游", [2]),
        ("北市", []),
        ("旅游学", []),
        ("北京 学习", [2]),
        ("北京 서울", []),
        ("東京", [3]),
        ("タワー", [3]),
        ("ダワー", []),
        ("creme", [4]),
        ("BRÛLÉE", [4]),
        ("gpu", [4]),
        ("strasse", []),
        ("straße", [4]),
        ("코드", [5]),
        ("python코드", [5]),
        ("python 주세", [5]),
        ("the", [4, 0]),
        ("", []),
        ('"', []),
        ("NOT (", []),
        ("* ^ - : OR", []),
        ("the " * 5000, [4, 0]),
        (" ".join(map(str, range(5000))), []),
    ],
)
def test_words_of_every_language_are_found(filled: Store, query: str, found: list[int]) -> None:
    assert [hit.excerpt for hit in filled.search(query)] == [SAID[i] for i in found]


def test_decomposed_letters_are_found(store: Store) -> None:
    in_parts = "\u1112\u1161\u11ab\u1100\u116e\u11a8"  # 한국, as macOS writes it in file names
    store.messages.ask(store.chats.create(), f"a file named {in_parts}")
    assert [hit.excerpt for hit in store.search("한국")] == ["a file named 한국"]
    assert len(store.search(in_parts)) == 1


def test_every_version_is_found_and_jumped_to(store: Store) -> None:
    chat = store.chats.create()
    first = store.messages.ask(chat, "apple")
    below = store.messages.ask(chat, "banana", first)
    other = store.messages.edit(first, "cherry")
    assert [one.message.id for one in store.messages.shown(chat)] == [other]
    (hit,) = store.search("banana")
    assert (hit.message, hit.chat, hit.title, hit.role) == (below, chat, "Cherry", "user")
    store.messages.show(hit.message)
    assert [one.message.id for one in store.messages.shown(chat)] == [first, below]


def test_hits_are_paged_newest_first(store: Store) -> None:
    chat = store.chats.create()
    ids = [store.messages.ask(chat, f"same {i}") for i in range(5)]
    page = store.search("same", limit=2)
    assert [hit.message for hit in page] == ids[:2:-1]
    assert [hit.message for hit in store.search("same", 9, page[-1].message)] == ids[2::-1]


def test_an_excerpt_shows_where_the_words_are() -> None:
    text = "x " * 100 + "the Answer\nis 서울시. " + "y " * 200
    line, found = excerpt(text, "answ 서울")
    assert line.startswith("…")
    assert line.endswith("…")
    assert len(line) <= 162
    assert "\n" not in line
    assert [line[a:b] for a, b in found] == ["Answ", "서울"]
    assert excerpt("nothing here", "absent") == ("nothing here", [])


def test_ranges_are_counted_in_the_composed_text() -> None:
    text = "Ｇｐｕ, the GPUs; not agpu"
    assert [text[a:b] for a, b in ranges(text, "gpu")] == ["Ｇｐｕ", "GPU"]
    assert ranges(text, "?") == []


letters = st.text(st.sampled_from("서울시的北京가ab é_"), min_size=1, max_size=12)


@settings(max_examples=300, deadline=None)
@given(letters, st.data())
def test_the_index_finds_a_text_exactly_where_the_excerpt_shows_it(text: str, data: st.DataObject) -> None:
    """SQLite's search over terms and the pattern over the text find the same word."""
    part = st.builds(lambda a, b: text[a:b], st.integers(0, 9), st.integers(1, 12))
    query = data.draw(letters | part)
    query = query.replace("_", "").replace(" ", "")
    index = sqlite3.connect(":memory:")
    index.execute("CREATE VIRTUAL TABLE found USING fts5 (terms, content = '', tokenize = 'ascii')")
    index.execute("INSERT INTO found (rowid, terms) VALUES (1, ?)", (search.terms(text),))
    match = search.match_expression(query)
    found = bool(match and index.execute("SELECT 1 FROM found WHERE found MATCH ?", (match,)).fetchall())
    index.close()
    assert found == bool(ranges(text, query))


def test_the_index_matches_the_messages(path: Path) -> None:
    """SQLite checks the structure; a new index of the same messages must have the same rows per term."""
    store = Store(path)
    chat = store.chats.create()
    for text in SAID:
        question = store.messages.ask(chat, text)
    first = store.messages.answer(question, SETTINGS, PAIR)
    first.add("half an ans")
    first.interrupt()
    store.messages.resume(first.id, SETTINGS, PAIR).finish(answer("wer and the rest"))
    store.chats.delete(store.chats.duplicate(chat))
    store.chats.purge(2e10)
    store.close()
    index = sqlite3.connect(path)
    index.execute("INSERT INTO found (found) VALUES ('integrity-check')")
    index.execute("CREATE VIRTUAL TABLE anew USING fts5 (terms, content = '', tokenize = 'ascii')")
    for id, text in index.execute("SELECT id, text FROM messages").fetchall():
        index.execute("INSERT INTO anew (rowid, terms) VALUES (?, ?)", (id, search.terms(text)))
    counts = []
    for table in ("found", "anew"):
        index.execute(f"CREATE VIRTUAL TABLE {table}_terms USING fts5vocab ({table}, 'row')")
        counts.append(index.execute(f"SELECT term, doc, cnt FROM {table}_terms").fetchall())
    index.close()
    assert counts[0] == counts[1]
    assert counts[0] != []
