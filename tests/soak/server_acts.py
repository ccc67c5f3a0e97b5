"""What clients of `specexec serve` do between two questions of the window, with which they share the engine.

Each act is done when the server has nothing left to do. Answers are greedy: the same question gets the same
answer, however it is asked.
"""

from concurrent.futures import ThreadPoolExecutor

from PySide6.QtTest import QTest

from tests.soak.acts import THINGS, Act, Sitting
from tests.soak.questions import BAD_BODIES, BAD_STATUSES, CHAT, PATHS, Question, satisfies_schema

JSON = {"content-type": "application/json"}


def _question(sitting: Sitting, path: str = "", **fields: object) -> Question:
    path = path or sitting.random.choice(PATHS)
    return Question(path, f"What is a {sitting.random.choice(THINGS)}?", **fields)


def ask_server(sitting: Sitting) -> None:
    """Ask for an answer whole and for the same as events."""
    client, question = sitting.client, _question(sitting)
    assert client.ask_streamed(question) == client.ask_whole(question), question


def leave_server(sitting: Sitting) -> None:
    """Leave in the middle of an answer."""
    client = sitting.client
    question = _question(sitting, max_tokens=400)
    client.ask_streamed(question, most_events=sitting.random.randrange(1, 12))
    client.wait_until_idle()


def ask_server_for_json(sitting: Sitting) -> None:
    text = sitting.client.ask_whole(_question(sitting, is_formed=True))
    assert satisfies_schema(text), text


def ask_server_wrongly(sitting: Sitting) -> None:
    with sitting.client.connected() as http:
        for body in BAD_BODIES:
            refused = http.post(sitting.random.choice(PATHS), content=body, headers=JSON)
            assert refused.status_code in BAD_STATUSES, refused.text
        name = f"no-such-model-{sitting.random.randrange(10**6)}"
        assert http.get(f"/v1/models/{name}").status_code == 404
        assert http.get("/metrics").status_code == 200


def ask_server_and_window(sitting: Sitting) -> None:
    """Two programs ask at once, and the window asks, too."""
    client, question = sitting.client, _question(sitting, CHAT)
    with ThreadPoolExecutor(2) as pool:
        asked = [pool.submit(ask, question) for ask in (client.ask_whole, client.ask_streamed)]
        sitting.ask()
        while not all(each.done() for each in asked):
            QTest.qWait(20)
    whole, streamed = (each.result() for each in asked)
    assert whole == streamed


SERVER_ACTS: tuple[Act, ...] = (
    ask_server,
    leave_server,
    ask_server_for_json,
    ask_server_wrongly,
    ask_server_and_window,
)
