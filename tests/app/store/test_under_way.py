"""An answer in progress is saved continuously: a killed process loses at most the last second."""

import subprocess
import sys
import time
from pathlib import Path

from app.store import Store
from tests.app.store.made import PAIR, SETTINGS, answer

STREAM = """
import sys, time
from pathlib import Path
from app.store import Store
from tests.app.store.made import PAIR, SETTINGS
store = Store(Path(sys.argv[1]))
question = store.messages.ask(store.chats.create(SETTINGS), "Count")
growing = store.messages.answer(question, SETTINGS, PAIR)
for number in range(100_000):
    growing.add(f"{number} ")
    print(number, flush=True)
    time.sleep(0.01)
"""


def stream(path: Path) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", STREAM, str(path)], stdout=subprocess.PIPE, text=True)


def numbers_until(process: subprocess.Popen[str], seconds: float) -> dict[int, float]:
    """Return the time at which each number was written."""
    assert process.stdout
    said: dict[int, float] = {}
    for line in process.stdout:
        said[int(line)] = time.monotonic()
        if said[int(line)] - said[0] > seconds:
            break
    return said


def test_a_killed_process_loses_at_most_the_last_second(path: Path) -> None:
    with stream(path) as process:
        said = numbers_until(process, 1.7)
        process.kill()
        killed = time.monotonic()
    store = Store(path)
    (chat,) = store.chats.recent()
    text = store.messages.all(chat.id)[1].text
    kept = [int(number) for number in text.split()]
    assert kept == list(range(len(kept)))
    assert max(kept) >= max(number for number, when in said.items() if when < killed - 1)
    assert store.messages.all(chat.id)[1].state == "interrupted"
    assert [hit.excerpt for hit in store.search("0 1 2 3")] != []
    store.close()


def test_an_answer_another_process_is_writing_is_not_interrupted(path: Path) -> None:
    with stream(path) as process:
        numbers_until(process, 0)
        store = Store(path)
        (chat,) = store.chats.recent()
        assert store.messages.all(chat.id)[1].state == "streaming"
        store.close()
        process.kill()


def test_the_last_text_is_saved_even_if_none_follows(path: Path, store: Store) -> None:
    chat = store.chats.create()
    growing = store.messages.answer(store.messages.ask(chat, "q"), SETTINGS, PAIR)
    assert store.messages.all(chat)[1].text == ""
    growing.add("slow")
    added = time.monotonic()
    assert store.messages.all(chat)[1].text == "slow", "whoever writes it has all of it"
    other = Store(path)
    while other.messages.all(chat)[1].text != "slow":
        assert time.monotonic() < added + 1
    assert other.messages.all(chat)[1].state == "streaming"
    assert store.search("slow") == []
    growing.finish(answer("slow"))
    other.close()


def test_figures_and_replay_data_are_stored_with_the_answer(store: Store) -> None:
    chat = store.chats.create(SETTINGS)
    growing = store.messages.answer(store.messages.ask(chat, "q"), SETTINGS, PAIR)
    growing.finish(answer("text", seed=41, stop_reason="max_new_tokens"))
    (report,) = store.messages.all(chat)[1].reports
    assert (report.tokens_per_second, report.tokens_per_pass, report.time_to_first_token_s) == (
        12.5,
        2.0,
        0.25,
    )
    assert (report.tokens, report.stop_reason, report.seed) == (5, "max_new_tokens", 41)
    assert (report.settings, report.pair) == (SETTINGS, PAIR)
    assert (report.budgets, report.drafter) == ([64, 32], "recycling")


def test_a_stopped_answer_is_continued_from_its_end(store: Store) -> None:
    chat = store.chats.create()
    growing = store.messages.answer(store.messages.ask(chat, "count"), SETTINGS, PAIR)
    growing.finish(answer("one two", seed=1, stop_reason="cancelled"))
    growing = store.messages.resume(growing.id, SETTINGS, PAIR)
    assert store.messages.all(chat)[1].state == "streaming"
    growing.add(" three")
    growing.interrupt()
    assert store.messages.all(chat)[1].state == "interrupted"
    store.messages.resume(growing.id, SETTINGS, PAIR).finish(answer(" four", seed=2))
    (_, continued) = store.messages.all(chat)
    assert (continued.text, continued.state) == ("one two three four", "complete")
    assert [report.seed for report in continued.reports] == [1, 2]
    assert [hit.message for hit in store.search("three four")] == [continued.id]
    assert len(store.search("one")) == 1, "indexed once"


def test_an_answer_is_interrupted_when_the_store_closes(path: Path) -> None:
    store = Store(path)
    growing = store.messages.answer(store.messages.ask(store.chats.create(), "q"), SETTINGS, PAIR)
    growing.add("half an ans")
    store.close()
    growing.interrupt()  # a second end changes nothing
    store = Store(path)
    message = store.messages.all(1)[1]
    assert (message.text, message.state) == ("half an ans", "interrupted")
    store.close()


def test_lone_surrogates_do_not_stop_an_answer(store: Store) -> None:
    chat = store.chats.create()
    growing = store.messages.answer(store.messages.ask(chat, "\ud83d?"), SETTINGS, PAIR)
    growing.add("a\udc00")
    growing.finish(answer("a\udc00 word"))
    assert [message.text for message in store.messages.all(chat)] == ["??", "a? word"]
    assert len(store.search("word")) == 1
