"""A program that lets another engine give one greedy answer:

    python peer_answer.py accelerate|llama.cpp|llama.cpp-server
    python peer_answer.py xllamacpp|llama_cpp|transformers

With `accelerate`, transformers answers with accelerate's disk offload. With `llama.cpp`, llama.cpp decodes
over a memory-mapped file, by llama-cpp-python, or by the bindings xllamacpp of its server. The others are for
models that fit into RAM. The program imports nothing from this project, so that any Python that has the other
engine can run it.

It reads one JSON object from standard input. For a model that fits into RAM it is the order of
`engine.bench.in_ram`, and the output has the fields of its `InRamAnswer`. Otherwise it has: `model` (a folder
of safetensors, or a GGUF file), `prompt` (token ids), `tokens` (maximum number of tokens of the answer), and
`ram_limit` (for accelerate: bytes of weights to keep in RAM; the other weights are read from the disk at each
use) or `threads` (for llama.cpp); and the output is one JSON object: `token_ids`, `tokens` (their number),
`tokens_per_second` (null for a single token).
"""

import json
import sys
import time
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

OTHERS = ("xllamacpp", "llama_cpp", "transformers")  # the programs for models that fit into RAM


def main() -> None:
    order: dict[str, Any] = json.load(sys.stdin)
    if sys.argv[1] in OTHERS:
        figures = globals()[sys.argv[1]](order)
        print(json.dumps({**figures, "tokens_per_pass": 1.0, "peak_nbytes": peak_nbytes()}))
        return
    programs = {"accelerate": by_accelerate, "llama.cpp": by_llama, "llama.cpp-server": by_llama_server}
    answer = programs[sys.argv[1]]
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
    from llama_cpp import Llama  # type: ignore[import-not-found, import-untyped, unused-ignore]

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


def by_llama_server(order: dict[str, Any]) -> tuple[list[int], list[float]]:
    """Answer with llama.cpp's server. Return the token ids, and the times of the first and the last one."""
    import xllamacpp as bindings  # type: ignore[import-not-found, import-untyped, unused-ignore]

    settings = bindings.CommonParams()
    settings.model.path = order["model"]
    settings.n_ctx = len(order["prompt"]) + order["tokens"]
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = order["threads"]
    settings.fit_params = False
    settings.no_extra_bufts = True  # weights stay mapped: repacked ones would not fit into the limit
    server = bindings.Server(settings)
    asked = {"prompt": order["prompt"], "max_tokens": order["tokens"], "temperature": 0.0, "logprobs": 1}
    answer = server.handle_completions(asked)
    token_ids = [each["id"] for each in answer["choices"][0]["logprobs"]["content"]]
    return token_ids, [0.0, answer["timings"]["predicted_ms"] / 1000]


# -- models that fit into RAM --------------------------------------------------------------------------------


def peak_nbytes() -> int:
    """Return the peak memory of this process; 0 if it is unknown."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
        return int(status.partition("VmHWM:")[2].split()[0]) << 10
    except OSError:
        return 0


def xllamacpp(order: dict[str, Any]) -> dict[str, Any]:
    """Answer with llama.cpp's server, by its bindings xllamacpp."""
    import xllamacpp as bindings  # type: ignore[import-not-found, import-untyped, unused-ignore]

    settings = bindings.CommonParams()
    settings.model.path = order["model"]
    settings.n_ctx = 4096
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = order["threads"]
    server = bindings.Server(settings)
    load_s = time.time() - order["started"]

    def ask(question: str, tokens: int) -> dict[str, Any]:
        messages = [{"role": "user", "content": question}]
        asked = {"messages": messages, "max_tokens": tokens, "temperature": 0.0, "cache_prompt": False}
        answer: dict[str, Any] = server.handle_chat_completions(asked)
        return answer

    long = ask(order["long"], 1)["timings"] if order["long"] else None
    answer = ask(order["question"], order["tokens"])
    return {
        "load_s": load_s,
        "first_token_s": long and (long["prompt_ms"] + long["predicted_ms"]) / 1000,
        "prompt_tokens": long and long["prompt_n"],
        "tokens": answer["timings"]["predicted_n"],
        "tokens_per_second": answer["timings"]["predicted_per_second"],
        "text": answer["choices"][0]["message"]["content"],
        "features": f"xllamacpp: {bindings.get_system_info()}",
    }


def llama_cpp(order: dict[str, Any]) -> dict[str, Any]:
    """Answer with llama.cpp, by its bindings llama-cpp-python."""
    import llama_cpp as bindings  # type: ignore[import-not-found, import-untyped, unused-ignore]

    threads = {"n_threads": order["threads"], "n_threads_batch": order["threads"]}
    llama = bindings.Llama(order["model"], n_ctx=4096, verbose=False, **threads)
    load_s = time.time() - order["started"]

    def ask(question: str, tokens: int) -> tuple[str, list[float]]:
        times_s, text = [time.perf_counter()], ""
        asked = {
            "messages": [{"role": "user", "content": question}],
            "max_tokens": tokens,
            "temperature": 0.0,
        }
        for part in llama.create_chat_completion(**asked, stream=True):
            if piece := part["choices"][0]["delta"].get("content"):
                times_s.append(time.perf_counter())
                text += piece
        return text, times_s

    long_s = ask(order["long"], 1)[1] if order["long"] else None
    prompt_tokens = llama.n_tokens if order["long"] else None
    text, times_s = ask(order["question"], order["tokens"])
    tokens = len(times_s) - 1
    return {
        "load_s": load_s,
        "first_token_s": long_s and long_s[-1] - long_s[0],
        "prompt_tokens": prompt_tokens,
        "tokens": tokens,
        "tokens_per_second": (tokens - 1) / (times_s[-1] - times_s[1]),
        "text": text,
        "features": f"llama-cpp-python: {bindings.llama_print_system_info().decode()}",
    }


def transformers(order: dict[str, Any]) -> dict[str, Any]:
    """Answer with transformers, in bfloat16."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(order["model"])
    model: Any = AutoModelForCausalLM.from_pretrained(order["model"], dtype=torch.bfloat16)
    load_s = time.time() - order["started"]

    def ask(question: str, tokens: int) -> tuple[Any, float]:
        messages = [{"role": "user", "content": question}]
        asked = tokenizer.apply_chat_template(
            messages, add_generation_prompt=True, return_tensors="pt", return_dict=True
        )
        begun = time.perf_counter()
        row = model.generate(**asked, max_new_tokens=tokens, do_sample=False)[0]
        return row[asked["input_ids"].shape[1] :], time.perf_counter() - begun

    first_s, prompt_tokens = None, None
    if order["long"]:
        messages = [{"role": "user", "content": order["long"]}]
        long = tokenizer.apply_chat_template(messages, add_generation_prompt=True)
        prompt_tokens = len(long["input_ids"])
        _, first_s = ask(order["long"], 1)
    _, one_s = ask(order["question"], 1)
    answer, seconds = ask(order["question"], order["tokens"])
    return {
        "load_s": load_s,
        "first_token_s": first_s,
        "prompt_tokens": prompt_tokens,
        "tokens": len(answer),
        "tokens_per_second": (len(answer) - 1) / (seconds - one_s),
        "text": tokenizer.decode(answer, skip_special_tokens=True),
        "features": f"transformers: torch {torch.__version__}, bfloat16",
    }


if __name__ == "__main__":
    main()
