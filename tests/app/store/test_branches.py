"""Any sequence of operations on versions gives the same result as a tree in memory, and loses no message."""

import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, rule
from msgspec import structs

from app.store import Store
from tests.app.store.made import PAIR, SETTINGS, answer


@dataclass
class Node:
    role: str
    text: str
    parent: "Node | None" = None
    children: list["Node"] = field(default_factory=list)
    chosen: "Node | None" = None  # the child shown
    id: int = 0

    def grow(self, role: str, text: str) -> "Node":
        child = Node(role, text, self)
        self.children.append(child)
        self.chosen = child
        return child

    def path(self) -> list["Node"]:
        """Return the path from the first message to this one."""
        return [*self.parent.path(), self] if self.parent else []

    def shown(self) -> list["Node"]:
        return [self.chosen, *self.chosen.shown()] if self.chosen else []


class Branches(RuleBasedStateMachine):
    messages = Bundle("messages")
    chats = Bundle("chats")
    deleted = Bundle("deleted")
    texts = st.text(max_size=8)

    @initialize()
    def open(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.store = Store(Path(self.folder.name) / "a.sqlite")
        self.roots: dict[int, Node] = {}

    def teardown(self) -> None:
        self.store.close()
        self.folder.cleanup()

    def chat_of(self, node: Node) -> int:
        root = node
        while root.parent:
            root = root.parent
        return next(chat for chat, known in self.roots.items() if known is root)

    @rule(target=chats)
    def create(self) -> int:
        chat = self.store.chats.create()
        self.roots[chat] = Node("", "")
        return chat

    @rule(target=messages, chat=chats, text=texts)
    def ask_first(self, chat: int, text: str) -> Node:
        node = self.roots[chat].grow("user", text)
        node.id = self.store.messages.ask(chat, text)
        return node

    @rule(target=messages, after=messages, text=texts)
    def ask(self, after: Node, text: str) -> Node:
        node = after.grow("user", text)
        node.id = self.store.messages.ask(self.chat_of(after), text, after.id)
        return node

    @rule(target=messages, question=messages, text=texts)
    def answer(self, question: Node, text: str) -> Node:
        node = question.grow("assistant", text)
        growing = self.store.messages.answer(question.id, SETTINGS, PAIR)
        growing.finish(answer(text))
        node.id = growing.id
        return node

    @rule(message=messages, text=texts)
    def resume(self, message: Node, text: str) -> None:
        message.text += text
        self.store.messages.resume(message.id, SETTINGS, PAIR).finish(answer(text))

    @rule(target=messages, message=messages, text=texts)
    def edit(self, message: Node, text: str) -> Node:
        assert message.parent
        node = message.parent.grow(message.role, text)
        node.id = self.store.messages.edit(message.id, text)
        return node

    @rule(message=messages)
    def show(self, message: Node) -> None:
        for step in message.path():
            assert step.parent
            step.parent.chosen = step
        self.store.messages.show(message.id)

    @rule(target=chats, message=messages)
    def branch(self, message: Node) -> int:
        chat = self.store.chats.branch(message.id)
        self.roots[chat] = node = Node("", "")
        for step in message.path():
            node = node.grow(step.role, step.text)
        for node, copied in zip(self.roots[chat].shown(), self.store.messages.all(chat), strict=True):
            node.id = copied.id
        return chat

    @rule(target=chats, chat=chats)
    def duplicate(self, chat: int) -> int:
        copy = self.store.chats.duplicate(chat)
        before, after = self.store.messages.all(chat), self.store.messages.all(copy)
        self.roots[copy] = Node("", "")
        nodes: dict[int | None, Node] = {None: self.roots[copy]}
        ids: dict[int | None, int | None] = {None: None}
        for old, new in zip(before, after, strict=True):
            ids[old.id] = new.id
            assert ids[old.parent] == new.parent
            assert structs.replace(old, id=new.id, parent=new.parent) == new
            nodes[new.id] = Node(new.role, new.text, nodes[new.parent], id=new.id)
            nodes[new.parent].children.append(nodes[new.id])
            if new.shown:
                nodes[new.parent].chosen = nodes[new.id]
        return copy

    @rule(target=deleted, chat=consumes(chats))
    def delete(self, chat: int) -> int:
        self.store.chats.delete(chat)
        assert chat not in [line.id for line in self.store.chats.recent(1000)]
        return chat

    @rule(target=chats, chat=consumes(deleted))
    def restore(self, chat: int) -> int:
        self.store.chats.restore(chat)
        assert chat in [line.id for line in self.store.chats.recent(1000)]
        return chat

    @invariant()
    def shows_what_the_model_shows(self) -> None:
        for chat, root in self.roots.items():
            found = [
                (one.message.id, one.message.role, one.message.text, one.versions)
                for one in self.store.messages.shown(chat)
            ]
            assert found == [
                (node.id, node.role, node.text, tuple(sibling.id for sibling in node.parent.children))
                for node in root.shown()
                if node.parent
            ]
            assert len(self.store.messages.all(chat)) == size(root) - 1


def size(node: Node) -> int:
    return 1 + sum(map(size, node.children))


TestBranches = Branches.TestCase
TestBranches.settings = settings(max_examples=25, stateful_step_count=25, deadline=None)
