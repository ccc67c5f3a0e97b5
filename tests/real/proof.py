"""Proof on many prompts: plain decoding and every drafter and budget give the same tokens on the processor.

    python -m tests.real.proof PROMPTS [--target ID] [--draft ID] [--tokens N] [--most N]

PROMPTS: a file of JSON lines with "prompt" or "turns". Each prompt is answered greedily and at temperature
0.8 with top-p 0.9. Prints the number of answers and every difference.
"""

import argparse
import json
import sys
import time
from pathlib import Path

from engine import protocol
from engine.serving.service import EngineService

WAYS = [("none", None), ("auto", None), ("auto", 3), ("auto", 31), ("pld", None), ("merged", 16)]
SAMPLED = {"temperature": 0.8, "top_p": 0.9}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("prompts", type=Path)
    parser.add_argument("--target", default=None)
    parser.add_argument("--draft", default="auto")
    parser.add_argument("--tokens", type=int, default=48)
    parser.add_argument("--most", type=int, default=200)
    parsed = parser.parse_args()
    lines = [json.loads(line) for line in parsed.prompts.read_text("utf-8").splitlines()]
    step = max(1, len(lines) // parsed.most)
    prompts = [(line.get("turns") or [line["prompt"]])[0] for line in lines[::step]][: parsed.most]
    engine = EngineService()
    load = protocol.Load(id=1, target=parsed.target, draft=parsed.draft, context=4096)
    engine.load(load, lambda event: None, lambda: False)
    answers = differences = tokens = 0
    began = time.perf_counter()
    for number, prompt in enumerate(prompts):
        for settings in ({"temperature": 0.0}, SAMPLED):
            texts = []
            for drafter, budget in WAYS:
                options = protocol.Options(
                    drafter=drafter, budget=budget, seed=number, max_new_tokens=parsed.tokens, **settings
                )
                chat = protocol.Chat(
                    id=2, messages=[protocol.Message(role="user", content=prompt)], options=options
                )
                texts.append(engine.answer(chat, lambda event: None, lambda: False))
            answers += len(texts) - 1
            tokens += texts[0].tokens
            for (drafter, budget), answer in zip(WAYS, texts, strict=True):
                if answer.token_ids != texts[0].token_ids:
                    differences += 1
                    print(f"prompt {number}, {settings}: {drafter} with budget {budget} differs", flush=True)
    print(
        f"{len(prompts)} prompts, {answers} answers beside plain decoding ({tokens:,} tokens each way), "
        f"{differences} differ, {time.perf_counter() - began:.0f} s"
    )
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
