"""The data export of ChatGPT: `conversations.json`, or its parts `conversations-000.json` and so on.

A list of conversations, each a tree: `mapping` gives for every node id its `message` (or null), `parent` and
`children`; `current_node` is the leaf that was shown. The format is not documented by its maker; this reads
what exports of 2023 to 2026 hold. What a person asked and read is kept; what they never saw (system messages,
calls of tools and what tools said, thoughts) is left out, and what follows it hangs on what came before it.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from app.store.records import Chat, Message, Role

_SAID = {"text", "multimodal_text"}
_Nodes = dict[str, dict[str, Any]]
_LAST_TIME = 32_503_680_000  # as `records.Timestamp`


class Malformed(ValueError):
    """One conversation that is not as this module expects."""


def chat_of(conversation: object) -> Chat:
    """Raises Malformed."""
    if not isinstance(conversation, dict) or not isinstance(conversation.get("mapping"), dict):
        raise Malformed("it has no messages")
    mapping = conversation["mapping"]
    nodes: _Nodes = {id: node for id, node in mapping.items() if isinstance(node, dict)}
    created_at = _time(conversation.get("create_time"), 0.0)
    shown = set(_ancestors(nodes, conversation.get("current_node")))
    messages: list[Message] = []
    kept: dict[str | None, int | None] = {None: None}  # node -> the message that stands for it
    for id, parent in _parents_first(nodes):
        kept[id] = kept[parent]
        found = _said(nodes[id].get("message"))
        if found is None:
            continue
        role, text, time = found
        kept[id] = len(messages)
        messages.append(
            Message(
                id=len(messages),
                parent=kept[parent],
                role=role,
                text=text,
                created_at=_time(time, created_at),
                shown=id in shown,
            )
        )
    if not messages:
        raise Malformed("it has no messages")
    title = conversation.get("title")
    title = " ".join(title.split()) if isinstance(title, str) else ""
    updated_at = _time(conversation.get("update_time"), created_at)
    return Chat(
        title=title, named=bool(title), created_at=created_at, updated_at=updated_at, messages=messages
    )


def _parents_first(nodes: _Nodes) -> Iterator[tuple[str, str | None]]:
    """(node, its parent) of every node that hangs on a root, each once; siblings in the order of
    `children`."""
    children: dict[str | None, list[str]] = defaultdict(list)
    for id, node in nodes.items():
        parent = node.get("parent")
        children[parent if isinstance(parent, str) and parent in nodes else None].append(id)
    for parent, siblings in children.items():
        order = nodes[parent].get("children") if parent is not None else None
        if isinstance(order, list):
            places = {child: place for place, child in enumerate(order) if isinstance(child, str)}
            siblings.sort(key=lambda sibling: places.get(sibling, len(places)))
    waiting: list[tuple[str, str | None]] = [(root, None) for root in reversed(children[None])]
    while waiting:
        id, parent = waiting.pop()
        yield id, parent
        waiting += [(child, id) for child in reversed(children.get(id, []))]


def _ancestors(nodes: _Nodes, leaf: object) -> Iterator[str]:
    """The leaf and those it hangs on."""
    seen: set[str] = set()
    while isinstance(leaf, str) and leaf in nodes and leaf not in seen:
        seen.add(leaf)
        yield leaf
        leaf = nodes[leaf].get("parent")


def _said(message: object) -> tuple[Role, str, object] | None:
    """(role, text, time) of a message that a person wrote or read."""
    match message:
        case {"metadata": {"is_visually_hidden_from_conversation": True}}:
            return None
        case {"recipient": str(recipient)} if recipient != "all":
            return None
        case {
            "author": {"role": "user" | "assistant" as role},
            "content": {"content_type": str(kind), "parts": list(parts)},
            **rest,
        } if kind in _SAID:
            text = "\n\n".join(filter(None, map(_part, parts)))
            return (role, text, rest.get("create_time")) if text else None
    return None


def _part(part: object) -> str:
    """Pictures and sound are named, not kept."""
    match part:
        case str():
            return part
        case {"text": str(text)}:
            return text
        case {"content_type": str(kind)}:
            return f"[{kind.removesuffix('_asset_pointer')}]"
    return ""


def _time(value: object, otherwise: float) -> float:
    return float(value) if isinstance(value, int | float) and 0 < value < _LAST_TIME else otherwise
