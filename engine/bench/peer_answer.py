"""A program that lets another engine give one greedy answer:

    python peer_answer.py accelerate|llama.cpp

With `accelerate`, transformers answers with accelerate's disk offload. With `llama.cpp`, llama.cpp decodes
over a memory-mapped file. The program imports nothing from this project, so that any Python that has
llama-cpp-python can run it.

It reads one JSON object from standard input: `model` (a folder of safetensors, or a GGUF file), `prompt`
(token ids), `tokens` (maximum number of tokens of the answer), and `ram_limit` (for accelerate: bytes of
weights to keep in RAM; the other weights are read from the disk at each use) or `threads` (for llama.cpp).

It prints one JSON object: `token_ids`, `tokens` (their number), `tokens_per_second` (null for a single
token).
"""

import json
import sys
import time
from itertools import islice
from tempfile import TemporaryDirectory
from typing import Any


def main() -> None:
    order: dict[str, Any] = json.load(sys.stdin)
    answer = {"accelerate": by_accelerate, "llama.cpp": by_llama}[sys.argv[1]]
    token_ids, times_s = answer(order)
    seconds = times_s[-1] - times_s[0]
    rate = (len(token_ids) - 1) / seconds if seconds else None
    print(json.dumps({"token_ids": token_ids, "tokens": len(token_ids), "tokens_per_second": rate}))


def by_accelerate(order: dict[str, Any]) -> tuple[list[int], list[float]]:
    """Answer with accelerate. Return the token ids, and the clock time at which each was generated."""
    import torch
    from transformers import AutoModelForCausalLM
    from transformers.generation.streamers import BaseStreamer

    times_s: list[float] = []

    class Stopwatch(BaseStreamer):
        def put(self, value: torch.Tensor) -> None:
            times_s.append(time.perf_counter())

        def end(self) -> None:
            pass

    with TemporaryDirectory() as offload_folder:
        model: Any = AutoModelForCausalLM.from_pretrained(
            order["model"],
            dtype=torch.bfloat16,
            device_map="auto",
            max_memory={"cpu": order["ram_limit"]},
            offload_folder=offload_folder,
        )
        prompt = torch.tensor([order["prompt"]])
        row = model.generate(
            prompt,
            attention_mask=torch.ones_like(prompt),
            max_new_tokens=order["tokens"],
            do_sample=False,
            streamer=Stopwatch(),
        )[0]
    return row[prompt.shape[1] :].tolist(), times_s[1:]  # the streamer receives the prompt first


def by_llama(order: dict[str, Any]) -> tuple[list[int], list[float]]:
    """Answer with llama.cpp. Return the token ids, and the clock time at which each was generated."""
    from llama_cpp import Llama  # type: ignore[import-not-found, unused-ignore]

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
    return token_ids, times_s


if __name__ == "__main__":
    main()
