"""A conversation as exported by ChatGPT: hidden nodes, a tool, an image and an edited question."""

from typing import Any


def node(id: str, parent: str | None, message: dict[str, Any] | None, *children: str) -> dict[str, Any]:
    return {"id": id, "message": message, "parent": parent, "children": list(children)}


def message(
    role: str, *parts: object, kind: str = "text", time: float | None = 1.7e9, **more: Any
) -> dict[str, Any]:
    return {
        "author": {"role": role, "name": None, "metadata": {}},
        "create_time": time,
        "content": {"content_type": kind, "parts": list(parts)},
        "status": "finished_successfully",
        "recipient": "all",
        "metadata": {},
        **more,
    }


def conversation(title: str | None = "Seoul") -> dict[str, Any]:
    hidden = {"is_visually_hidden_from_conversation": True}
    picture = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://1"}
    code = {"content_type": "code", "language": "python", "text": "1 + 1"}
    nodes = [
        node("root", None, None, "system"),
        node("system", "root", message("system", "", metadata=hidden), "about"),
        node("about", "system", message("user", "my profile", metadata=hidden), "old", "new"),
        node(
            "new",
            "about",
            message("user", picture, "What is 서울?", kind="multimodal_text", time=1.7e9 + 5),
            "thoughts",
        ),
        node("old", "about", message("user", "What is Seoul"), "old answer"),
        node("old answer", "old", message("assistant", "A city.")),
        node(
            "thoughts",
            "new",
            {**message("assistant"), "content": {"content_type": "thoughts", "thoughts": []}},
            "call",
        ),
        node("call", "thoughts", {**message("assistant"), "content": code, "recipient": "python"}, "result"),
        node("result", "call", message("tool", "2"), "again", "final"),
        node("final", "result", message("assistant", "The capital", " of Korea.", time=None)),
        node("again", "result", message("assistant", "Another try.")),
    ]
    return {
        "title": title,
        "create_time": 1.7e9,
        "update_time": 1.7e9 + 60,
        "mapping": {node["id"]: node for node in nodes},
        "current_node": "final",
        "conversation_id": "c",
    }
