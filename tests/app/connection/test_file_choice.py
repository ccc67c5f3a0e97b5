"""Which files of a question are read whole, and in which the model gets passages of."""

import pytest
from msgspec import structs

from app.connection.file_choice import PASSAGES, choose, with_ways
from app.connection.memory import tokens_of
from app.documents.records import Document
from app.store import AttachedFile, Store, StoredMessage
from app.store.quoted import whole_files, with_files


def file(id: str, tokens: int) -> AttachedFile:
    return AttachedFile(id=id, name=id, kind="text", tokens=tokens)


def message(id: int, text: str, files: list[AttachedFile] | None = None) -> StoredMessage:
    role = "user" if id % 2 else "assistant"
    return StoredMessage(
        id=id, parent=id - 1 or None, role=role, text=text, created_at=0.0, files=files or []
    )


@pytest.mark.parametrize(
    ("taken", "context", "whole"),
    [
        (0, 2_000, ["small", "middle"]),
        (900, 2_000, ["small"]),
        (0, 20_000, ["large", "small", "middle"]),
        (0, 0, ["large", "small", "middle"]),
    ],
)
def test_the_smallest_files_go_in_whole(taken: int, context: int, whole: list[str]) -> None:
    files = with_ways([file("large", 4_000), file("small", 500), file("middle", 1_000)], taken, context)
    assert [each.name for each in files] == ["large", "small", "middle"], "their order stays"
    assert [each.name for each in files if each.way == "whole"] == whole


def test_passages_fit_a_small_context(store: Store) -> None:
    large = store.files.keep("a.txt", Document("text", ["Stones lie on the coast. " * 4_000]))
    path = [message(1, "Which stones?", [large])]
    assert len(choose(store, path, 0, 20_000).passages) == PASSAGES
    chosen = choose(store, path, 0, 2_048)
    assert 0 < len(chosen.passages) < PASSAGES
    assert tokens_of(chosen) < 2_048 / 2
    assert choose(store, path, 0, 32).passages, "one at least"


def test_a_file_of_a_turn_that_is_left_out_is_searched(store: Store) -> None:
    small = store.files.keep("a.txt", Document("text", ["Skerryvore is a reef."]))
    path = [message(1, "What is it?", [small]), message(2, "A reef."), message(3, "And Skerryvore?")]
    assert choose(store, path, 0, 2_048).passages == []
    assert [passage.name for passage in choose(store, path, 1, 2_048).passages] == ["a.txt"]


def test_the_text_in_a_picture_is_read_like_that_of_a_file(store: Store) -> None:
    read = store.files.keep("a.png", Document("picture", ["Invoice 4711"], picture=b"x"))
    chosen = choose(store, [message(1, "What?", [read])], 0, 2_048)
    assert chosen.files[0].way == "whole"
    said = with_files(chosen, store.files.texts(whole_files([chosen])))
    assert said == (
        "(The user has attached a picture, a.png, which you cannot see.)\n\n"
        "Text that a program read in it\n```\nInvoice 4711\n```\n\nWhat?"
    )
    tight = choose(store, [message(1, "Which invoice?", [read])], 0, 8)
    assert tight.files[0].way == "searched"
    assert [passage.text for passage in tight.passages] == ["Invoice 4711"]


def test_a_picture_is_not_searched(store: Store) -> None:
    picture = store.files.keep("a.png", Document("picture", picture=b"x"))
    chosen = choose(store, [message(1, "What?", [picture])], 0, 2_048)
    assert (chosen.passages, tokens_of(chosen)) == ([], tokens_of(structs.replace(chosen, files=[])))
