"""A program with which this engine takes part in `specexec bench peers --in-ram`.

It reads one JSON object from standard input (`engine.bench.in_ram`), and prints one with the fields of
`InRamAnswer`.
"""

import json
import sys
import time

from engine import protocol
from engine.serving.service import EngineService


def main() -> None:
    order = json.load(sys.stdin)
    engine = EngineService()
    engine.load(
        protocol.Load(id=1, target=order["target"], draft=order["draft"], device="cpu"), _ignore, _never
    )
    load_s = time.time() - order["started"]
    session = engine.session
    assert session is not None

    def ask(question: str, tokens: int) -> protocol.Answer:
        options = protocol.Options(
            drafter=order["drafter"], temperature=0.0, max_new_tokens=tokens, seed=0, stop_loops=False
        )
        chat = protocol.Chat(id=0, messages=[protocol.Message("user", question)], options=options)
        return session.answer(chat, _ignore, _never)

    long = ask(order["long"], 1) if order["long"] else None
    session.forget()
    answer = ask(order["question"], order["tokens"])
    figures = {
        "load_s": load_s,
        "first_token_s": long and long.time_to_first_token_s,
        "prompt_tokens": long and long.prompt_tokens,
        "tokens": answer.tokens,
        "tokens_per_second": answer.tokens_per_second,
        "tokens_per_pass": answer.tokens_per_pass,
        "peak_nbytes": answer.memory.peak,
        "text": answer.text,
        "features": f"this engine: {session.pair.target.model.arithmetic}",
    }
    engine.unload()
    print(json.dumps(figures))


def _ignore(event: protocol.Event) -> None:
    pass


def _never() -> bool:
    return False


if __name__ == "__main__":
    main()
