"""Chats as Markdown or plain text. Versions of messages that are not shown are left out."""

import re
from datetime import datetime

from app.store.records import StoredMessage, WholeChat
from app.store.tree import shown_path

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})", re.MULTILINE)
_SPEAKERS = {"user": "User", "assistant": "Assistant"}


def to_markdown(chat: WholeChat) -> str:
    parts = [f"# {_title(chat)}"]
    if chat.settings.system:
        parts.append("\n".join(f"> {line}".rstrip() for line in chat.settings.system.splitlines()))
    for message in _messages(chat):
        parts.append(f"## {_SPEAKERS[message.role]}")
        if message.files:
            parts.append("\n".join(f"- *{_one_line(file.name)}*" for file in message.files))
        parts.append(_with_closed_fence(message.text))
        if message.state != "complete":
            parts.append("*(interrupted)*")
    return "\n\n".join(parts) + "\n"


def to_text(chat: WholeChat) -> str:
    parts = [_title(chat)]
    if chat.settings.system:
        parts.append(f"System: {chat.settings.system}")
    for message in _messages(chat):
        end = "" if message.state == "complete" else " (interrupted)"
        files = "".join(f"[{_one_line(file.name)}] " for file in message.files)
        parts.append(f"{_SPEAKERS[message.role]}: {files}{message.text}{end}")
    return "\n\n".join(parts) + "\n"


def _one_line(name: str) -> str:
    return " ".join(name.split())


def _title(chat: WholeChat) -> str:
    date = datetime.fromtimestamp(chat.created_at).strftime("%Y-%m-%d %H:%M")
    return f"{chat.title} ({date})" if chat.title else date


def _messages(chat: WholeChat) -> list[StoredMessage]:
    return [shown.message for shown in shown_path(chat.messages)]


def _with_closed_fence(text: str) -> str:
    """Close a code fence that the text leaves open, so that what follows the text is not shown as code."""
    fence = ""
    for mark in _FENCE.findall(text):
        if not fence:
            fence = mark
        elif mark.startswith(fence):
            fence = ""
    return f"{text}\n{fence}" if fence else text
