"""Every change of the list is signalled correctly: checked by Qt's own model tester."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QModelIndex, QPersistentModelIndex
from PySide6.QtTest import QAbstractItemModelTester

from app.sidebar.group_model import GroupedModel, Index
from app.sidebar.outline import ChatGroup
from app.store import ChatLine

REPORT = QAbstractItemModelTester.FailureReportingMode.Warning  # a warning fails the test


class Plain(GroupedModel):
    def data(self, index: Index, role: int = 0) -> str | None:
        return None


def groups(shape: list[tuple[str, list[int]]]) -> list[ChatGroup]:
    return [
        ChatGroup(key, [ChatLine(id, f"chat {id} in {key}", False, None, 0.0) for id in ids])
        for key, ids in shape
    ]


@st.composite
def shapes(draw: st.DrawFn) -> list[tuple[str, list[int]]]:
    keys = draw(st.lists(st.sampled_from("abcd"), unique=True))
    chats = draw(st.permutations(range(8)))[: draw(st.integers(0, 8))] if keys else []
    homes = draw(st.lists(st.sampled_from(keys), min_size=len(chats), max_size=len(chats))) if keys else []
    return [(key, [chat for chat, home in zip(chats, homes, strict=True) if home == key]) for key in keys]


def shown(model: GroupedModel) -> list[ChatGroup]:
    headings = [model.index(row) for row in range(model.rowCount())]
    return [
        ChatGroup(
            model.group(heading).key,
            [model.chat(model.index(row, 0, heading)) for row in range(model.rowCount(heading))],
        )
        for heading in headings
    ]


@settings(deadline=None, max_examples=150)
@given(st.lists(shapes(), min_size=2, max_size=4))
def test_rows_and_persistent_indexes_move_to_their_places(qapp, steps) -> None:
    model = Plain()
    tester = QAbstractItemModelTester(model, REPORT)
    for before, after in pairwise(steps):
        model.show(groups(before))
        kept = {id: QPersistentModelIndex(model.index_of(id)) for _, ids in before for id in ids}
        model.show(groups(after))
        assert shown(model) == groups(after)
        remaining = {id for _, ids in after for id in ids}
        for id, index in kept.items():
            assert index.isValid() == (id in remaining)
            if index.isValid():
                assert model.chat(index).id == id
                assert QModelIndex(index) == model.index_of(id)
    del tester


def test_moving_a_chat_to_the_top_is_one_move(qtbot) -> None:
    model = Plain()
    model.show(groups([("a", list(range(500)))]))
    moves, others = [], []
    model.rowsMoved.connect(lambda *move: moves.append(move[1]))
    model.rowsInserted.connect(others.append)
    model.rowsRemoved.connect(others.append)
    model.show(groups([("a", [400, *range(400), *range(401, 500)])]))
    assert moves == [400]
    assert not others


def test_removing_adjacent_rows_is_one_removal(qtbot) -> None:
    model = Plain()
    model.show(groups([("a", list(range(500)))]))
    removals = []
    model.rowsRemoved.connect(lambda _, first, last: removals.append((first, last)))
    model.show(groups([("a", [*range(10), *range(400, 500)])]))
    assert removals == [(10, 399)]
