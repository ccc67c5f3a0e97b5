"""Plain greedy decoding by llama.cpp over a memory-mapped file: one answer, as a program of its own.

Runs in any Python that has llama-cpp-python; imports nothing of this project. Takes one JSON object on
standard input: `model` (a GGUF file), `prompt` (token ids), `tokens`, `threads`. Prints one: `token_ids`,
`tokens`, `tokens_per_second` (null for a single token).
"""

import json
import sys
import time
from itertools import islice
from typing import Any

from llama_cpp import Llama  # type: ignore[import-not-found, unused-ignore]


def main() -> None:
    order: dict[str, Any] = json.load(sys.stdin)
    llama = Llama(
        order["model"],
        n_ctx=len(order["prompt"]) + order["tokens"],
        n_threads=order["threads"],
        n_threads_batch=order["threads"],
        use_mmap=True,
        verbose=False,
    )
    token_ids: list[int] = []
    times_s: list[float] = []
    for token in islice(llama.generate(order["prompt"], temp=0.0), order["tokens"]):
        times_s.append(time.perf_counter())
        token_ids.append(token)
        if token == llama.token_eos():
            break
    seconds = times_s[-1] - times_s[0]
    rate = (len(token_ids) - 1) / seconds if seconds else None
    print(json.dumps({"token_ids": token_ids, "tokens": len(token_ids), "tokens_per_second": rate}))


if __name__ == "__main__":
    main()
