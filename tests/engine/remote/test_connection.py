"""Answers of an engine elsewhere, and everything that it can do wrong."""

import threading
import time

import pytest

from engine import protocol
from engine.calls.formats import format_of
from engine.protocol import Answer, Failed, IterationDone, Loaded, Message, TextDelta
from tests.engine.remote.conftest import Talk
from tests.engine.remote.scripted_server import MODEL, OPENAI, ScriptedServer, delta, ending, event

USAGE = {"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}}


def answer_of(events: list[protocol.Event]) -> Answer:
    assert isinstance(events[-1], Answer), events[-1]
    return events[-1]


def text_of(events: list[protocol.Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def failure(event: protocol.Event) -> Failed:
    assert isinstance(event, Failed), event
    assert event.message
    assert event.hint
    return event


def test_loading_says_what_is_known_and_where_the_text_goes(talk: Talk, server: ScriptedServer) -> None:
    loaded = talk.load()
    assert isinstance(loaded, Loaded)
    assert loaded.target.name == loaded.target.path == MODEL
    assert loaded.context == 4096
    assert loaded.device == "vllm"
    assert loaded.place == server.address.removeprefix("http://").removesuffix("/v1")
    assert not loaded.tells_trees
    assert loaded.drafters == []


def test_an_answer_has_its_text_and_figures(talk: Talk, server: ScriptedServer) -> None:
    talk.load()
    server.script.pieces = [delta(role="assistant"), delta(content="Hel"), delta(content="lo"),
                            *ending(usage=USAGE)]  # fmt: skip
    events = talk.chat(seed=5)
    answer = answer_of(events)
    assert answer.text == text_of(events) == "Hello"
    assert (answer.prompt_tokens, answer.tokens, answer.reused_tokens, answer.seed) == (9, 2, 4, 5)
    assert answer.stop_reason == "end_of_sequence"
    assert answer.time_to_first_token_s is not None
    assert server.received[-1].headers["Authorization"] == "Bearer secret"


def test_thoughts_stand_between_marks(talk: Talk, server: ScriptedServer) -> None:
    talk.load()
    server.script.pieces = [delta(reasoning_content="Let me "), delta(reasoning="see."), delta(content="Yes"),
                            *ending()]  # fmt: skip
    assert answer_of(talk.chat()).text == "<think>Let me see.</think>\n\nYes"
    server.script.pieces = [delta(reasoning="Hm"), *ending("length")]
    events = talk.chat()
    assert answer_of(events).text == text_of(events) == "<think>Hm</think>\n\n"


def test_earlier_thoughts_are_not_sent_again(talk: Talk, server: ScriptedServer) -> None:
    talk.load()
    server.script.pieces = [delta(content="x"), *ending()]
    said = Message("assistant", "<think>Hm</think>\n\nYes")
    talk.chat(Message("user", "a"), said, Message("user", "b"))
    assert [message["content"] for message in server.asked["messages"]] == ["a", "Yes", "b"]


def test_figures_of_speculation_that_the_answer_tells(talk: Talk, server: ScriptedServer) -> None:
    talk.load()
    told = {"num_spec_steps": 2, "num_draft_tokens": 8, "num_accepted_draft_tokens": 3,
            "per_step_accepted": [1, 2], "per_step_drafted": [4, 4]}  # fmt: skip
    usage = {"prompt_tokens": 9, "completion_tokens": 6}
    server.script.pieces = [
        delta(content="Hello"),
        *ending(usage=usage, metrics={"speculative_decoding": told}),
    ]
    answer = answer_of(talk.chat())
    assert answer.speculation == protocol.Speculation(steps=2, drafted=8, accepted=3, per_position=[2, 1])
    assert (answer.drafted, answer.accepted) == ([4, 4], [1, 2])
    assert answer.target_passes == 2
    assert answer.tokens_per_pass == 2.5


@pytest.mark.parametrize(("generated", "with_others"), [(107, False), (160, True)])
def test_counters_of_the_server_are_compared(
    talk: Talk, server: ScriptedServer, generated: int, with_others: bool
) -> None:
    def page(drafts: int, drafted: int, accepted: int, generated: int) -> bytes:
        model = f'{{engine="0",model_name="{MODEL}"}}'
        position = f'{{engine="0",model_name="{MODEL}",position="1"}}'
        return (
            f"# HELP\nvllm:spec_decode_num_drafts_total{model} {drafts}.0\n"
            f"vllm:spec_decode_num_draft_tokens_total{model} {drafted}.0\n"
            f"vllm:spec_decode_num_accepted_tokens_total{model} {accepted}.0\n"
            f"vllm:spec_decode_num_accepted_tokens_per_pos_total{position} {accepted}.0\n"
            f"vllm:generation_tokens_total{model} {generated}.0\n"
            f'vllm:spec_decode_num_drafts_total{{model_name="other"}} 1e9\n'
        ).encode()

    pages = iter([page(1, 4, 1, 100), page(1, 4, 1, 100), page(3, 12, 5, generated)])
    server.script.others["/metrics"] = lambda: next(pages)
    talk.load()
    server.script.pieces = [
        delta(content="Hello"),
        *ending(usage={"completion_tokens": 7, "prompt_tokens": 1}),
    ]
    assert answer_of(talk.chat()).speculation == protocol.Speculation(
        steps=2, drafted=8, accepted=4, per_position=[0, 4], with_others=with_others
    )


def test_steps_of_llama_server(talk: Talk, server: ScriptedServer) -> None:
    server.script.models = [{"id": MODEL, "owned_by": "llamacpp", "meta": {"n_ctx_train": 99, "n_params": 7}}]
    loaded = talk.load()
    assert isinstance(loaded, Loaded)
    assert (loaded.context, loaded.target.parameters) == (99, 7)

    def timed(text: str, predicted: int, drafted: int, accepted: int) -> bytes:
        timings = {"predicted_n": predicted, "draft_n": drafted, "draft_n_accepted": accepted, "cache_n": 3}
        return event({"choices": [{"delta": {"content": text}}], "timings": timings | {"prompt_n": 2}})

    steps = [("a", 1, 0, 0), ("b", 2, 4, 2), ("c", 3, 4, 2), ("d", 4, 4, 2), ("e", 5, 8, 2)]
    server.script.pieces = [*(timed(*step) for step in steps), *ending()]
    events = talk.chat()
    steps = [event.step for event in events if isinstance(event, IterationDone)]
    assert steps == [protocol.Step(drafted=4, accepted=2), protocol.Step(drafted=4, accepted=0)]
    answer = answer_of(events)
    assert (answer.drafted, answer.accepted) == ([4, 4], [2, 0])
    assert (answer.prompt_tokens, answer.reused_tokens, answer.tokens) == (5, 3, 5)
    assert answer.target_passes == 2


def test_log_probabilities(talk: Talk, server: ScriptedServer) -> None:
    talk.load()
    entry = {"token": "Hi", "logprob": -0.5, "top_logprobs": [{"token": "Hi", "logprob": -0.5},
                                                               {"token": "Ho", "logprob": None}]}  # fmt: skip
    choice = {"delta": {"content": "Hi"}, "logprobs": {"content": [entry]}, "token_ids": [7]}
    server.script.pieces = [event({"choices": [choice]}), *ending()]
    events = talk.chat(log_probs=2)
    committed = next(event.committed for event in events if isinstance(event, TextDelta))
    assert committed is not None
    assert (committed.start, committed.pieces, committed.top_texts) == (0, ["Hi"], [["Hi", "Ho"]])
    answer = answer_of(events)
    assert answer.log_probs == [protocol.TokenLogProbs(log_prob=-0.5, top=[(-1, -0.5), (-1, -1e4)])]
    assert answer.token_ids == [7]
    assert server.asked["top_logprobs"] == 2


def test_what_an_engine_withheld_or_did_not_tell_is_remarked(talk: Talk, server: ScriptedServer) -> None:
    talk.load()
    server.script.pieces = [delta(content="x"), *ending("content_filter")]
    assert answer_of(talk.chat()).remarks == [protocol.Withheld()]
    server.script.pieces = [delta(content="x"), *ending()]
    assert answer_of(talk.chat()).remarks == []
    assert answer_of(talk.chat(log_probs=1)).remarks == [protocol.FewLogProbs(told=0, tokens=1)]


def test_a_stop_string_and_the_most_tokens_end_answers(talk: Talk, server: ScriptedServer) -> None:
    talk.load()
    stopped = event({"choices": [{"delta": {"content": "x"}, "finish_reason": "stop", "stop_reason": "END"}]})
    server.script.pieces = [stopped]
    answer = answer_of(talk.chat(stop=["END"]))
    assert (answer.stop_reason, answer.stop_string) == ("stop_string", "END")
    server.script.pieces = [delta(content="x"), *ending("length", usage=USAGE)]
    assert answer_of(talk.chat(max_new_tokens=2)).stop_reason == "max_new_tokens"
    assert answer_of(talk.chat()).stop_reason == "context_full"


def test_cancel_hangs_up_at_once_and_keeps_the_text(talk: Talk, server: ScriptedServer) -> None:
    talk.load()
    server.script.pieces, server.script.wait = [delta(content="Half")], threading.Event()
    threading.Thread(
        target=lambda: (server.streaming.wait(30), talk.channel.post(protocol.Cancel(id=99))), daemon=True
    ).start()
    answer = answer_of(talk.chat())
    assert (answer.text, answer.stop_reason) == ("Half", "cancelled")
    assert server.gone.wait(10)


def test_a_cancelled_load_fails_as_cancelled(talk: Talk) -> None:
    load, cancel = protocol.Load(id=50, target=MODEL), protocol.Cancel(id=51, request=50)
    for _ in range(20):  # whichever comes first, the load ends
        talk.channel.post(load)
        talk.channel.post(cancel)
        events = talk.request(protocol.Unload(52))
        ended = next(event for event in events if isinstance(event, Loaded | Failed))
        assert isinstance(ended, Loaded) or ended.kind == "cancelled"


def test_counting_tokens(talk: Talk, server: ScriptedServer) -> None:
    question = [Message("user", "Hello?")]
    talk.load()
    server.script.others["/tokenize"] = {"count": 12}
    assert talk.request(protocol.Count(id=70, messages=question))[-1] == protocol.Counted(70, 12)
    server.script.models = [OPENAI]
    talk.load()
    failed = failure(talk.request(protocol.Count(id=71, messages=question))[-1])
    assert failed.kind == "count_unknown"
    assert failed.loaded


@pytest.mark.parametrize(
    ("status", "body", "headers", "kind", "says"),
    [
        (401, b'{"error": {"message": "Invalid key."}}', {}, "key_refused", "refuses the key: Invalid key"),
        (403, b"<html>", {}, "key_refused", "refuses the key"),
        (404, b'{"error": {"message": "The model `x` does not exist."}}', {}, "model_not_found", "no longer"),
        (404, b"{}", {}, "not_an_engine", "no such interface"),
        (429, b"{}", {"Retry-After": "17"}, "engine_busy", "in 17 s"),
        (503, b'{"error": {"message": "Loading model"}}', {}, "engine_busy", "Loading model"),
        (400, b'{"detail": [{"loc": ["top_k"]}]}', {}, "request_refused", "top_k"),
        (500, b'{"error": "\x1b[31m' + b"x" * 100_000, {}, "request_refused", "status 500"),
        (307, b"", {"Location": "http://elsewhere.example/v1"}, "not_an_engine", "elsewhere.example"),
    ],
)
def test_refusals_are_named(
    talk: Talk,
    server: ScriptedServer,
    status: int,
    body: bytes,
    headers: dict[str, str],
    kind: str,
    says: str,
) -> None:
    talk.load()
    server.script.status, server.script.body, server.script.headers = status, body, headers
    failed = failure(talk.chat()[-1])
    assert failed.kind == kind
    assert says in f"{failed.message} {failed.hint}"
    assert failed.loaded
    assert "\x1b" not in failed.message


@pytest.mark.parametrize(
    "pieces",
    [
        [delta(content="Half")],  # it hangs up
        [delta(content="Half"), b"data: {broken\n\n"],
        [delta(content="Half"), b'data: {"choices": 3}\n\n'],
        [delta(content="Half"), b"data: " + b"[" * 100_000 + b"\n\n"],
        [delta(content="Half"), b'data: {"choices": [{"delta": {"content": "\xff"}}]}\n\n'],
        [delta(content="Half"), event({"error": {"message": "out of memory"}})],
        [delta(content="Half"), b'error: {"code": 500, "message": "out of memory"}\n\n'],
    ],
)
def test_the_text_before_a_fault_is_kept_and_the_next_question_connects_anew(
    talk: Talk, server: ScriptedServer, pieces: list[bytes]
) -> None:
    talk.load()
    server.script.pieces = pieces
    events = talk.chat()
    assert text_of(events) == "Half"
    assert failure(events[-1]).kind in ("answer_broken", "request_refused")
    server.script.pieces = [delta(content="Whole"), *ending()]
    assert answer_of(talk.chat()).text == "Whole"


@pytest.mark.parametrize("piece", [b"x" * 65536, b"data: " + b"y" * 65530 + b"\n", b"data: x\r"])
def test_an_endless_event_ends_soon(talk: Talk, server: ScriptedServer, piece: bytes) -> None:
    talk.load()
    server.script.endless = lambda: piece * 8
    began = time.monotonic()
    assert failure(talk.chat()[-1]).kind == "answer_broken"
    assert time.monotonic() - began < 60
    assert server.gone.wait(10)


def test_an_endless_text_ends(talk: Talk, server: ScriptedServer) -> None:
    talk.load()
    piece = delta(content="y" * 1_000_000)
    server.script.endless = lambda: piece
    failed = failure(talk.chat()[-1])
    assert (failed.kind, failed.message) == ("answer_broken", "The answer is endless.")


@pytest.mark.parametrize("headers", [{"Content-Type": "text/html"}, {"Content-Encoding": "gzip"}])
def test_what_is_no_stream_is_refused(talk: Talk, server: ScriptedServer, headers: dict[str, str]) -> None:
    talk.load()
    server.script.content_type = headers.get("Content-Type", server.script.content_type)
    server.script.headers = {name: value for name, value in headers.items() if name != "Content-Type"}
    assert failure(talk.chat()[-1]).kind == "answer_broken"


def test_a_server_that_is_gone(talk: Talk, server: ScriptedServer) -> None:
    talk.load()
    server.close()
    failed = failure(talk.chat()[-1])
    assert failed.kind == "engine_unreachable"
    assert "Nothing listens" in failed.message
    assert failed.loaded


def test_a_model_that_is_not_served(talk: Talk) -> None:
    failed = failure(talk.load(target="other"))
    assert failed.kind == "model_not_found"
    assert MODEL in failed.hint


def test_a_question_without_a_model_and_for_another_one(talk: Talk) -> None:
    assert failure(talk.chat()[-1]).kind == "not_loaded"
    talk.load()
    other = protocol.Chat(id=80, messages=[Message("user", "x")], target="other")
    assert failure(talk.request(other)[-1]).kind == "not_loaded"


def test_a_draft_is_refused(talk: Talk) -> None:
    assert failure(talk.load(draft="tiny")).kind == "bad_option"


def piece_of_call(index: int, **function: str) -> bytes:
    return delta(tool_calls=[{"index": index, "id": f"c{index}", "type": "function", "function": function}])


def test_calls_are_told_as_text_that_readers_of_answers_know(talk: Talk, server: ScriptedServer) -> None:
    loaded = talk.load()
    assert isinstance(loaded, Loaded)
    server.script.pieces = [
        delta(content="I look."),
        piece_of_call(0, name="add", arguments=""),
        piece_of_call(0, arguments='{"a": '),
        piece_of_call(0, arguments="1}"),
        piece_of_call(1, name="date"),
        piece_of_call(2, name="odd", arguments="{"),
        *ending(reason="tool_calls"),
    ]
    events = talk.chat()
    reader = format_of(loaded.chat_template).reader([])
    found = [*reader.add(text_of(events)), *reader.finish()]
    assert [text for kind, text in found if kind == "name"] == ["add", "date", "odd"]
    arguments = "".join(text for kind, text in found if kind == "arguments")
    assert arguments == '{"a": 1}{}{"INVALID_JSON": "{"}'
    assert "".join(text for kind, text in found if kind == "text").strip() == "I look."
    assert answer_of(events).text == text_of(events)


def test_a_call_that_was_cut_off_is_none(talk: Talk, server: ScriptedServer) -> None:
    talk.load()
    server.script.pieces = [piece_of_call(0, name="delete", arguments='{"all": tr')]
    events = talk.chat()
    assert isinstance(events[-1], Failed)
    assert "delete" not in text_of(events)
