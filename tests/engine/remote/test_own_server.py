"""The connection to an engine elsewhere, with `specexec serve` as that engine."""

import threading
from collections.abc import Iterator

import httpx2
import pytest

from engine import protocol
from engine.protocol import Answer, Counted, Failed, Loaded, Message, TextDelta
from engine.remote import engines
from engine.remote.connection import RemoteConnection
from engine.remote.engines import AddedEngine
from tests.engine.remote.conftest import Talk
from tests.engine.server.conftest import RunningServer, running

KEY = "sk-tests"
QUESTION = Message("user", "What is the capital of Japan?")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running(tmp_path_factory.mktemp("runtime"), key=KEY) as server:
        yield server


def joined(server: RunningServer, key: str) -> Talk:
    engines.add(AddedEngine("own", f"{server.address}/v1"), key)
    talk = Talk(RemoteConnection(engines.find("own")))
    assert isinstance(next(talk.events), protocol.Ready)
    return talk


@pytest.fixture
def talk(served: RunningServer) -> Iterator[Talk]:
    talk = joined(served, KEY)
    assert isinstance(talk.load(target=served.model), Loaded)
    yield talk
    talk.close()


def answer_of(events: list[protocol.Event]) -> Answer:
    assert isinstance(events[-1], Answer), events[-1]
    return events[-1]


def deltas(events: list[protocol.Event]) -> list[TextDelta]:
    return [event for event in events if isinstance(event, TextDelta)]


def test_its_model_is_described(talk: Talk, served: RunningServer) -> None:
    loaded = talk.load(target=served.model)
    assert isinstance(loaded, Loaded)
    assert (loaded.device, loaded.context, loaded.tells_trees) == ("specexec", 1024, False)
    assert loaded.target.name == served.model
    assert loaded.place == served.address.removeprefix("http://")


def test_text_and_usage_are_what_the_server_says_without_streaming(talk: Talk, served: RunningServer) -> None:
    events = talk.chat(QUESTION, max_new_tokens=24)
    answer = answer_of(events)
    assert len(deltas(events)) > 1, "streamed"
    assert "".join(each.text for each in deltas(events)) == answer.text
    with served.client(Authorization=f"Bearer {KEY}") as client:
        asked = served.chat(QUESTION.content, max_tokens=24)
        whole = client.post("/v1/chat/completions", json=asked).json()
    assert answer.text == whole["choices"][0]["message"]["content"]
    usage = whole["usage"]
    assert (answer.prompt_tokens, answer.tokens) == (usage["prompt_tokens"], usage["completion_tokens"])
    assert answer.time_to_first_token_s is not None


def test_speculation_is_told(talk: Talk) -> None:
    answer = answer_of(talk.chat(QUESTION, max_new_tokens=24))
    told = answer.speculation
    assert told is not None
    assert told.steps
    assert 0 < told.accepted <= told.drafted
    assert sum(told.per_position) == told.accepted == sum(answer.accepted)
    assert told.steps < answer.tokens <= told.accepted + told.steps + 1


def test_a_conversation_that_goes_on_is_not_read_anew(talk: Talk) -> None:
    text = "Paris is old. " * 40 + "Is it?"
    first = answer_of(talk.chat(Message("user", text), max_new_tokens=8))
    said = [Message("user", text), Message("assistant", first.text), QUESTION]
    assert answer_of(talk.chat(*said, max_new_tokens=8)).reused_tokens > first.prompt_tokens - 64


def test_a_seed_draws_the_same_answer_again(talk: Talk) -> None:
    texts = {answer_of(talk.chat(QUESTION, max_new_tokens=16, temperature=1.0, seed=s)).text for s in (3, 3)}
    assert len(texts) == 1
    answer = answer_of(talk.chat(QUESTION, max_new_tokens=16, temperature=1.0))
    again = answer_of(talk.chat(QUESTION, max_new_tokens=16, temperature=1.0, seed=answer.seed))
    assert again.text == answer.text, "a seed that nobody chose is told"


def test_stop_strings_and_the_most_tokens_end_answers(talk: Talk) -> None:
    answer = answer_of(talk.chat(QUESTION, stop=["Tokyo"], max_new_tokens=48))
    assert (answer.stop_reason, answer.stop_string) == ("stop_string", "Tokyo")
    assert "Tokyo" not in answer.text
    answer = answer_of(talk.chat(QUESTION, max_new_tokens=3))
    assert (answer.stop_reason, answer.tokens) == ("max_new_tokens", 3)


def test_log_probabilities_are_told_of_every_token_if_asked(talk: Talk) -> None:
    events = talk.chat(QUESTION, max_new_tokens=12, log_probs=2)
    answer = answer_of(events)
    assert answer.log_probs is not None
    assert len(answer.log_probs) == answer.tokens > 2
    assert all(len(each.top) == 2 and each.log_prob == each.top[0][1] for each in answer.log_probs)
    told = [each.committed for each in deltas(events) if each.committed is not None]
    assert "".join(piece for each in told for piece in each.pieces) == answer.text
    pairs = [pair for each in told for pair in zip(each.pieces, each.top_texts, strict=True)]
    assert all(top[0] == piece for piece, top in pairs if piece), "the end has no piece"
    assert answer_of(talk.chat(QUESTION, max_new_tokens=2)).log_probs is None


def test_a_constraint_holds(talk: Talk) -> None:
    chosen = protocol.Constraint(kind="choice", choices=("Osaka", "Kyoto"))
    assert answer_of(talk.chat(QUESTION, constraint=chosen, max_new_tokens=12)).text in ("Osaka", "Kyoto")


def test_tokens_are_counted(talk: Talk) -> None:
    counted = talk.request(protocol.Count(id=70, messages=[QUESTION]))[-1]
    answer = answer_of(talk.chat(QUESTION, max_new_tokens=1))
    assert counted == Counted(70, answer.prompt_tokens)


def test_stop_ends_the_answer_at_the_server_too(talk: Talk, served: RunningServer) -> None:
    talk.channel.post(
        protocol.Chat(
            id=90, messages=[Message("user", "Tell a long story.")],
            options=protocol.Options(repetition_penalty=1.3),
        )
    )  # fmt: skip
    first = next(event for event in talk.events if isinstance(event, TextDelta))
    talk.channel.post(protocol.Cancel(id=91, request=90))
    answer = next(event for event in talk.events if isinstance(event, Answer | Failed))
    assert isinstance(answer, Answer)
    assert answer.stop_reason == "cancelled"
    assert answer.text.startswith(first.text)
    assert answer.tokens < 500
    assert answer_of(talk.chat(QUESTION, max_new_tokens=2)).tokens == 2, "the server is free again"


def test_a_wrong_key_is_refused(served: RunningServer) -> None:
    talk = joined(served, "sk-another")
    failed = talk.load(target=served.model)
    assert isinstance(failed, Failed)
    assert failed.kind == "key_refused"
    talk.close()


def test_a_server_that_dies_in_mid_answer(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with running(tmp_path_factory.mktemp("short"), key=KEY) as server:
        talk = joined(server, KEY)
        talk.load(target=server.model)
        began = threading.Event()

        def kill() -> None:
            began.wait(60)
            server.process.kill()

        killer = threading.Thread(target=kill)
        killer.start()
        story = protocol.Chat(
            id=90, messages=[Message("user", "Tell a long story.")],
            options=protocol.Options(repetition_penalty=1.3),
        )  # fmt: skip
        talk.channel.post(story)
        text, failed = "", None
        for event in talk.events:
            if isinstance(event, TextDelta):
                text += event.text
                began.set()
            elif isinstance(event, Failed | Answer):
                failed = event
                break
        killer.join()
        assert text
        assert isinstance(failed, Failed)
        assert failed.kind in ("answer_broken", "engine_unreachable")
        assert failed.hint
        with pytest.raises(httpx2.HTTPError):
            server.client().get("/health")
        again = talk.chat(QUESTION)[-1]
        assert isinstance(again, Failed)
        assert again.kind == "engine_unreachable"
        talk.close()
