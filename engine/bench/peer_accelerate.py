"""Plain greedy decoding by transformers with accelerate's disk offload: one answer, as a program of its own.

Takes one JSON object on standard input: `model` (a folder of safetensors), `prompt` (token ids), `tokens`,
`ram_limit` (bytes of weights that stay in RAM; the others are read from the folder at each use). Prints one:
`token_ids`, `tokens`, `tokens_per_second` (null for a single token).
"""

import json
import sys
import time
from tempfile import TemporaryDirectory
from typing import Any

import torch
from torch import Tensor
from transformers import AutoModelForCausalLM
from transformers.generation.streamers import BaseStreamer


class Stopwatch(BaseStreamer):
    """Attributes: `times_s`, when the prompt and then each token came."""

    def __init__(self) -> None:
        self.times_s: list[float] = []

    def put(self, value: Tensor) -> None:
        self.times_s.append(time.perf_counter())

    def end(self) -> None:
        pass


def main() -> None:
    order: dict[str, Any] = json.load(sys.stdin)
    with TemporaryDirectory() as offload_folder:
        model: Any = AutoModelForCausalLM.from_pretrained(
            order["model"],
            dtype=torch.bfloat16,
            device_map="auto",
            max_memory={"cpu": order["ram_limit"]},
            offload_folder=offload_folder,
        )
        prompt = torch.tensor([order["prompt"]])
        stopwatch = Stopwatch()
        row = model.generate(
            prompt,
            attention_mask=torch.ones_like(prompt),
            max_new_tokens=order["tokens"],
            do_sample=False,
            streamer=stopwatch,
        )[0]
    token_ids = row[prompt.shape[1] :].tolist()
    seconds = stopwatch.times_s[-1] - stopwatch.times_s[1]
    rate = (len(token_ids) - 1) / seconds if seconds else None
    print(json.dumps({"token_ids": token_ids, "tokens": len(token_ids), "tokens_per_second": rate}))


if __name__ == "__main__":
    main()
