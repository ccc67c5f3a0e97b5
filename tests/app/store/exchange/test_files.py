"""Whole chats are exported and imported with every version; unreadable files are reported."""

import json
import sqlite3
import zipfile
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from app.store import BadImport, Role, State, Store, StoredMessage, WholeChat, backups, schema
from app.store.exchange import export_file, files, import_file, native
from engine.errors import DiskProblem
from tests.app.store.exchange.chatgpt_export import conversation
from tests.app.store.made import PAIR, SETTINGS, answer


def branched(store: Store) -> WholeChat:
    chat = store.chats.create(SETTINGS)
    first = store.messages.ask(chat, "Write 서울 in 北京")
    store.messages.answer(first, SETTINGS, PAIR).finish(answer("one", seed=1))
    store.messages.answer(first, SETTINGS, PAIR).finish(answer("two", seed=2))
    store.messages.edit(first, "edited")
    store.messages.show(first)
    store.chats.move(chat, store.folders.create("Work"))
    store.chats.pin(chat)
    return store.chats.read(chat)


def without_ids(chat: WholeChat) -> object:
    places = {message.id: place for place, message in enumerate(chat.messages)}
    tree = [(places.get(m.parent), m.role, m.text, m.state, m.shown, m.reports) for m in chat.messages]
    return (chat.title, chat.named, chat.pinned, chat.folder, chat.created_at, chat.settings, tree)


def test_a_chat_survives_json_with_all_its_versions(store: Store, tmp_path: Path) -> None:
    chat = branched(store)
    export_file(tmp_path / "a.json", [chat, chat])
    imported = import_file(tmp_path / "a.json")
    assert imported.skipped == []
    other = Store(tmp_path / "other.sqlite")
    for id in other.chats.add(imported.chats):
        assert without_ids(other.chats.read(id)) == without_ids(chat)
    assert len(other.search("서울")) == 2
    other.close()


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_any_tree_survives_json(data: st.DataObject) -> None:
    messages: list[StoredMessage] = []
    for id in range(data.draw(st.integers(0, 6))):
        messages.append(
            StoredMessage(
                id=id,
                parent=data.draw(st.sampled_from([None, *range(id)])),
                role=data.draw(st.sampled_from(["user", "assistant"])),
                text=data.draw(st.text()),
                created_at=data.draw(st.floats(0, 3e10)),
                shown=data.draw(st.booleans()),
            )
        )
    chat = WholeChat(
        title=data.draw(st.text()), named=True, created_at=0.1, updated_at=2e9, messages=messages
    )
    assert native.decode(native.encode([chat])) == [chat]


def test_text_contains_the_messages_shown(store: Store, tmp_path: Path) -> None:
    chat = branched(store)
    export_file(tmp_path / "a.md", [chat])
    export_file(tmp_path / "a.txt", [chat, chat])
    markdown = (tmp_path / "a.md").read_text("utf-8")
    title = f"Edited ({datetime.fromtimestamp(chat.created_at):%Y-%m-%d %H:%M})"
    assert markdown == (f"# {title}\n\n> Be brief.\n\n## User\n\nWrite 서울 in 北京\n\n## Assistant\n\ntwo\n")
    text = (tmp_path / "a.txt").read_text("utf-8")
    assert text.count(f"{title}\n\nSystem: Be brief.\n\nUser: Write 서울 in 北京\n\nAssistant: two\n") == 2


def test_an_interrupted_answer_says_so_and_does_not_swallow_what_follows() -> None:
    def message(id: int, role: Role, text: str, state: State = "complete") -> StoredMessage:
        return StoredMessage(id=id, parent=id - 1 or None, role=role, text=text, created_at=1, state=state)

    chat = WholeChat(
        title="",
        named=False,
        created_at=1e9,
        updated_at=1e9,
        messages=[
            message(1, "user", "code?"),
            message(2, "assistant", "Two:\n````py\n```\nx = 1", "interrupted"),
            message(3, "user", "```\ndone\n```"),
        ],
    )
    assert files.to_markdown(chat).endswith(
        "Two:\n````py\n```\nx = 1\n````\n\n*(interrupted)*\n\n## User\n\n```\ndone\n```\n"
    )
    assert "x = 1 (interrupted)" in files.to_text(chat)


def test_a_file_that_cannot_be_written_is_unchanged(store: Store, tmp_path: Path) -> None:
    with pytest.raises(DiskProblem, match="cannot be written"):
        export_file(tmp_path / "absent" / "a.json", [branched(store)])
    (tmp_path / "a.md").mkdir()
    with pytest.raises(DiskProblem, match=r"a\.md cannot be written"):
        export_file(tmp_path / "a.md", [])
    assert [file.name for file in tmp_path.iterdir()].count("a.md") == 1


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "cannot be read"),
        (b"PK\x03\x04 half an archive", "cannot be read"),
        (b"\xff\xfe", "cannot be read"),
        (b"[" * 100_000, "cannot be read"),
        (b"3", "no chats"),
        (b'{"chats": []}', "no chats"),
        (b'{"format": "specexec-chats", "version": 2, "chats": []}', "newer version"),
        (b'{"format": "specexec-chats", "version": 1}', "chats"),
        (b'{"format": "other", "version": 1, "chats": []}', "not an export of chats"),
        (b'{"format": "specexec-chats", "version": 1, "chats": [{"title": 3}]}', r"chats\[0\].title"),
    ],
)
def test_a_file_that_is_not_an_export_is_reported(tmp_path: Path, content: bytes, reason: str) -> None:
    (tmp_path / "a.json").write_bytes(content)
    with pytest.raises(BadImport, match=reason):
        import_file(tmp_path / "a.json")


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(BadImport, match="No such file"):
        import_file(tmp_path / "a.json")


def test_a_chat_that_is_not_a_tree_is_skipped_with_a_reason(store: Store, tmp_path: Path) -> None:
    export_file(tmp_path / "a.json", [branched(store), branched(store)])
    value = json.loads((tmp_path / "a.json").read_text("utf-8"))
    value["chats"][0]["title"] = "circle"
    value["chats"][0]["messages"][0]["parent"] = value["chats"][0]["messages"][1]["id"]
    (tmp_path / "a.json").write_text(json.dumps(value), "utf-8")
    imported = import_file(tmp_path / "a.json")
    assert len(imported.chats) == 1
    assert imported.skipped == ["“circle”: a message has no valid parent."]


def test_all_parts_of_chatgpts_archive_are_read(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        archive.writestr("chat.html", "<html>")
        archive.writestr("export/conversations-001.json", json.dumps([conversation("second")]))
        archive.writestr("export/conversations-000.json", json.dumps([conversation("first"), None]))
        archive.writestr("shared_conversations.json", "[]")
    imported = import_file(tmp_path / "export.zip")
    assert [chat.title for chat in imported.chats] == ["first", "second"]
    assert imported.skipped == ["“2”: it has no messages."]


def test_an_archive_without_chats_or_too_large_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("chat.html", "<html>")
    with pytest.raises(BadImport, match=r"no conversations\.json"):
        import_file(tmp_path / "a.zip")
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive:
        archive.writestr("conversations.json", "[]".ljust(100))
    monkeypatch.setattr(files, "MAX_NBYTES", 99)
    with pytest.raises(BadImport, match="too large"):
        import_file(tmp_path / "b.zip")


def zipped(path: Path, content: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", content)
    return path


@pytest.mark.parametrize("kind", ["[", '{"a":'])
def test_data_nested_too_deeply_is_named(tmp_path: Path, kind: str) -> None:
    for text in (kind * 3_000, f'{{"format": "specexec-chats", "version": 1, "chats": {kind * 3_000}'):
        (tmp_path / "a.json").write_text(text)
        with pytest.raises(BadImport, match="nested too deeply") as caught:
            import_file(tmp_path / "a.json")
        assert caught.value.hint


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    with path.open("wb") as file:
        file.truncate(files.MAX_NBYTES + 1)
    with pytest.raises(BadImport, match="too large"):
        import_file(path)
    with pytest.raises(BadImport, match="too large"):
        import_file(zipped(tmp_path / "a.zip", bytes(files.MAX_NBYTES + 1)))


def test_a_part_that_is_longer_than_it_says_is_named(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", b"[" + b" " * 10_000 + b"]")
    size = (10_002).to_bytes(4, "little")
    path.write_bytes(path.read_bytes().replace(size, (4).to_bytes(4, "little")))
    with pytest.raises(BadImport, match=r"a\.zip cannot be read"):
        import_file(path)


def test_an_archive_in_an_archive_is_not_opened(tmp_path: Path) -> None:
    inner = zipped(tmp_path / "inner.zip", b"[]").read_bytes()
    with pytest.raises(BadImport, match="cannot be read"):
        import_file(zipped(tmp_path / "a.zip", inner))


def test_a_chat_of_too_many_messages_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_MESSAGES", 1)
    (tmp_path / "a.json").write_text(json.dumps([conversation("long"), conversation("short")]))
    imported = import_file(tmp_path / "a.json")
    assert imported.chats == []
    assert imported.skipped == [f"“{name}”: it has too many messages." for name in ("long", "short")]


def test_a_backup_is_read_without_being_changed(store: Store, tmp_path: Path) -> None:
    chat, deleted = branched(store), store.chats.create(SETTINGS)
    store.chats.delete(deleted)
    backup = backups.make(store.path)
    assert backup is not None
    before = backup.read_bytes()
    imported = import_file(backup)
    assert imported.is_backup
    assert [without_ids(each) for each in imported.chats] == [without_ids(chat)]
    assert backup.read_bytes() == before
    assert list(backup.parent.iterdir()) == [backup]


def test_only_what_is_missing_here_is_lacking(store: Store) -> None:
    whole = branched(store)
    longer = structs.replace(
        whole, messages=[*whole.messages, structs.replace(whole.messages[-1], text="more")]
    )
    other_day = structs.replace(whole, created_at=whole.created_at - 86_400)
    renamed = structs.replace(whole, title="another title", messages=whole.messages[:2])
    assert store.chats.lacking([whole, longer, other_day, renamed]) == [longer, other_day]
    store.chats.delete(1)
    assert store.chats.lacking([whole]) == [whole], "a deleted chat is brought back"


def test_a_backup_of_a_newer_version_is_refused(store: Store) -> None:
    branched(store)
    backup = backups.make(store.path)
    assert backup is not None
    with sqlite3.connect(backup) as connection:
        connection.execute(f"PRAGMA user_version = {len(schema.MIGRATIONS) + 1}")
    connection.close()
    with pytest.raises(BadImport, match=rf"^{backup.name} was written by a newer version"):
        import_file(backup)


def test_what_can_be_read_of_a_damaged_backup_is_read(store: Store, tmp_path: Path) -> None:
    for _ in range(40):
        branched(store)
    backup = backups.make(store.path)
    assert backup is not None
    content = backup.read_bytes()
    damaged = tmp_path / "damaged.sqlite"
    damaged.write_bytes(content[: len(content) // 2])
    imported = import_file(damaged)
    assert imported.chats
    assert imported.skipped == ["damaged.sqlite is damaged; some of its messages may be missing."]
    damaged.write_bytes(content[:16] + bytes(len(content) - 16))
    with pytest.raises(BadImport, match=r"^damaged.sqlite holds no chats"):
        import_file(damaged)
