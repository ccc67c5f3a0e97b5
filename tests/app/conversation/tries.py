"""Asks the embedded model questions as a new chat of the window would, and prints every answer to be read.

Run as a program: python -m tests.app.conversation.tries [--json] [QUESTION …]
Without questions, it asks those that an empty chat suggests. Each is asked once greedily and with ten seeds
at the sampling of new chats. `tries.md` beside this file says what was tried and how the answers were judged.
"""

import argparse
import json
from collections.abc import Iterator

from msgspec import structs

from app.conversation.empty_state import DEMO_QUESTIONS
from app.preferences import NEW_CHATS
from engine.protocol import Answer, Chat, Load, Message, Options
from engine.serving.service import EngineService

SEEDS = range(10)
MOST = 600  # tokens; an answer that is this long repeats itself


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("questions", nargs="*", default=DEMO_QUESTIONS)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    engine = EngineService()
    engine.load(Load(id=0), lambda event: None, lambda: False)
    found: dict[str, dict[str, dict[str, str]]] = {}
    for question in given.questions:
        if not given.json:
            print(f"## {question}\n", flush=True)
        for name, options in samplings():
            answer = ask(engine, question, options)
            ended = {"text": answer.text, "stop_reason": answer.stop_reason}
            found.setdefault(question, {})[name] = ended
            if not given.json:
                print(
                    f"- **{name}** ({answer.tokens} tokens, {answer.stop_reason}): {answer.text}\n",
                    flush=True,
                )
    if given.json:
        print(json.dumps(found))


def samplings() -> Iterator[tuple[str, Options]]:
    """Yield each way to sample with its name: greedily, and as new chats do with each of the seeds."""
    yield "greedy", Options(max_new_tokens=MOST)
    usual = structs.asdict(NEW_CHATS.options)
    for seed in SEEDS:
        yield f"seed {seed}", Options(**{**usual, "seed": seed, "max_new_tokens": MOST})


def ask(engine: EngineService, question: str, options: Options) -> Answer:
    chat = Chat(id=0, messages=[Message("user", question)], options=options)
    return engine.answer(chat, lambda event: None, lambda: False)


if __name__ == "__main__":
    main()
