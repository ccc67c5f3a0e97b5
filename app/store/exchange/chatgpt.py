"""Reading of ChatGPT's data export: `conversations.json`, or its parts `conversations-000.json` and so on.

A file is a list of conversations. Each conversation is a tree: `mapping` gives for every node id its
`message` (or null), `parent` and `children`; `current_node` is the id of the leaf that was shown. OpenAI does
not document the format; this module reads exports from 2023 to 2026. Messages that the user wrote or read are
kept. Hidden messages (system messages, tool calls and their results, thoughts) are left out; their children
are attached to the nearest kept ancestor.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from app.store.records import Role, StoredMessage, WholeChat

_VISIBLE_TYPES = {"text", "multimodal_text"}
_Nodes = dict[str, dict[str, Any]]
_LAST_TIME = 32_503_680_000  # the limit of `records.Timestamp`


class Malformed(ValueError):
    """A conversation is not in the expected format."""


def chat_of(conversation: object) -> WholeChat:
    """Convert one conversation to a chat. Raises Malformed if that is not possible."""
    if not isinstance(conversation, dict) or not isinstance(conversation.get("mapping"), dict):
        raise Malformed("it has no messages")
    mapping = conversation["mapping"]
    nodes: _Nodes = {id: node for id, node in mapping.items() if isinstance(node, dict)}
    created_at = _time(conversation.get("create_time"), 0.0)
    shown = set(_ancestors(nodes, conversation.get("current_node")))
    messages: list[StoredMessage] = []
    # Maps the id of each node to the id of the message made from it, or, if the node is left out, to the id
    # of the message made from the nearest kept ancestor.
    kept: dict[str | None, int | None] = {None: None}
    for id, parent in _parents_first(nodes):
        kept[id] = kept[parent]
        found = _visible(nodes[id].get("message"))
        if found is None:
            continue
        role, text, time = found
        kept[id] = len(messages)
        messages.append(
            StoredMessage(
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
    return WholeChat(
        title=title, named=bool(title), created_at=created_at, updated_at=updated_at, messages=messages
    )


def _parents_first(nodes: _Nodes) -> Iterator[tuple[str, str | None]]:
    """Yield (id, id of its parent) once for every node that is reachable from a root.

    Parents come before their children, and siblings in the order of `children`.
    """
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
    """Yield the ids of the leaf and of its ancestors, from the leaf upwards."""
    seen: set[str] = set()
    while isinstance(leaf, str) and leaf in nodes and leaf not in seen:
        seen.add(leaf)
        yield leaf
        leaf = nodes[leaf].get("parent")


def _visible(message: object) -> tuple[Role, str, object] | None:
    """Return (role, text, time) of a message that the user wrote or read, else None."""
    match message:
        case {"metadata": {"is_visually_hidden_from_conversation": True}}:
            return None
        case {"recipient": str(recipient)} if recipient != "all":
            return None
        case {
            "author": {"role": "user" | "assistant" as role},
            "content": {"content_type": str(kind), "parts": list(parts)},
            **rest,
        } if kind in _VISIBLE_TYPES:
            text = "\n\n".join(filter(None, map(_part, parts)))
            return (role, text, rest.get("create_time")) if text else None
    return None


def _part(part: object) -> str:
    """Return the text of one part of a message; for an image or audio, only its kind in brackets."""
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
