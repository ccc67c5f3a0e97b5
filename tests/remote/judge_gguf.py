"""Lets llama.cpp continue a prompt with each of several GGUFs: PYTHON judge_gguf.py COUNT FILE...

Runs in an environment of its own, with `xllamacpp` and without this program. Reads the prompt, a list of
token ids in JSON, from standard input. Prints for each file one line of JSON: its path with the COUNT greedy
tokens and their log-probabilities, or with the reason why it cannot be loaded. Keys and values are float32.
"""

import json
import sys

import xllamacpp


def main() -> None:
    prompt = json.load(sys.stdin)
    count, *files = sys.argv[1:]
    for file in files:
        try:
            found = continued(xllamacpp.Server(params_for(file)), prompt, int(count))
        except RuntimeError as error:
            found = {"error": str(error)}
        print(json.dumps({"file": file, **found}), flush=True)


def params_for(file):  # type: ignore[no-untyped-def]
    params = xllamacpp.CommonParams()
    params.model.path = file
    params.n_ctx = 256
    params.n_parallel = 1
    params.warmup = False
    params.cache_type_k = params.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_F32
    params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    for threads in (params.cpuparams, params.cpuparams_batch):
        threads.n_threads = 1
    return params


def continued(server, prompt, count):  # type: ignore[no-untyped-def]
    answer = server.handle_completions(
        {"prompt": prompt, "n_predict": count, "temperature": 0, "n_probs": 1, "ignore_eos": True}
    )
    tokens = answer["choices"][0]["logprobs"]["content"]
    return {"tokens": [each["id"] for each in tokens], "log_probs": [each["logprob"] for each in tokens]}


if __name__ == "__main__":
    main()
