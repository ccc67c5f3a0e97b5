"""A small server of the Model Context Protocol over standard input and output. Its argument says how it
behaves: "honest", or in which way it misbehaves once a tool is called, or at the handshake."""

import json
import os
import sys
import time
from typing import Any

TOOLS = [
    {
        "name": "echo",
        "description": "Say a text again.",
        "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
    },
    {"name": "variables", "description": "List variables.", "inputSchema": {"type": "object"}},
    {"name": "fail", "description": "Fail.", "inputSchema": {"type": "object"}},
]


def say(message: dict[str, Any]) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def content(text: str, *, failed: bool = False) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}], "isError": failed}


def outcome(tool: str, given: dict[str, Any]) -> dict[str, Any]:
    match tool:
        case "echo":
            return content(str(given.get("text")))
        case "variables":
            return content(" ".join(sorted(os.environ)))
        case _:
            return content("It did not work.", failed=True)


def misbehave(way: str, id: int) -> bool:
    """Answer a call as no server should; return whether that was all."""
    match way:
        case "hangs":
            time.sleep(600)
        case "dies":
            sys.exit(3)
        case "wrong ids":
            for wrong in range(1, 4):
                say({"id": id + wrong, "result": content("not yours")})
            say({"id": str(id), "result": content("not yours")})
        case "broken":
            print('{"jsonrpc": "2.0", "id":', flush=True)
        case "huge":
            block = "x" * (1 << 20)
            for _ in range(6):
                sys.stdout.write(block)
        case "long":
            say({"id": id, "result": content("y" * 200_000)})
        case "asks":
            say({"id": "mine", "method": "sampling/createMessage", "params": {"messages": []}})
            refusal = json.loads(sys.stdin.readline())
            say({"id": id, "result": content(f"error {refusal['error']['code']}")})
        case _:
            return False
    return True


def main(way: str) -> None:
    for line in sys.stdin:
        request = json.loads(line)
        id, given = request.get("id"), request.get("params", {})
        match request["method"]:
            case "initialize":
                version = "1999-01-01" if way == "other version" else given["protocolVersion"]
                say({"id": id, "result": {"protocolVersion": version, "capabilities": {}}})
            case "tools/list":
                say({"method": "notifications/message", "params": {"data": "a note that nobody asked for"}})
                say({"id": id, "result": {"tools": TOOLS}})
            case "tools/call" if not misbehave(way, id):
                say({"id": id, "result": outcome(given["name"], given["arguments"])})


if __name__ == "__main__":
    main(sys.argv[1])
