import time

import pytest

from app.store import BadImport, ChatSettings, Store, StoredMessage, StoreError, WholeChat
from app.store.chats import KEPT_DELETED_S
from tests.app.store.made import PAIR, SETTINGS, answer, report


def chat(title: str, updated_at: float, folder: str | None = None) -> WholeChat:
    return WholeChat(title=title, named=True, created_at=updated_at, updated_at=updated_at, folder=folder)


def message(id: int, parent: int | None, text: str = "x", shown: bool = True) -> StoredMessage:
    return StoredMessage(id=id, parent=parent, role="user", text=text, created_at=5.0, shown=shown)


def test_every_chat_is_listed_once(store: Store) -> None:
    ids = store.chats.add([chat(f"chat {i}", float(i)) for i in range(5)])
    work = store.folders.create("Work")
    store.chats.move(ids[0], work)
    store.chats.move(ids[1], work)
    store.chats.pin(ids[1])
    store.chats.pin(ids[2])
    assert [line.id for line in store.chats.pinned()] == [ids[2], ids[1]]
    assert [line.id for line in store.chats.in_folder(work)] == [ids[0]]
    assert [line.id for line in store.chats.recent()] == [ids[4], ids[3]]
    store.chats.pin(ids[1], False)
    assert [line.id for line in store.chats.in_folder(work)] == [ids[1], ids[0]]
    store.chats.move(ids[0], None)
    assert [line.id for line in store.chats.recent()] == [ids[4], ids[3], ids[0]]


def test_pages_follow_each_other_without_a_gap(store: Store) -> None:
    store.chats.add([chat(f"chat {i}", float(i // 3)) for i in range(10)])
    pages, last = [], None
    while page := store.chats.recent(4, last):
        pages.append([line.title for line in page])
        last = page[-1]
    assert list(map(len, pages)) == [4, 4, 2]
    assert [title for page in pages for title in page] == [f"chat {i}" for i in range(9, -1, -1)]


def test_the_most_recently_used_chat_comes_first(store: Store) -> None:
    first, second = store.chats.create(), store.chats.create()
    question = store.messages.ask(first, "hello")
    assert [line.id for line in store.chats.recent()] == [first, second]
    store.messages.ask(second, "hello")
    store.messages.answer(question, SETTINGS, PAIR).interrupt()
    store.chats.rename(second, "renamed")
    assert [line.id for line in store.chats.recent()] == [first, second]


def test_a_chat_is_titled_by_its_first_question_until_renamed(store: Store) -> None:
    chat = store.chats.create()
    assert store.chats.line(chat).title == ""
    first = store.messages.ask(chat, "```\nx = 1\n```")
    store.messages.answer(first, SETTINGS, PAIR).finish(answer("This sets x. Nothing more."))
    assert store.chats.line(chat).title == "This sets x"
    store.messages.edit(first, "Please explain it.")
    assert store.chats.line(chat).title == "Explain it"
    store.chats.rename(chat, "  my\nname ")
    store.messages.edit(first, "Something else")
    assert store.chats.line(chat).title == "my name"


def test_a_deleted_chat_is_restored_completely(store: Store) -> None:
    (chat_id,) = store.chats.add([chat("Trees", 5.0)])
    store.messages.ask(chat_id, "about trees")
    before = store.chats.read(chat_id)
    store.chats.delete(chat_id)
    assert store.chats.recent() == store.chats.titled("trees") == store.search("trees") == []
    store.chats.restore(chat_id)
    assert store.chats.read(chat_id) == before
    assert len(store.search("trees")) == len(store.chats.titled("trees")) == 1


def test_a_deleted_chat_is_purged_after_a_day(store: Store) -> None:
    gone, kept, other = store.chats.add([chat("a", 1.0), chat("b", 1.0), chat("c", 1.0)])
    for each in (gone, kept, other):
        store.messages.answer(store.messages.ask(each, "words"), SETTINGS, PAIR).finish(answer("words"))
    store.chats.delete(gone)
    assert store.chats.purge() == 0
    assert store.chats.purge(time.time() + KEPT_DELETED_S + 1) == 1
    with pytest.raises(StoreError, match="chat no longer exists"):
        store.chats.restore(gone)
    assert len(store.search("words")) == 4
    assert store.messages.ask(kept, "new") > 6, "ids are not used again"


def test_a_question_follows_a_message_of_its_own_chat_only(store: Store) -> None:
    first, second = store.chats.create(), store.chats.create()
    elsewhere = store.messages.ask(first, "one")
    with pytest.raises(StoreError, match="message no longer exists"):
        store.messages.ask(second, "two", after=elsewhere)
    assert store.messages.all(second) == []


def test_a_copy_has_every_version_and_grows_on_its_own(store: Store) -> None:
    original = store.chats.create(SETTINGS)
    first = store.messages.ask(original, "one")
    store.messages.answer(first, SETTINGS, PAIR).finish(answer("yes"))
    store.messages.edit(first, "two")
    copy = store.chats.duplicate(original)
    assert [m.text for m in store.messages.all(copy)] == ["one", "yes", "two"]
    assert store.messages.all(copy)[1].reports == [report()]
    assert store.chats.settings(copy) == SETTINGS
    store.messages.ask(copy, "three")
    assert len(store.messages.all(original)) == 3


def test_a_branch_is_the_path_to_a_message(store: Store) -> None:
    chat = store.chats.create(SETTINGS)
    first = store.messages.ask(chat, "one")
    reply = store.messages.edit(store.messages.ask(chat, "two", first), "two, again")
    store.messages.ask(chat, "three", reply)
    store.messages.edit(first, "another")
    branch = store.chats.branch(reply)
    assert [(one.message.text, len(one.versions)) for one in store.messages.shown(branch)] == [
        ("one", 1),
        ("two, again", 1),
    ]
    assert store.chats.settings(branch) == SETTINGS
    assert store.chats.line(branch).title == f"{store.chats.line(chat).title} (2)"
    store.messages.ask(branch, "and more", store.messages.shown(branch)[-1].message.id)
    assert store.chats.line(branch).title.endswith(" (2)"), "the number stays"


def test_an_answer_in_progress_is_interrupted_in_a_copy(store: Store) -> None:
    chat = store.chats.create()
    growing = store.messages.answer(store.messages.ask(chat, "q"), SETTINGS, PAIR)
    copy = store.chats.duplicate(chat)
    assert [m.state for m in store.messages.all(copy)] == ["complete", "interrupted"]
    growing.finish(answer("done"))


def test_settings_are_kept_per_chat(store: Store) -> None:
    chat = store.chats.create()
    assert store.chats.settings(chat) == ChatSettings()
    store.chats.set_settings(chat, SETTINGS)
    assert store.chats.settings(chat) == SETTINGS


def test_titles_are_found_by_any_part_of_every_word(store: Store) -> None:
    store.chats.add([chat("Café in 서울시", 1.0), chat("Coffee", 2.0)])
    assert [line.title for line in store.chats.titled("cafe 울시")] == ["Café in 서울시"]
    assert store.chats.titled("  ") == []


def test_folders_keep_their_chats_when_renamed_and_lose_none_when_deleted(store: Store) -> None:
    work, home = store.folders.create("work"), store.folders.create("Home")
    assert store.folders.create("work") == work
    (chat_id,) = store.chats.add([chat("a", 1.0, folder="work")])
    assert [line.id for line in store.chats.in_folder(work)] == [chat_id]
    with pytest.raises(StoreError, match="already"):
        store.folders.rename(home, "work")
    store.folders.rename(work, "Work")
    assert [folder.name for folder in store.folders.all()] == ["Home", "Work"]
    store.folders.delete(work)
    assert [line.id for line in store.chats.recent()] == [chat_id]


def test_chats_are_added_all_or_none(store: Store) -> None:
    bad = WholeChat(
        title="b", named=True, created_at=1, updated_at=1, messages=[message(1, 2), message(2, 1)]
    )
    with pytest.raises(BadImport, match="“b” is inconsistent"):
        store.chats.add([chat("a", 1.0), bad])
    assert store.chats.recent() == []


def test_added_chats_show_exactly_one_version(store: Store) -> None:
    messages = [message(1, None), message(2, None), message(3, 2, shown=False), message(4, 2, shown=False)]
    (chat_id,) = store.chats.add(
        [WholeChat(title="", named=False, created_at=1, updated_at=1, messages=messages)]
    )
    assert [m.shown for m in store.messages.all(chat_id)] == [False, True, False, True]
