"""A real process that speaks the protocol and misbehaves, as its first argument says, when asked."""

import os
import sys
import threading
from multiprocessing.connection import Listener

from engine.protocol import messages
from tests.app.fake_engine import loaded


def follow_lifeline() -> None:
    sys.stdin.buffer.read()  # returns when the client has ended
    os._exit(0)


def main(behaviour: str) -> None:
    key = bytes.fromhex(sys.stdin.buffer.readline().decode())
    threading.Thread(target=follow_lifeline, daemon=True).start()
    with Listener(None, authkey=key) as listener:
        print(listener.address, flush=True)
        connection = listener.accept()
    connection.send_bytes(messages.encode(messages.Ready(engine_version="0", pid=os.getpid())))
    while True:
        match messages.decode_request(connection.recv_bytes()):
            case messages.Load(id=request):
                connection.send_bytes(messages.encode(loaded(request)))
            case messages.Leave() if behaviour != "deaf":
                return
            case messages.Chat(id=request):
                text = messages.TextDelta(request=request, text="so far", tokens=1)
                connection.send_bytes(messages.encode(text))
                if behaviour == "dies":
                    os._exit(3)
                if behaviour == "garbage":
                    connection.send_bytes(b"\xc1\xc1\xc1")


if __name__ == "__main__":
    main(sys.argv[1])
